//===- ElementwiseOps.cpp - Types of elementwise operations and AdamW -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What NetOps.cpp has for operations on tokens, for those that know none.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Support/Verification.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::net;

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

#define ISOBATH_INFER_TYPE_OF(OP, OPERAND)                                     \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>,   \
                                     Adaptor adaptor,                          \
                                     SmallVectorImpl<Type> &types) {           \
    types.push_back(adaptor.OPERAND().getType());                              \
    return success();                                                          \
  }
ISOBATH_INFER_TYPE_OF(AddOp, getLeft)
ISOBATH_INFER_TYPE_OF(MultiplyOp, getLeft)
ISOBATH_INFER_TYPE_OF(ScaleOp, getInput)
ISOBATH_INFER_TYPE_OF(AddVectorOp, getInput)
ISOBATH_INFER_TYPE_OF(SwiGLUOp, getGate)
#undef ISOBATH_INFER_TYPE_OF

LogicalResult AddOp::verify() {
  return verifySameType(*this, "'left'", getLeft().getType(), // C1
                        "'right'", getRight().getType());
}

LogicalResult MultiplyOp::verify() {
  return verifySameType(*this, "'left'", getLeft().getType(), // C1
                        "'right'", getRight().getType());
}

LogicalResult ScaleOp::verify() {
  if (getFactor().isFinite()) // C1
    return success();
  return emitOpError() << "expected 'factor' to be finite, got "
                       << getFactorAttr();
}

LogicalResult AddVectorOp::verify() {
  if (channels(getInput()) == channels(getVector())) // C1
    return success();
  return emitOpError() << "expected 'vector' with the " << channels(getInput())
                       << " channels of 'input', got " << channels(getVector());
}

LogicalResult SumTokensOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  types.push_back(
      RankedTensorType::get({channels(adaptor.getInput())},
                            getArithmeticType(input.getElementType())));
  return success();
}

LogicalResult CastOp::verify() {
  if (getInput().getType().getShape() == getOutput().getType().getShape()) // C1
    return success();
  return emitOpError() << "expected a result with the shape of 'input', got "
                       << getInput().getType() << " and "
                       << getOutput().getType();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? getInput() : Value();
}

LogicalResult BroadcastOp::verify() {
  return verifySameElementType(*this, "'value'", getValue(), // C1
                               "the result", getOutput());
}

LogicalResult SwiGLUOp::verify() {
  return verifySameType(*this, "'gate'", getGate().getType(), // C1
                        "'up'", getUp().getType());
}

LogicalResult SwiGLUAdjointOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getGate().getType());
  types.push_back(adaptor.getUp().getType());
  return success();
}

LogicalResult SwiGLUAdjointOp::verify() {
  if (failed(verifySameType(*this, "'gate'", getGate().getType(), // C1
                            "'up'", getUp().getType())))
    return failure();
  return verifySameType(*this, "'gate'", getGate().getType(), "'gradient'",
                        getGradient().getType());
}

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

LogicalResult AdamWOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getParameters().getType());
  types.push_back(adaptor.getFirstMoment().getType());
  types.push_back(adaptor.getSecondMoment().getType());
  return success();
}

LogicalResult AdamWOp::verify() {
  Type type = getParameters().getType();
  if (failed(verifyAllOfType(*this, "operand before 'scalars'", // C1
                             (*this)->getOperands().drop_back().getTypes(),
                             type)))
    return failure();
  if (channels(getScalars()) != 4) // C2
    return emitOpError() << "expected 4 'scalars', got "
                         << channels(getScalars());
  for (const auto &[name, beta] :
       {std::pair("'beta1'", getBeta1()), std::pair("'beta2'", getBeta2())}) {
    double value = beta.convertToDouble();
    if (!(value >= 0.0 && value < 1.0)) // C3
      return emitOpError() << "expected " << name
                           << " to be at least 0 and below 1, got "
                           << std::to_string(value);
  }
  if (failed(verifyPositive(*this, "'epsilon'", getEpsilon()))) // C3
    return failure();
  if (!getWeightDecay().isFinite() ||
      getWeightDecay().convertToDouble() < 0.0) // C3
    return emitOpError()
           << "expected 'weight_decay' to be finite and not negative, got "
           << getWeightDecayAttr();
  int64_t decayElements = getDecayElements();
  if (decayElements < 0 || decayElements > channels(getParameters())) // C4
    return emitOpError() << "expected 'decay_elements' between 0 and "
                         << channels(getParameters()) << ", got "
                         << decayElements;
  return success();
}
