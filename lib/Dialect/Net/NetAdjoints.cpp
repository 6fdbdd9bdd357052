//===- NetAdjoints.cpp - Adjoints of the net dialect's operations -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op, in the order of the op definitions, whose documentation
// states the formulas. A weight's gradient is built only where it is needed.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Support/Verification.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::net;

LogicalResult
EmbeddingOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                          const llvm::BitVector &isNeeded,
                          MutableArrayRef<Value> operandGradients) {
  if (!isNeeded[0])
    return success();
  int64_t rows = cast<RankedTensorType>(getTable().getType()).getDimSize(0);
  operandGradients[0] = EmbeddingAdjointOp::create(
      builder, getLoc(), resultGradients[0], getIds(), rows);
  return success();
}

LogicalResult RMSNormOp::buildAdjoint(OpBuilder &builder,
                                      ValueRange resultGradients,
                                      const llvm::BitVector &isNeeded,
                                      MutableArrayRef<Value> operandGradients) {
  auto adjoint =
      RMSNormAdjointOp::create(builder, getLoc(), getInput(), getWeight(),
                               resultGradients[0], getEpsilonAttr());
  operandGradients[0] = adjoint.getInputGradient();
  operandGradients[1] = adjoint.getWeightGradient();
  return success();
}

LogicalResult LinearOp::buildAdjoint(OpBuilder &builder,
                                     ValueRange resultGradients,
                                     const llvm::BitVector &isNeeded,
                                     MutableArrayRef<Value> operandGradients) {
  if (isNeeded[0])
    operandGradients[0] = LinearInputAdjointOp::create(
        builder, getLoc(), resultGradients[0], getWeight());
  if (isNeeded[1])
    operandGradients[1] = LinearWeightAdjointOp::create(
        builder, getLoc(), resultGradients[0], getInput(), /*sum=*/Value());
  return success();
}

LogicalResult RotaryOp::buildAdjoint(OpBuilder &builder,
                                     ValueRange resultGradients,
                                     const llvm::BitVector &isNeeded,
                                     MutableArrayRef<Value> operandGradients) {
  // A rotation's adjoint is its inverse.
  operandGradients[0] = RotaryOp::create(
      builder, getLoc(), resultGradients[0], getHeadsAttr(), getBaseAttr(),
      getInverse() ? UnitAttr() : builder.getUnitAttr());
  return success();
}

LogicalResult
AttentionOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                          const llvm::BitVector &isNeeded,
                          MutableArrayRef<Value> operandGradients) {
  // The log-sum-exp is there for the adjoint alone.
  if (failed(verifyNoGradient(*this, resultGradients, 1)))
    return failure();
  auto adjoint = AttentionAdjointOp::create(
      builder, getLoc(), getQuery(), getKey(), getValue(), getOutput(),
      getLse(), resultGradients[0], getHeadsAttr(), getKvHeadsAttr());
  operandGradients[0] = adjoint.getQueryGradient();
  operandGradients[1] = adjoint.getKeyGradient();
  operandGradients[2] = adjoint.getValueGradient();
  return success();
}

LogicalResult
CrossEntropyOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                             const llvm::BitVector &isNeeded,
                             MutableArrayRef<Value> operandGradients) {
  if (failed(verifyNoGradient(*this, resultGradients, 1)))
    return failure();
  operandGradients[0] =
      CrossEntropyAdjointOp::create(builder, getLoc(), getLogits(),
                                    getTargets(), getLse(), resultGradients[0]);
  return success();
}

LogicalResult AddOp::buildAdjoint(OpBuilder &builder,
                                  ValueRange resultGradients,
                                  const llvm::BitVector &isNeeded,
                                  MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = resultGradients[0];
  operandGradients[1] = resultGradients[0];
  return success();
}

LogicalResult
MultiplyOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                         const llvm::BitVector &isNeeded,
                         MutableArrayRef<Value> operandGradients) {
  if (isNeeded[0])
    operandGradients[0] =
        MultiplyOp::create(builder, getLoc(), resultGradients[0], getRight());
  if (isNeeded[1])
    operandGradients[1] =
        MultiplyOp::create(builder, getLoc(), resultGradients[0], getLeft());
  return success();
}

LogicalResult ScaleOp::buildAdjoint(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    const llvm::BitVector &isNeeded,
                                    MutableArrayRef<Value> operandGradients) {
  operandGradients[0] =
      ScaleOp::create(builder, getLoc(), resultGradients[0], getFactorAttr());
  return success();
}

LogicalResult
AddVectorOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                          const llvm::BitVector &isNeeded,
                          MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = resultGradients[0];
  if (isNeeded[1])
    operandGradients[1] =
        SumTokensOp::create(builder, getLoc(), resultGradients[0]);
  return success();
}

LogicalResult SwiGLUOp::buildAdjoint(OpBuilder &builder,
                                     ValueRange resultGradients,
                                     const llvm::BitVector &isNeeded,
                                     MutableArrayRef<Value> operandGradients) {
  auto adjoint = SwiGLUAdjointOp::create(builder, getLoc(), getGate(), getUp(),
                                         resultGradients[0]);
  operandGradients[0] = adjoint.getGateGradient();
  operandGradients[1] = adjoint.getUpGradient();
  return success();
}
