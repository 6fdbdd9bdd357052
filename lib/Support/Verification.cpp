//===- Verification.cpp - Checks that the verifiers of several dialects share
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Support/Verification.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;

LogicalResult isobath::verifySameType(Operation *op, StringRef left,
                                      Type leftType, StringRef right,
                                      Type rightType) {
  if (leftType == rightType)
    return success();
  return op->emitOpError() << "expected " << left << " and " << right
                           << " of one type, got " << leftType << " and "
                           << rightType;
}

LogicalResult isobath::verifyAllOfType(Operation *op, StringRef what,
                                       TypeRange types, Type expected) {
  for (auto [index, type] : llvm::enumerate(types))
    if (type != expected)
      return op->emitOpError()
             << "expected every " << what << " of type " << expected << ", got "
             << type << " at index " << index;
  return success();
}

LogicalResult isobath::verifyTensor(Operation *op, StringRef what, Type type,
                                    ArrayRef<int64_t> shape, Type elementType) {
  auto expected = RankedTensorType::get(shape, elementType);
  if (type == expected)
    return success();
  return op->emitOpError() << "expected " << what << " of type " << expected
                           << ", got " << type;
}

LogicalResult isobath::verifyPositive(Operation *op, StringRef what,
                                      const llvm::APFloat &value) {
  llvm::APFloat rounded = value;
  bool losesInfo;
  rounded.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (rounded.isFinite() && !rounded.isNegative() && !rounded.isZero())
    return success();
  llvm::SmallString<16> text;
  value.toString(text);
  return op->emitOpError() << "expected " << what
                           << " to be positive and finite in f32, got " << text;
}

LogicalResult isobath::verifyDivides(Operation *op, StringRef what,
                                     int64_t count, StringRef whole,
                                     int64_t size) {
  if (count > 0 && size % count == 0)
    return success();
  return op->emitOpError() << "expected " << what << " to divide the " << size
                           << " " << whole << ", got " << count;
}

LogicalResult isobath::verifyNoGradient(Operation *op,
                                        ValueRange resultGradients,
                                        unsigned first) {
  for (unsigned i = first, e = resultGradients.size(); i < e; ++i)
    if (resultGradients[i])
      return op->emitOpError() << "expected no gradient of result " << i
                               << ", which is not differentiable";
  return success();
}
