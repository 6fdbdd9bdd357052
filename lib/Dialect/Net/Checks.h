//===- Checks.h - What verifiers of net operations share ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_DIALECT_NET_CHECKS_H
#define ISOBATH_LIB_DIALECT_NET_CHECKS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace isobath::net {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

inline int64_t channels(mlir::Value value) {
  return tensorType(value).getShape().back();
}

inline mlir::LogicalResult verifySameElementType(mlir::Operation *op,
                                                 llvm::StringRef left,
                                                 mlir::Value leftValue,
                                                 llvm::StringRef right,
                                                 mlir::Value rightValue) {
  mlir::Type leftType = tensorType(leftValue).getElementType();
  mlir::Type rightType = tensorType(rightValue).getElementType();
  if (leftType == rightType)
    return mlir::success();
  return op->emitOpError() << "expected " << left << " and " << right
                           << " of one element type, got " << leftType
                           << " and " << rightType;
}

} // namespace isobath::net

#endif // ISOBATH_LIB_DIALECT_NET_CHECKS_H
