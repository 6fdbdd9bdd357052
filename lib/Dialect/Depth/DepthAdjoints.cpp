//===- DepthAdjoints.cpp - Adjoints of routes, fixed reads and merges ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are in the documentation of the ops built here.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Support/Verification.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::depth;

static Value zerosLike(OpBuilder &builder, Location loc, Value value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getZeroAttr(value.getType()));
}

/// `gradients`, at least one of which is there, with zeros in place of the
/// missing ones.
static SmallVector<Value> completeGradients(OpBuilder &builder, Location loc,
                                            ValueRange gradients,
                                            ValueRange values) {
  SmallVector<Value> complete(gradients);
  for (auto [gradient, value] : llvm::zip_equal(complete, values))
    if (!gradient)
      gradient = zerosLike(builder, loc, value);
  return complete;
}

/// Copies `values` to `slots`, which are as many.
static void assign(MutableArrayRef<Value> slots, ValueRange values) {
  llvm::copy(values, slots.begin());
}

LogicalResult RouteOp::buildAdjoint(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    const llvm::BitVector &isNeeded,
                                    MutableArrayRef<Value> operandGradients) {
  // The statistics are for adjoints and reports.
  size_t queries = getQueries().size();
  if (failed(verifyNoGradient(*this, resultGradients, queries)))
    return failure();
  SmallVector<Value> gradients = completeGradients(
      builder, getLoc(), resultGradients.take_front(queries), getMixes());
  auto queryGradients = operandGradients.take_front(queries);
  auto closedGradients = operandGradients.slice(queries, getClosed().size());

  // The part that stands here: the dots, and all that concerns the partial.
  RouteAdjointLocalOp local = RouteAdjointLocalOp::create(
      builder, getLoc(), getQueries(), gradients, getMixes(), getPartial(),
      getWeights(), getLogits(), getRstd());
  if (getPartial())
    operandGradients.back() = local.getPartialGradient();

  // The part that may wait until all routes over these closed sources are
  // there to share it.
  auto deferred = RouteAdjointDeferredOp::create(
      builder, getLoc(), getQueries(), gradients, getClosed(),
      ValueRange(getWeights()), ValueRange(getLogits()),
      ValueRange(local.getDots()), getRstd(), /*newest=*/false);
  assign(closedGradients, deferred.getClosedGradients());
  assign(queryGradients, deferred.getQueryGradients());
  if (!getPartial())
    return success();
  for (auto [index, localGradient] : llvm::enumerate(local.getQueryGradients()))
    if (isNeeded[index])
      queryGradients[index] = net::AddOp::create(
          builder, getLoc(), queryGradients[index], localGradient);
  return success();
}

LogicalResult
FixedReadOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                          const llvm::BitVector &isNeeded,
                          MutableArrayRef<Value> operandGradients) {
  switch (getRule()) {
  case FixedRule::Newest:
    operandGradients.back() = resultGradients[0];
    break;
  case FixedRule::Embedding:
    operandGradients.front() = resultGradients[0];
    break;
  case FixedRule::Uniform: {
    double share = 1.0 / static_cast<double>(operandGradients.size());
    Value shared = net::ScaleOp::create(builder, getLoc(), resultGradients[0],
                                        builder.getF64FloatAttr(share));
    llvm::fill(operandGradients, shared);
    break;
  }
  }
  return success();
}

LogicalResult
RunningSumOp::buildAdjoint(OpBuilder &, ValueRange resultGradients,
                           const llvm::BitVector &,
                           MutableArrayRef<Value> operandGradients) {
  llvm::fill(operandGradients, resultGradients[0]);
  return success();
}

LogicalResult PartialOp::buildAdjoint(OpBuilder &builder,
                                      ValueRange resultGradients,
                                      const llvm::BitVector &isNeeded,
                                      MutableArrayRef<Value> operandGradients) {
  size_t queries = getQueries().size();
  // Mixes and log-sum-exp; logits and rstd are there for this adjoint alone.
  if (failed(verifyNoGradient(*this, resultGradients, queries + 1)))
    return failure();
  SmallVector<Value> values(getMixes());
  values.push_back(getLse());
  SmallVector<Value> gradients = completeGradients(
      builder, getLoc(), resultGradients.take_front(queries + 1), values);
  auto adjoint = PartialAdjointOp::create(
      builder, getLoc(), getQueries(),
      ValueRange(gradients).take_front(queries), getMixes(), getClosed(),
      gradients.back(), getLse(), getLogits(), getRstd());
  assign(operandGradients.take_front(queries), adjoint.getQueryGradients());
  assign(operandGradients.drop_front(queries), adjoint.getClosedGradients());
  return success();
}

LogicalResult MergeOp::buildAdjoint(OpBuilder &builder,
                                    ValueRange resultGradients,
                                    const llvm::BitVector &isNeeded,
                                    MutableArrayRef<Value> operandGradients) {
  size_t queries = getQueries().size();
  if (failed(verifyNoGradient(*this, resultGradients, queries)))
    return failure();
  SmallVector<Value> gradients = completeGradients(
      builder, getLoc(), resultGradients.take_front(queries), getMixes());
  auto adjoint = MergeAdjointOp::create(
      builder, getLoc(), getQueries(), gradients, getClosedMixes(),
      getPartial(), getWeights(), getLogits(), getRstd(), getFirstQuery(),
      getLse().getType().getDimSize(0));
  assign(operandGradients.take_front(queries), adjoint.getQueryGradients());
  assign(operandGradients.slice(queries, queries),
         adjoint.getClosedMixGradients());
  operandGradients[2 * queries] = adjoint.getPartialGradient();
  operandGradients[2 * queries + 1] = adjoint.getLseGradient();
  return success();
}
