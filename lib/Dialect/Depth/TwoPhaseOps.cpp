//===- TwoPhaseOps.cpp - Types and constraints of routes in two phases ----===//
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

/// What a merge, its adjoint and an extension ask of queries and the mixes to
/// which they add sources of the type of `source`.
static LogicalResult verifyMergedQueries(Operation *op, ValueRange queries,
                                         ValueRange mixes, Value source,
                                         StringRef mix = "closed mix",
                                         StringRef plural = "closed mixes") {
  if (failed(verifySome(op, "query", queries)) || // C1
      failed(verifyCount(op, plural, mixes, queries.size())) ||
      failed(verifyAllOfType(op, mix, mixes.getTypes(), source.getType())))
    return failure();
  return verifyAllOfType(op, "query", queries.getTypes(),
                         queryType(ActivationShape(source))); // C2
}

/// Whether `queries` queries follow `first` of the `available` ones of `what`.
static LogicalResult verifyFirstQuery(Operation *op, int64_t first,
                                      int64_t queries, int64_t available,
                                      StringRef what) {
  if (first < 0 || first > available - queries)
    return op->emitOpError()
           << "expected 'first_query' such that " << queries << " of the "
           << available << " queries of '" << what << "' follow, got " << first;
  return success();
}

/// The constraint C3 of ops that add sources of the shape of `owner`.
static LogicalResult verifyLse(Operation *op, Value lse, int64_t first,
                               int64_t queries, const ActivationShape &shape,
                               StringRef owner) {
  auto type = cast<RankedTensorType>(lse.getType());
  int64_t available = type.getDimSize(0), heads = headsOf(lse);
  if (failed(verifyFirstQuery(op, first, queries, available, "lse")) ||
      failed(verifyDivides(op, "the heads of 'lse'", heads,
                           ("channels of " + owner).str(), shape.width)))
    return failure();
  return verifyTensor(op, "'lse'", type,
                      headScalarsType(available, shape, heads).getShape(),
                      shape.arithmetic);
}

LogicalResult MergeOp::verify() {
  if (failed(verifyMergedQueries(*this, getQueries(), getClosedMixes(),
                                 getPartial())))
    return failure();
  if (failed(verifyLse(*this, getLse(), getFirstQuery(), getQueries().size(),
                       ActivationShape(getPartial()), "the partial"))) // C3
    return failure();
  return verifyPositive(*this, "'epsilon'", getEpsilon()); // C4
}

//===----------------------------------------------------------------------===//
// Extension
//===----------------------------------------------------------------------===//

LogicalResult ExtendOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getNewer().empty()) // C1
    return emitOptionalError(location, "expected at least one newer source");
  auto shape = ActivationShape::infer(location, "a newer source",
                                      adaptor.getNewer().front());
  if (failed(shape) ||
      failed(inferTensor(location, "'lse'", adaptor.getLse(), 4)))
    return failure();
  int64_t queries = adaptor.getQueries().size(),
          sources = adaptor.getNewer().size();
  types.append(queries, adaptor.getNewer().front().getType());
  types.append(
      2, distributionType(queries, *shape, headsOf(adaptor.getLse()), sources));
  types.push_back(sourceScalarsType(*shape, sources));
  return success();
}

LogicalResult ExtendOp::verify() {
  Value first = getNewer().front();
  if (failed(verifyMergedQueries(*this, getQueries(), getOlderMixes(), first,
                                 "older mix", "older mixes")) ||
      failed(verifyAllOfType(*this, "newer source", getNewer().getTypes(),
                             first.getType())) || // C1
      failed(verifyLse(*this, getLse(), getFirstQuery(), getQueries().size(),
                       ActivationShape(first), "a source"))) // C3
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
  return verifyFirstQuery(*this, getFirstQuery(), queries, getLseQueries(),
                          "lse"); // C4
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
  if (failed(verifyFirstQuery(*this, first, queries, logits.getDimSize(0),
                              "logits")) ||                   // C1
      failed(verifyTensor(*this, "'lse'", getLse().getType(), // C2
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

LogicalResult ExtendedStatisticsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto older = inferTensor(location, "'logits'", adaptor.getLogits(), 5),
       newer =
           inferTensor(location, "'new_weights'", adaptor.getNewWeights(), 5);
  if (failed(older) || failed(newer))
    return failure();
  SmallVector<int64_t> shape(newer->getShape());
  shape.back() += older->getShape().back();
  types.append(2, older->clone(shape));
  types.push_back(older->clone({shape[1], shape[2], shape[4]}));
  return success();
}

LogicalResult ExtendedStatisticsOp::verify() {
  RankedTensorType logits = getLogits().getType(),
                   newer = getNewWeights().getType();
  Type arithmetic = logits.getElementType();
  if (failed(verifyFirstQuery(*this, getFirstQuery(), newer.getDimSize(0),
                              logits.getDimSize(0), "logits")) || // C1
      failed(verifyTensor(*this, "'lse'", getLse().getType(),
                          logits.getShape().drop_back(), arithmetic)))
    return failure();
  SmallVector<int64_t> expected(logits.getShape()); // C2
  expected.front() = newer.getDimSize(0);
  expected.back() = newer.getShape().back();
  auto rstdOf = [](ArrayRef<int64_t> shape) {
    return SmallVector<int64_t>{shape[1], shape[2], shape[4]};
  };
  if (failed(
          verifyTensor(*this, "'new_weights'", newer, expected, arithmetic)) ||
      failed(verifyTensor(*this, "'new_logits'", getNewLogits().getType(),
                          expected, arithmetic)) ||
      failed(verifyTensor(*this, "'rstd'", getRstd().getType(),
                          rstdOf(logits.getShape()), arithmetic)))
    return failure();
  return verifyTensor(*this, "'new_rstd'", getNewRstd().getType(),
                      rstdOf(expected), arithmetic);
}
