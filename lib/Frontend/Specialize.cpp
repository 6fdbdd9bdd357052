//===- Specialize.cpp - Rebuild @model for another batch or element type --===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It relies on two properties of models: their ops infer the types of their
// results, and a batch is the first axis of the tokens and of nothing else
// among the arguments.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Frontend/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace isobath {
#define GEN_PASS_DEF_SPECIALIZE
#include "isobath/Frontend/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {
struct Specialize : isobath::impl::SpecializeBase<Specialize> {
  using SpecializeBase::SpecializeBase;

  void runOnOperation() override;

private:
  Type specialize(Type type, bool isTokens);
  LogicalResult checkOptions(func::FuncOp model);
};
} // namespace

/// The type that an argument has afterwards.
Type Specialize::specialize(Type type, bool isTokens) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  if (isTokens && batch != 0) {
    SmallVector<int64_t> shape(tensor.getShape());
    shape.front() = batch;
    return tensor.clone(shape);
  }
  if (!isa<FloatType>(tensor.getElementType()) || elementType.empty())
    return type;
  return elementType.getValue() == "f64"
             ? tensor.clone(Float64Type::get(&getContext()))
             : tensor.clone(Float32Type::get(&getContext()));
}

LogicalResult Specialize::checkOptions(func::FuncOp model) {
  if (batch < 0)
    return model.emitOpError()
           << "expected a batch of at least 1, got " << batch;
  if (!elementType.empty() && elementType != "f32" && elementType != "f64")
    return model.emitOpError()
           << "expected the element type f32 or f64, got " << elementType;
  Type tokens =
      model.getNumArguments() > 0 ? model.getArgumentTypes().front() : Type();
  auto tensor = dyn_cast_or_null<RankedTensorType>(tokens);
  if (!tensor || tensor.getRank() != 2 ||
      !tensor.getElementType().isInteger(32))
    return model.emitOpError()
           << "expected tokens of type tensor<BxTxi32> as first argument, got "
           << model.getFunctionType();
  return success();
}

/// Gives the results of `op` the types that follow from its operands.
static LogicalResult inferResultTypes(Operation &op) {
  auto inferring = dyn_cast<InferTypeOpInterface>(op);
  if (!inferring)
    return op.emitOpError()
           << "expected an op whose result types follow from its operands";
  SmallVector<Type> types;
  if (failed(inferring.inferReturnTypes(
          op.getContext(), op.getLoc(), op.getOperands(),
          op.getDiscardableAttrDictionary(), op.getPropertiesStorage(),
          op.getRegions(), types)))
    return op.emitOpError() << "found no result types for its operands";
  for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
    result.setType(type);
  return success();
}

void Specialize::runOnOperation() {
  auto model = getOperation().lookupSymbol<func::FuncOp>("model");
  if (!model || model.isExternal() || !model.getBody().hasOneBlock()) {
    getOperation().emitError()
        << "expected a function '@model' of straight-line code";
    return signalPassFailure();
  }
  if (failed(checkOptions(model)))
    return signalPassFailure();
  Block &body = model.getBody().front();
  for (BlockArgument argument : body.getArguments())
    argument.setType(
        specialize(argument.getType(), argument.getArgNumber() == 0));
  for (Operation &op : body.without_terminator())
    if (failed(inferResultTypes(op)))
      return signalPassFailure();
  model.setFunctionType(
      FunctionType::get(&getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
}
