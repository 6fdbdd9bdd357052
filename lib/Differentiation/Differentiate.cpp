//===- Differentiate.cpp - The derivative of a function, as a function --===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthDialect.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Differentiation/Gradients.h"
#include "isobath/Differentiation/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace isobath {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "isobath/Differentiation/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {
struct Differentiate : isobath::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override;
};
} // namespace

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// The arguments to differentiate by: parameters, else all floats.
static SmallVector<unsigned> findDifferentiated(func::FuncOp function) {
  SmallVector<unsigned> parameters, floats;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    if (function.getArgAttr(i, net::parameterAttrName))
      parameters.push_back(i);
    if (isFloatTensor(function.getArgumentTypes()[i]))
      floats.push_back(i);
  }
  return parameters.empty() ? floats : parameters;
}

void Differentiate::runOnOperation() {
  ModuleOp module = getOperation();
  auto primal = module.lookupSymbol<func::FuncOp>(function);
  if (!primal || primal.isExternal()) {
    module.emitError() << "expected a function '@" << function
                       << "' with a body to differentiate";
    return signalPassFailure();
  }
  if (!primal.getBody().hasOneBlock()) {
    primal.emitOpError() << "expected straight-line code, got "
                         << primal.getBody().getBlocks().size() << " blocks";
    return signalPassFailure();
  }
  if (module.lookupSymbol(result)) {
    module.emitError() << "expected '@" << result
                       << "' to be free for the derivative";
    return signalPassFailure();
  }

  func::FuncOp derivative = primal.clone();
  derivative.setName(result);
  module.insert(std::next(primal->getIterator()), derivative);
  Block &block = derivative.getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  Location loc = terminator->getLoc();
  terminator->erase();

  SmallVector<Value> targets = llvm::map_to_vector(
      findDifferentiated(derivative),
      [&](unsigned index) -> Value { return block.getArgument(index); });
  SmallVector<Value> floatResults, resultGradients;
  for (Value value : results)
    if (isFloatTensor(value.getType())) {
      floatResults.push_back(value);
      resultGradients.push_back(block.addArgument(value.getType(), loc));
    }

  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  FailureOr<SmallVector<Value>> gradients =
      buildGradients(builder, block, floatResults, resultGradients, targets);
  if (failed(gradients))
    return signalPassFailure();
  llvm::append_range(results, *gradients);
  func::ReturnOp::create(builder, loc, results);

  if (ArrayAttr attributes = derivative.getArgAttrsAttr()) {
    SmallVector<Attribute> extended(attributes.getValue());
    extended.resize(block.getNumArguments(), builder.getDictionaryAttr({}));
    derivative.setArgAttrsAttr(builder.getArrayAttr(extended));
  }
  derivative.removeResAttrsAttr();
  derivative.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), ValueRange(results).getTypes()));
}
