//===- ModelForm.cpp - Whether a module is a model ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the verifiers of single ops cannot know: a module that a user wrote may
// be valid MLIR and still be nothing that can be trained.
//
//===----------------------------------------------------------------------===//

#include "ModelForm.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "isobath/Frontend/ModelSchema.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace isobath;

static constexpr int64_t maxElements = int64_t(1) << 40;

/// The number of elements of a static tensor, saturated; 1 for other types.
static int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 1;
  __int128 elements = 1;
  for (int64_t size : tensor.getShape()) {
    elements *= size;
    if (elements > maxElements)
      return maxElements + 1;
  }
  return static_cast<int64_t>(elements);
}

/// The only function of a module that has nothing else in it.
static FailureOr<func::FuncOp> findModel(ModuleOp module) {
  func::FuncOp model;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (model || !function || function.getSymName() != "model")
      return op.emitError() << "expected '@model' as the only function of the "
                               "module, got more or others";
    model = function;
  }
  if (!model)
    return module.emitError() << "expected a function '@model', got none";
  if (model.isExternal() || !model.getBody().hasOneBlock())
    return model.emitOpError() << "expected a body of one block";
  return model;
}

static bool isActivation(Type type, ArrayRef<int64_t> leading) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() == 3 &&
         isa<FloatType>(tensor.getElementType()) &&
         tensor.getShape().take_front(2) == leading;
}

/// Tokens, parameters, logits.
static LogicalResult verifySignature(func::FuncOp model) {
  auto fail = [&] {
    return model.emitOpError() << "expected the type (tensor<BxTxi32>, "
                                  "parameters…) -> tensor<BxTxV…>, got "
                               << model.getFunctionType();
  };
  if (model.getNumArguments() == 0 || model.getNumResults() != 1)
    return fail();
  auto tokens = dyn_cast<RankedTensorType>(model.getArgumentTypes().front());
  if (!tokens || tokens.getRank() != 2 || !tokens.hasStaticShape() ||
      !tokens.getElementType().isInteger(32) ||
      !isActivation(model.getResultTypes().front(), tokens.getShape()))
    return fail();

  FailureOr<net::ParameterLayout> layout = net::ParameterLayout::get(model);
  if (failed(layout))
    return failure();
  if (layout->getSlots().size() + 1 != model.getNumArguments())
    return model.emitOpError()
           << "expected '" << net::parameterAttrName
           << "' on every argument but the tokens, got it on "
           << layout->getSlots().size() << " of "
           << model.getNumArguments() - 1;
  if (layout->getSlots().empty())
    return model.emitOpError() << "expected at least one parameter, got none";
  Type elementType = layout->getElementType();
  if (!elementType.isF32() && !elementType.isF64())
    return model.emitOpError()
           << "expected parameters of f32 or f64, got " << elementType;
  return success();
}

/// Everything in the body can be differentiated and rebuilt, and every id of
/// the vocabulary has an embedding.
static LogicalResult verifyBody(func::FuncOp model) {
  auto logits = cast<RankedTensorType>(model.getResultTypes().front());
  Block &body = model.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (!isa<net::NetDialect, depth::DepthDialect>(op.getDialect()) ||
        !isa<InferTypeOpInterface>(op))
      return op.emitOpError() << "expected an op of a model";
    auto embedding = dyn_cast<net::EmbeddingOp>(op);
    if (!embedding)
      continue;
    int64_t rows =
        cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
    if (rows != logits.getDimSize(2))
      return op.emitOpError()
             << "expected 'table' with a row for each of the "
             << logits.getDimSize(2) << " ids of the logits, got " << rows;
  }
  if (!isa<func::ReturnOp>(body.getTerminator()))
    return body.getTerminator()->emitOpError() << "expected 'func.return'";
  return success();
}

LogicalResult isobath::verifySizes(ModuleOp module) {
  auto verify = [](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor)
      for (int64_t size : tensor.getShape())
        if (size < 1 || size > maxDimension)
          return op->emitOpError() << "expected sizes from 1 to "
                                   << maxDimension << ", got " << type;
    if (countElements(type) > maxElements)
      return op->emitOpError()
             << "expected at most 2^40 elements in a tensor, got " << type;
    return success();
  };
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (failed(verify(op, type)))
        return failure();
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (Type type : function.getArgumentTypes())
        if (failed(verify(op, type)))
          return failure();
    return success();
  });
  return failure(result.wasInterrupted());
}

LogicalResult isobath::verifyModelForm(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model) || failed(verifySignature(*model)) ||
      failed(verifyBody(*model)))
    return failure();
  return verifySizes(module);
}
