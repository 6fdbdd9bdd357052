//===- TokenOps.cpp - Types of parts of the tokens ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types follow from the attributes, so their constraints are checked where
// types are inferred. Other files have what all ops of the dialect have.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"

using namespace mlir;
using namespace isobath::net;

int64_t isobath::net::countTokens(Type type) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  return shape[0] * shape[1];
}

/// `type` with other sequences and tokens.
static RankedTensorType withTokens(RankedTensorType type, int64_t sequences,
                                   int64_t tokens) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = sequences;
  shape[1] = tokens;
  return type.clone(shape);
}

LogicalResult TakeTokensOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t first = adaptor.getFirst(), count = adaptor.getCount();
  int64_t tokens = countTokens(input);
  if (first < 0 || count <= 0 || count > tokens || first > tokens - count) // C1
    return emitOptionalError(location, "expected a part of the ", tokens,
                             " tokens of 'input', got ", count,
                             " tokens from number ", first, " on");
  types.push_back(withTokens(input, 1, count));
  return success();
}

LogicalResult JoinTokensOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (adaptor.getParts().empty()) // C1
    return emitOptionalError(location, "expected at least one part");
  auto first = cast<RankedTensorType>(adaptor.getParts().front().getType());
  int64_t tokens = 0;
  for (Value part : adaptor.getParts()) {
    auto type = cast<RankedTensorType>(part.getType());
    if (type.getElementType() != first.getElementType() ||
        type.getShape().drop_front(2) != first.getShape().drop_front(2)) // C1
      return emitOptionalError(
          location, "expected parts that differ in their tokens alone, got ",
          first, " and ", type);
    tokens += countTokens(type);
  }
  int64_t sequences = adaptor.getSequences();
  if (sequences <= 0 || tokens % sequences != 0) // C2
    return emitOptionalError(location, "expected 'sequences' to divide the ",
                             tokens, " tokens of all parts, got ", sequences);
  types.push_back(withTokens(first, sequences, tokens / sequences));
  return success();
}
