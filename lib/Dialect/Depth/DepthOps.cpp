//===- DepthOps.cpp - Types and constraints of routes and fixed reads ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op the types of its results, then its verifier. The numbers (C1 …)
// are those of the op's documentation. The parser infers types before anything
// is verified, so inference must not rely on types or constraints.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "Checks.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::depth;

//===----------------------------------------------------------------------===//
// Assembly: one type for a list of operands
//===----------------------------------------------------------------------===//

static ParseResult parseUniformTypes(
    OpAsmParser &parser,
    const SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types) {
  Type type;
  if (parser.parseType(type))
    return failure();
  types.assign(operands.size(), type);
  return success();
}

static void printUniformTypes(OpAsmPrinter &printer, Operation *op,
                              OperandRange operands, TypeRange types) {
  if (!types.empty())
    printer << types.front();
}

#define GET_OP_CLASSES
#include "isobath/Dialect/Depth/DepthOps.cpp.inc"

static SmallVector<Value> joinSources(ValueRange closed, Value partial) {
  SmallVector<Value> sources(closed);
  if (partial)
    sources.push_back(partial);
  return sources;
}

SmallVector<Value> RouteOp::getSources() {
  return joinSources(getClosed(), getPartial());
}

SmallVector<Value> FixedReadOp::getSources() {
  return joinSources(getClosed(), getPartial());
}

//===----------------------------------------------------------------------===//
// Route
//===----------------------------------------------------------------------===//

/// Fails unless types can be made for a read: there is at least one query and
/// one closed source (C1) and `heads` is positive (C4).
static LogicalResult checkRead(std::optional<Location> location,
                               ValueRange queries, ValueRange closed,
                               int64_t heads) {
  if (closed.empty() || queries.empty())
    return emitOptionalError(
        location, "expected at least one query and one closed source");
  if (heads <= 0)
    return emitOptionalError(location, "expected 'heads' to be positive, got ",
                             heads);
  return success();
}

LogicalResult RouteOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  if (failed(checkRead(location, adaptor.getQueries(), adaptor.getClosed(),
                       adaptor.getHeads())))
    return failure();
  Value first = adaptor.getClosed().front();
  auto shape = ActivationShape::infer(location, "a closed source", first);
  if (failed(shape))
    return failure();
  int64_t queries = adaptor.getQueries().size();
  int64_t heads = adaptor.getHeads();
  int64_t sources = adaptor.getClosed().size() + (adaptor.getPartial() ? 1 : 0);
  types.append(queries, first.getType());
  types.append(2, distributionType(queries, *shape, heads, sources));
  types.push_back(sourceScalarsType(*shape, sources));
  return success();
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// What runs for its cost alone has an effect.
static void addEffectOfRepetition(bool isRepeated, Effects &effects) {
  if (isRepeated)
    effects.emplace_back(MemoryEffects::Write::get());
}

void RouteOp::getEffects(Effects &effects) {
  addEffectOfRepetition(getRepeated(), effects);
}
void PartialOp::getEffects(Effects &effects) {
  addEffectOfRepetition(getRepeated(), effects);
}
void MergeOp::getEffects(Effects &effects) {
  addEffectOfRepetition(getRepeated(), effects);
}
void ExtendOp::getEffects(Effects &effects) {
  addEffectOfRepetition(getRepeated(), effects);
}

/// The constraints C1 to C5 of reads with queries.
static LogicalResult verifyRead(Operation *op, ValueRange queries,
                                ValueRange closed, Value partial, int64_t heads,
                                const llvm::APFloat &epsilon) {
  if (failed(verifySome(op, "query", queries)) ||
      failed(verifySome(op, "closed source", closed))) // C1
    return failure();
  Type type = closed.front().getType();
  ActivationShape shape(closed.front());
  if (failed(verifyAllOfType(op, "closed source", closed.getTypes(), type)))
    return failure();                       // C2
  if (partial && partial.getType() != type) // C2
    return op->emitOpError() << "expected the partial of type " << type
                             << ", got " << partial.getType();
  if (failed(verifyAllOfType(op, "query", queries.getTypes(),
                             queryType(shape)))) // C3
    return failure();
  if (failed(verifyDivides(op, "'heads'", heads, "channels of a source",
                           shape.width))) // C4
    return failure();
  return verifyPositive(op, "'epsilon'", epsilon); // C5
}

LogicalResult RouteOp::verify() {
  if (failed(verifyRead(*this, getQueries(), getClosed(), getPartial(),
                        getHeads(), getEpsilon())))
    return failure();
  if (getGroups() && getGroups()->size() != getQueries().size()) // C6
    return emitOpError() << "expected one of the 'groups' for each of the "
                         << getQueries().size() << " queries, got "
                         << getGroups()->size();
  return success();
}

LogicalResult PartialOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkRead(location, adaptor.getQueries(), adaptor.getClosed(),
                       adaptor.getHeads())))
    return failure();
  Value first = adaptor.getClosed().front();
  auto shape = ActivationShape::infer(location, "a closed source", first);
  if (failed(shape))
    return failure();
  int64_t queries = adaptor.getQueries().size();
  int64_t heads = adaptor.getHeads(), sources = adaptor.getClosed().size();
  types.append(queries, first.getType());
  types.push_back(headScalarsType(queries, *shape, heads));
  types.push_back(distributionType(queries, *shape, heads, sources));
  types.push_back(sourceScalarsType(*shape, sources));
  return success();
}

LogicalResult PartialOp::verify() {
  return verifyRead(*this, getQueries(), getClosed(), /*partial=*/{},
                    getHeads(), getEpsilon());
}

//===----------------------------------------------------------------------===//
// Adjoints of a route
//===----------------------------------------------------------------------===//

LogicalResult RouteAdjointLocalOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (adaptor.getGradients().empty()) // C1
    return emitOptionalError(location, "expected at least one gradient");
  Value first = adaptor.getGradients().front();
  auto shape = ActivationShape::infer(location, "a gradient", first);
  if (failed(shape) ||
      failed(inferTensor(location, "'weights'", adaptor.getWeights(), 5)))
    return failure();
  int64_t queries = adaptor.getQueries().size();
  types.push_back(
      headScalarsType(queries, *shape, headsOf(adaptor.getWeights())));
  if (adaptor.getPartial()) {
    types.push_back(first.getType());
    llvm::append_range(types, adaptor.getQueries().getTypes());
  }
  return success();
}

LogicalResult RouteAdjointLocalOp::verify() {
  if (failed(verifySome(*this, "query", getQueries())) || // C1
      failed(
          verifyCount(*this, "gradients", getGradients(), getQueries().size())))
    return failure();
  Type type = getGradients().front().getType();
  ActivationShape shape(getGradients().front());
  int64_t queries = getQueries().size();
  if (failed(verifyCount(*this, "mixes", getMixes(), queries)) || // C1
      failed(verifyAllOfType(*this, "gradient", getGradients().getTypes(),
                             type)) ||
      failed(verifyAllOfType(*this, "mix", getMixes().getTypes(), type)))
    return failure();
  if (getPartial() && getPartial().getType() != type) // C1
    return emitOpError() << "expected the partial of type " << type << ", got "
                         << getPartial().getType();
  if (failed(verifyAllOfType(*this, "query", getQueries().getTypes(),
                             queryType(shape)))) // C2
    return failure();
  int64_t heads = headsOf(getWeights());
  if (failed(verifyDivides(*this, "the heads of 'weights'", heads,
                           "channels of a gradient", shape.width)))
    return failure();
  // Of each, the last number alone is the partial's.
  auto verifyDistribution = [&](StringRef what, RankedTensorType type) {
    auto saved =
        distributionType(queries, shape, heads, type.getShape().back());
    return verifyTensor(*this, what, type, saved.getShape(), shape.arithmetic);
  };
  if (failed(verifyDistribution("'weights'", getWeights().getType())) || // C3
      failed(verifyDistribution("'logits'", getLogits().getType())))
    return failure();
  int64_t sources = getRstd().getType().getShape().back();
  return verifyTensor(*this, "'rstd'", getRstd().getType(),
                      sourceScalarsType(shape, sources).getShape(),
                      shape.arithmetic);
}

LogicalResult
RouteAdjointDeferredOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getClosed().getTypes());
  llvm::append_range(types, adaptor.getQueries().getTypes());
  return success();
}

LogicalResult RouteAdjointDeferredOp::verify() {
  if (failed(verifySome(*this, "closed source", getClosed())) || // C1
      failed(verifySome(*this, "route", getWeights())))          // C2
    return failure();
  Type type = getClosed().front().getType();
  ActivationShape shape(getClosed().front());
  if (failed(verifyAllOfType(*this, "closed source", getClosed().getTypes(),
                             type)) || // C1
      failed(
          verifyAllOfType(*this, "gradient", getGradients().getTypes(), type)))
    return failure();
  int64_t routes = getWeights().size();
  if (failed(verifyCount(*this, "tensors of logits", getLogits(), routes)) ||
      failed(verifyCount(*this, "tensors of dots", getDots(), routes)))
    return failure(); // C2
  int64_t queries = 0, closed = getClosed().size();
  for (auto [weights, logits, dots] :
       llvm::zip_equal(getWeights(), getLogits(), getDots())) {
    auto saved = cast<RankedTensorType>(weights.getType());
    int64_t heads = headsOf(weights), queriesOfRoute = saved.getDimSize(0);
    queries += queriesOfRoute;
    // Of each, the first numbers are those of the closed sources.
    auto verifyDistribution = [&](StringRef what,
                                  Value distribution) -> LogicalResult {
      auto type = cast<RankedTensorType>(distribution.getType());
      int64_t sources = type.getShape().back();
      if (sources < closed) // C3
        return emitOpError() << "expected " << what << " of at least the "
                             << closed << " closed sources, got " << sources;
      auto expected = distributionType(queriesOfRoute, shape, heads, sources);
      return verifyTensor(*this, what, type, expected.getShape(),
                          shape.arithmetic);
    };
    if (failed(verifyDivides(*this, "the heads of 'weights'", heads,
                             "channels of a source", shape.width)) ||
        failed(verifyDistribution("weights", weights)) ||
        failed(verifyDistribution("logits", logits)))
      return failure();
    auto expected = headScalarsType(queriesOfRoute, shape, heads);
    if (failed(verifyTensor(*this, "dots", dots.getType(), expected.getShape(),
                            shape.arithmetic)))
      return failure();
  }
  if (failed(verifyCount(*this, "queries", getQueries(), queries)) || // C2
      failed(verifyCount(*this, "gradients", getGradients(), queries)) ||
      failed(verifyAllOfType(*this, "query", getQueries().getTypes(),
                             queryType(shape)))) // C3
    return failure();
  int64_t sources = getRstd().getType().getShape().back();
  if (sources < closed) // C3
    return emitOpError() << "expected 'rstd' of at least the " << closed
                         << " closed sources, got " << sources;
  return verifyTensor(*this, "'rstd'", getRstd().getType(),
                      sourceScalarsType(shape, sources).getShape(),
                      shape.arithmetic);
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

LogicalResult FixedReadOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  if (adaptor.getClosed().empty()) // C1
    return emitOptionalError(location, "expected at least one closed source");
  types.push_back(adaptor.getClosed().front().getType());
  return success();
}

LogicalResult FixedReadOp::verify() {
  if (failed(verifySome(*this, "closed source", getClosed()))) // C1
    return failure();
  SmallVector<Value> sources = getSources();
  return verifyAllOfType(*this, "source", ValueRange(sources).getTypes(), // C2
                         sources.front().getType());
}

LogicalResult RunningSumOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOlder().getType());
  return success();
}

LogicalResult FixedDistributionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  int64_t count = adaptor.getSourceCount();
  if (count <= 0) // C1
    return emitOptionalError(
        location, "expected 'source_count' to be positive, got ", count);
  auto shape =
      ActivationShape::infer(location, "'source'", adaptor.getSource());
  if (failed(shape))
    return failure();
  types.push_back(distributionType(1, *shape, 1, count));
  return success();
}
