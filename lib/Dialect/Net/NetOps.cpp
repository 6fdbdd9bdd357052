//===- NetOps.cpp - Types and constraints of the net dialect's operations ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op the types of its results, then its verifier. The numbers (C1 …)
// are those of the op's documentation. Inference runs on operands that satisfy
// the types of the op's definition but perhaps not its constraints, so it must
// not rely on the latter.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "Checks.h"
#include "isobath/Support/Verification.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::net;

#define GET_OP_CLASSES
#include "isobath/Dialect/Net/NetOps.cpp.inc"

static RankedTensorType withChannels(Value value, int64_t size) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape.back() = size;
  return tensorType(value).clone(shape);
}

/// Fails unless `value` has the sequences and tokens of `reference`.
static LogicalResult verifyTokens(Operation *op, StringRef what, Value value,
                                  StringRef referenceName, Value reference) {
  auto tokens = tensorType(value).getShape().take_front(2);
  auto expected = tensorType(reference).getShape().take_front(2);
  if (tokens == expected)
    return success();
  return op->emitOpError() << "expected " << what << " with the " << expected[0]
                           << "x" << expected[1] << " tokens of "
                           << referenceName << ", got " << tokens[0] << "x"
                           << tokens[1];
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(tensorType(adaptor.getIds()).getShape());
  shape.push_back(channels(adaptor.getTable()));
  types.push_back(tensorType(adaptor.getTable()).clone(shape));
  return success();
}

LogicalResult EmbeddingAdjointOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  int64_t rows = adaptor.getRows();
  if (rows <= 0) // C1
    return emitOptionalError(location, "expected 'rows' to be positive, got ",
                             rows);
  types.push_back(tensorType(adaptor.getGradient())
                      .clone({rows, channels(adaptor.getGradient())}));
  return success();
}

LogicalResult EmbeddingAdjointOp::verify() {
  return verifyTokens(*this, "'gradient'", getGradient(), "'ids'", getIds());
}

LogicalResult GroupTokensOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  int64_t vocabulary = adaptor.getVocabulary();
  if (vocabulary <= 0) // C1
    return emitOptionalError(
        location, "expected 'vocabulary' to be positive, got ", vocabulary);
  Type integer = tensorType(adaptor.getIds()).getElementType();
  types.push_back(RankedTensorType::get({vocabulary + 1}, integer));
  types.push_back(RankedTensorType::get(
      {tensorType(adaptor.getIds()).getNumElements()}, integer));
  return success();
}

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

LogicalResult RMSNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

static LogicalResult verifyNormalisation(Operation *op, Value input,
                                         Value weight,
                                         const llvm::APFloat &epsilon) {
  if (failed(verifyDivides(op, "the length of 'weight'", channels(weight),
                           "channels of 'input'", channels(input)))) // C1
    return failure();
  return verifyPositive(op, "'epsilon'", epsilon); // C2
}

LogicalResult RMSNormOp::verify() {
  return verifyNormalisation(*this, getInput(), getWeight(), getEpsilon());
}

LogicalResult RMSNormAdjointOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  types.push_back(adaptor.getWeight().getType());
  return success();
}

LogicalResult RMSNormAdjointOp::verify() {
  if (failed(verifyNormalisation(*this, getInput(), getWeight(), getEpsilon())))
    return failure();
  return verifySameType(*this, "'input'", getInput().getType(), // C3
                        "'gradient'", getGradient().getType());
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

/// Whether a product may have results of the types `actual` where `inferred` is
/// what follows from its operands.
static bool areProductTypes(TypeRange inferred, TypeRange actual) {
  auto isNarrow = [](Type type) {
    return getElementTypeOrSelf(type).isF32() ||
           getElementTypeOrSelf(type).isBF16();
  };
  return inferred == actual ||
         (llvm::all_of(inferred, isNarrow) && llvm::all_of(actual, isNarrow) &&
          succeeded(verifyCompatibleShapes(inferred, actual)));
}

bool LinearOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return areProductTypes(inferred, actual);
}
bool LinearInputAdjointOp::isCompatibleReturnTypes(TypeRange inferred,
                                                   TypeRange actual) {
  return areProductTypes(inferred, actual);
}
bool LinearWeightAdjointOp::isCompatibleReturnTypes(TypeRange inferred,
                                                    TypeRange actual) {
  return areProductTypes(inferred, actual);
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(withChannels(adaptor.getInput(),
                               tensorType(adaptor.getWeight()).getDimSize(0)));
  return success();
}

LogicalResult LinearOp::verify() {
  if (channels(getInput()) != channels(getWeight())) // C1
    return emitOpError() << "expected 'weight' with the "
                         << channels(getInput())
                         << " channels of 'input' as columns, got "
                         << channels(getWeight());
  return verifySameElementType(*this, "'input'", getInput(), // C2
                               "'weight'", getWeight());
}

LogicalResult
LinearInputAdjointOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(
      withChannels(adaptor.getGradient(), channels(adaptor.getWeight())));
  return success();
}

LogicalResult LinearInputAdjointOp::verify() {
  int64_t rows = tensorType(getWeight()).getDimSize(0);
  if (channels(getGradient()) != rows) // C1
    return emitOpError() << "expected 'weight' with the "
                         << channels(getGradient())
                         << " channels of 'gradient' as rows, got " << rows;
  return verifySameElementType(*this, "'gradient'", getGradient(), // C2
                               "'weight'", getWeight());
}

LogicalResult
LinearWeightAdjointOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(tensorType(adaptor.getInput())
                      .clone({channels(adaptor.getGradient()),
                              channels(adaptor.getInput())}));
  return success();
}

LogicalResult LinearWeightAdjointOp::verify() {
  if (failed(verifyTokens(*this, "'gradient'", getGradient(), // C1
                          "'input'", getInput())) ||
      failed(verifySameElementType(*this, "'gradient'", getGradient(), // C2
                                   "'input'", getInput())))
    return failure();
  if (!getSum())
    return success();
  return verifySameType(*this, "'sum'", getSum().getType(), // C3
                        "the result", getWeightGradient().getType());
}

//===----------------------------------------------------------------------===//
// Rotary
//===----------------------------------------------------------------------===//

LogicalResult RotaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult RotaryOp::verify() {
  int64_t heads = getHeads();
  if (failed(verifyDivides(*this, "'heads'", heads, "channels of 'input'",
                           channels(getInput())))) // C1
    return failure();
  if (channels(getInput()) / heads % 2 != 0) // C1
    return emitOpError() << "expected heads of even size, got "
                         << channels(getInput()) / heads;
  return verifyPositive(*this, "'base'", getBase()); // C2
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The type of a log-sum-exp, [B, heads, T].
static RankedTensorType statisticsType(Value query, int64_t heads) {
  auto type = tensorType(query);
  return RankedTensorType::get({type.getDimSize(0), heads, type.getDimSize(1)},
                               getArithmeticType(type.getElementType()));
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  int64_t heads = adaptor.getHeads();
  if (heads <= 0) // C1
    return emitOptionalError(location, "expected 'heads' to be positive, got ",
                             heads);
  types.push_back(adaptor.getQuery().getType());
  types.push_back(statisticsType(adaptor.getQuery(), heads));
  return success();
}

/// C1 and C2 of attention and of its adjoint.
template <typename Op> static LogicalResult verifyHeads(Op op) {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  int64_t width = channels(op.getQuery());
  if (failed(
          verifyDivides(op, "'heads'", heads, "channels of 'query'", width)) ||
      failed(verifyDivides(op, "'kv_heads'", kvHeads, "heads", heads))) // C1
    return failure();
  Type expected = withChannels(op.getQuery(), width / heads * kvHeads);
  for (auto [name, value] : {std::pair("'key'", op.getKey()),
                             std::pair("'value'", op.getValue())}) // C2
    if (value.getType() != expected)
      return op.emitOpError() << "expected " << name << " of type " << expected
                              << ", got " << value.getType();
  return success();
}

LogicalResult AttentionOp::verify() { return verifyHeads(*this); }

LogicalResult
AttentionAdjointOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getQuery().getType());
  types.push_back(adaptor.getKey().getType());
  types.push_back(adaptor.getValue().getType());
  return success();
}

LogicalResult AttentionAdjointOp::verify() {
  if (failed(verifyHeads(*this)))
    return failure();
  if (failed(verifySameType(*this, "'query'", getQuery().getType(), // C3
                            "'output'", getOutput().getType())) ||
      failed(verifySameType(*this, "'query'", getQuery().getType(),
                            "'gradient'", getGradient().getType())))
    return failure();
  auto expected = statisticsType(getQuery(), getHeads());
  return verifyTensor(*this, "'lse'", getLse().getType(), expected.getShape(),
                      expected.getElementType());
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto logits = tensorType(adaptor.getLogits());
  types.assign(
      2, RankedTensorType::get(logits.getShape().take_front(2),
                               getArithmeticType(logits.getElementType())));
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  return verifyTokens(*this, "'targets'", getTargets(), // C1
                      "'logits'", getLogits());
}

LogicalResult
CrossEntropyAdjointOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getLogits().getType());
  return success();
}

LogicalResult CrossEntropyAdjointOp::verify() {
  if (failed(verifyTokens(*this, "'targets'", getTargets(), // C1
                          "'logits'", getLogits())))
    return failure();
  Type elementType =
      getArithmeticType(tensorType(getLogits()).getElementType());
  ArrayRef<int64_t> shape = tensorType(getTargets()).getShape();
  if (failed(verifyTensor(*this, "'lse'", getLse().getType(), shape, // C2
                          elementType)))
    return failure();
  return verifyTensor(*this, "'gradient'", getGradient().getType(), shape,
                      elementType);
}
