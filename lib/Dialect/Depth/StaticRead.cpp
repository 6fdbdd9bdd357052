//===- StaticRead.cpp - Reads that no token decides, and their adjoint ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, constraints, canonical form and derivative. The numbers (C1 …) are
// those of the ops' documentation.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::depth;

//===----------------------------------------------------------------------===//
// Types and constraints
//===----------------------------------------------------------------------===//

/// Fails unless there is something to read with and something to read (C1).
static LogicalResult checkCounts(std::optional<Location> location,
                                 ValueRange mixtures, ValueRange closed) {
  if (!mixtures.empty() && !closed.empty())
    return success();
  return emitOptionalError(
      location, "expected at least one mixture and one closed source");
}

LogicalResult StaticReadOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (failed(checkCounts(location, adaptor.getMixtures(), adaptor.getClosed())))
    return failure();
  Value first = adaptor.getClosed().front();
  auto shape = ActivationShape::infer(location, "a closed source", first);
  if (failed(shape))
    return failure();
  int64_t mixtures = adaptor.getMixtures().size();
  int64_t sources = adaptor.getClosed().size() + (adaptor.getPartial() ? 1 : 0);
  types.append(mixtures, first.getType());
  types.push_back(distributionType(mixtures, *shape, /*heads=*/1, sources));
  return success();
}

LogicalResult StaticReadAdjointOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(checkCounts(location, adaptor.getMixtures(), adaptor.getClosed())))
    return failure();
  llvm::append_range(types, adaptor.getClosed().getTypes());
  if (Value partial = adaptor.getPartial())
    types.push_back(partial.getType());
  llvm::append_range(types, adaptor.getMixtures().getTypes());
  return success();
}

/// The constraints that reads and their adjoints share.
static LogicalResult verifyOperands(Operation *op, ValueRange mixtures,
                                    ValueRange closed, Value partial) {
  if (failed(verifySome(op, "mixture", mixtures)) ||
      failed(verifySome(op, "closed source", closed))) // C1
    return failure();
  Type type = closed.front().getType();
  if (failed(verifyAllOfType(op, "closed source", closed.getTypes(), type)))
    return failure();                       // C2
  if (partial && partial.getType() != type) // C2
    return op->emitOpError() << "expected the partial of type " << type
                             << ", got " << partial.getType();
  int64_t sources = closed.size() + (partial ? 1 : 0);
  return verifyAllOfType(
      op, "mixture", mixtures.getTypes(),
      RankedTensorType::get({sources},
                            ActivationShape(closed.front()).arithmetic)); // C3
}

LogicalResult StaticReadOp::verify() {
  if (failed(verifyOperands(*this, getMixtures(), getClosed(), getPartial())))
    return failure();
  if (getGroups() && getGroups()->size() != getMixtures().size()) // C4
    return emitOpError() << "expected one of the 'groups' for each of the "
                         << getMixtures().size() << " mixtures, got "
                         << getGroups()->size();
  return success();
}

LogicalResult StaticReadAdjointOp::verify() {
  if (failed(verifyOperands(*this, getMixtures(), getClosed(), getPartial())) ||
      failed(verifyCount(*this, "gradients", getGradients(),
                         getMixtures().size()))) // C1
    return failure();
  return verifyAllOfType(*this, "gradient", getGradients().getTypes(), // C2
                         getClosed().front().getType());
}

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

namespace {
/// A read of one source is that source, whatever the mixture.
struct StaticReadOfOneSource : OpRewritePattern<StaticReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StaticReadOp read,
                                PatternRewriter &rewriter) const override {
    if (read.getSourceCount() != 1)
      return rewriter.notifyMatchFailure(read, "expected one source");
    if (!read.getWeights().use_empty())
      return rewriter.notifyMatchFailure(read, "its weights are in use");
    for (Value mix : read.getMixes())
      rewriter.replaceAllUsesWith(mix, read.getClosed().front());
    rewriter.eraseOp(read);
    return success();
  }
};
} // namespace

void StaticReadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<StaticReadOfOneSource>(context);
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

LogicalResult
StaticReadOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                           const llvm::BitVector &isNeeded,
                           MutableArrayRef<Value> operandGradients) {
  // The weights are for reports.
  size_t mixtures = getMixtures().size();
  if (failed(verifyNoGradient(*this, resultGradients, mixtures)))
    return failure();
  SmallVector<Value> gradients(resultGradients.take_front(mixtures));
  for (Value &gradient : gradients)
    if (!gradient)
      gradient = arith::ConstantOp::create(
          builder, getLoc(), builder.getZeroAttr(getMixes().front().getType()));
  auto adjoint = StaticReadAdjointOp::create(
      builder, getLoc(), getMixtures(), gradients, getClosed(), getPartial());
  llvm::copy(adjoint.getMixtureGradients(), operandGradients.begin());
  llvm::copy(adjoint.getSourceGradients(),
             operandGradients.drop_front(mixtures).begin());
  return success();
}
