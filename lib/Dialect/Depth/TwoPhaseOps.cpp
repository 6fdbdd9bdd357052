//===- TwoPhaseOps.cpp - Types and constraints of merges and their adjoints
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See DepthOps.cpp for the conventions.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "isobath/Dialect/Depth/DepthOps.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::depth;

//===----------------------------------------------------------------------===//
// Adjoint of partial
//===----------------------------------------------------------------------===//

LogicalResult PartialAdjointOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getClosed().getTypes());
  llvm::append_range(types, adaptor.getQueries().getTypes());
  return success();
}

LogicalResult PartialAdjointOp::verify() {
  if (failed(verifySome(*this, "closed source", getClosed())) || // C1
      failed(verifySome(*this, "query", getQueries())))
    return failure();
  Type type = getClosed().front().getType();
  ActivationShape shape(getClosed().front());
  int64_t queries = getQueries().size();
  if (failed(verifyCount(*this, "gradients", getGradients(), queries)) ||
      failed(verifyCount(*this, "mixes", getMixes(), queries)) ||
      failed(verifyAllOfType(*this, "closed source", getClosed().getTypes(),
                             type)) ||
      failed(verifyAllOfType(*this, "gradient", getGradients().getTypes(),
                             type)) ||
      failed(verifyAllOfType(*this, "mix", getMixes().getTypes(), type)) ||
      failed(verifyAllOfType(*this, "query", getQueries().getTypes(),
                             queryType(shape)))) // C2
    return failure();
  int64_t heads = headsOf(getLse()), sources = getClosed().size();
  if (failed(verifyDivides(*this, "the heads of 'lse'", heads,
                           "channels of a source", shape.width)))
    return failure();
  auto scalars = headScalarsType(queries, shape, heads); // C3
  if (failed(verifyTensor(*this, "'lse_gradient'", getLseGradient().getType(),
                          scalars.getShape(), shape.arithmetic)) ||
      failed(verifyTensor(*this, "'lse'", getLse().getType(),
                          scalars.getShape(), shape.arithmetic)) ||
      failed(verifyTensor(
          *this, "'logits'", getLogits().getType(),
          distributionType(queries, shape, heads, sources).getShape(),
          shape.arithmetic)))
    return failure();
  return verifyTensor(*this, "'rstd'", getRstd().getType(),
                      sourceScalarsType(shape, sources).getShape(),
                      shape.arithmetic);
}

//===----------------------------------------------------------------------===//
// Merge
//===----------------------------------------------------------------------===//

LogicalResult MergeOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto shape =
      ActivationShape::infer(location, "'partial'", adaptor.getPartial());
  if (failed(shape) ||
      failed(inferTensor(location, "'lse'", adaptor.getLse(), 4)))
    return failure();
  int64_t queries = adaptor.getQueries().size();
  types.append(queries, adaptor.getPartial().getType());
  types.append(2,
               distributionType(queries, *shape, headsOf(adaptor.getLse()), 1));
  types.push_back(sourceScalarsType(*shape, 1));
  return success();
}

/// What a merge and its adjoint ask of queries and closed mixes.
static LogicalResult verifyMergedQueries(Operation *op, ValueRange queries,
                                         ValueRange mixes, Value partial) {
  if (failed(verifySome(op, "query", queries)) || // C1
      failed(verifyCount(op, "closed mixes", mixes, queries.size())) ||
      failed(verifyAllOfType(op, "closed mix", mixes.getTypes(),
                             partial.getType())))
    return failure();
  return verifyAllOfType(op, "query", queries.getTypes(),
                         queryType(ActivationShape(partial))); // C2
}

LogicalResult MergeOp::verify() {
  if (failed(verifyMergedQueries(*this, getQueries(), getClosedMixes(),
                                 getPartial())))
    return failure();
  ActivationShape shape(getPartial());
  int64_t first = getFirstQuery(), available = getLse().getType().getDimSize(0);
  int64_t queries = getQueries().size();
  if (first < 0 || first > available - queries) // C3
    return emitOpError() << "expected 'first_query' such that " << queries
                         << " of the " << available
                         << " queries of 'lse' follow, got " << first;
  int64_t heads = headsOf(getLse());
  if (failed(verifyDivides(*this, "the heads of 'lse'", heads, // C3
                           "channels of the partial", shape.width)) ||
      failed(verifyTensor(*this, "'lse'", getLse().getType(),
                          headScalarsType(available, shape, heads).getShape(),
                          shape.arithmetic)))
    return failure();
  return verifyPositive(*this, "'epsilon'", getEpsilon()); // C4
}

LogicalResult MergeAdjointOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  int64_t lseQueries = adaptor.getLseQueries();
  if (lseQueries <= 0) // C4
    return emitOptionalError(
        location, "expected 'lse_queries' to be positive, got ", lseQueries);
  auto shape =
      ActivationShape::infer(location, "'partial'", adaptor.getPartial());
  if (failed(shape) ||
      failed(inferTensor(location, "'weights'", adaptor.getWeights(), 5)))
    return failure();
  types.push_back(adaptor.getPartial().getType());
  types.push_back(
      headScalarsType(lseQueries, *shape, headsOf(adaptor.getWeights())));
  llvm::append_range(types, adaptor.getClosedMixes().getTypes());
  llvm::append_range(types, adaptor.getQueries().getTypes());
  return success();
}

LogicalResult MergeAdjointOp::verify() {
  if (failed(verifyMergedQueries(*this, getQueries(), getClosedMixes(),
                                 getPartial())) ||
      failed(verifyCount(*this, "gradients", getGradients(),
                         getQueries().size())) ||
      failed(verifyAllOfType(*this, "gradient", getGradients().getTypes(),
                             getPartial().getType())))
    return failure();
  ActivationShape shape(getPartial());
  int64_t queries = getQueries().size(), heads = headsOf(getWeights());
  if (failed(verifyDivides(*this, "the heads of 'weights'", heads, // C3
                           "channels of the partial", shape.width)))
    return failure();
  auto saved = distributionType(queries, shape, heads, 1);
  if (failed(verifyTensor(*this, "'weights'", getWeights().getType(),
                          saved.getShape(), shape.arithmetic)) ||
      failed(verifyTensor(*this, "'logits'", getLogits().getType(),
                          saved.getShape(), shape.arithmetic)) ||
      failed(verifyTensor(*this, "'rstd'", getRstd().getType(),
                          sourceScalarsType(shape, 1).getShape(),
                          shape.arithmetic)))
    return failure();
  int64_t first = getFirstQuery(), available = getLseQueries();
  if (first < 0 || available < queries || first > available - queries) // C4
    return emitOpError() << "expected 'first_query' such that " << queries
                         << " of the " << available
                         << " queries of 'lse' follow, got " << first;
  return success();
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

LogicalResult ClosedStatisticsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto logits = inferTensor(location, "'logits'", adaptor.getLogits(), 5);
  if (failed(logits))
    return failure();
  int64_t queries = adaptor.getQueryCount();
  if (queries <= 0) // C1
    return emitOptionalError(
        location, "expected 'query_count' to be positive, got ", queries);
  SmallVector<int64_t> shape(logits->getShape());
  shape.front() = queries;
  types.append(2, logits->clone(shape));
  return success();
}

LogicalResult ClosedStatisticsOp::verify() {
  RankedTensorType logits = getLogits().getType();
  Type arithmetic = logits.getElementType();
  int64_t queries = getQueryCount(), first = getFirstQuery();
  int64_t available = logits.getDimSize(0);
  if (first < 0 || first > available - queries) // C1
    return emitOpError() << "expected 'first_query' such that " << queries
                         << " of the " << available
                         << " queries of 'logits' follow, got " << first;
  if (failed(verifyTensor(*this, "'lse'", getLse().getType(), // C2
                          logits.getShape().drop_back(), arithmetic)))
    return failure();
  if (!getMerged())
    return success();
  SmallVector<int64_t> merged(logits.getShape());
  merged.front() = queries;
  merged.back() = 1;
  return verifyTensor(*this, "'merged'", getMerged().getType(), merged, // C3
                      arithmetic);
}
