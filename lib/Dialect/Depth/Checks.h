//===- Checks.h - Constraints that several depth operations share -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_DIALECT_DEPTH_CHECKS_H
#define ISOBATH_LIB_DIALECT_DEPTH_CHECKS_H

#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Support/Verification.h"
#include "mlir/IR/ValueRange.h"

namespace isobath::depth {

/// Shape [B, T, D] and arithmetic type of an activation.
struct ActivationShape {
  explicit ActivationShape(mlir::Value value) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    batch = type.getDimSize(0);
    tokens = type.getDimSize(1);
    width = type.getDimSize(2);
    arithmetic = net::getArithmeticType(type.getElementType());
  }
  int64_t batch;
  int64_t tokens;
  int64_t width;
  mlir::FloatType arithmetic;
};

inline mlir::RankedTensorType distributionType(int64_t queries,
                                               const ActivationShape &shape,
                                               int64_t heads,
                                               int64_t sources) {
  return mlir::RankedTensorType::get(
      {queries, shape.batch, shape.tokens, heads, sources}, shape.arithmetic);
}

inline mlir::RankedTensorType headScalarsType(int64_t queries,
                                              const ActivationShape &shape,
                                              int64_t heads) {
  return mlir::RankedTensorType::get(
      {queries, shape.batch, shape.tokens, heads}, shape.arithmetic);
}

inline mlir::RankedTensorType sourceScalarsType(const ActivationShape &shape,
                                                int64_t sources) {
  return mlir::RankedTensorType::get({shape.batch, shape.tokens, sources},
                                     shape.arithmetic);
}

inline mlir::RankedTensorType queryType(const ActivationShape &shape) {
  return mlir::RankedTensorType::get({shape.width}, shape.arithmetic);
}

/// Fails unless `values` has at least one value.
inline mlir::LogicalResult verifySome(mlir::Operation *op, llvm::StringRef what,
                                      mlir::ValueRange values) {
  if (!values.empty())
    return mlir::success();
  return op->emitOpError() << "expected at least one " << what;
}

/// Fails unless there are `expected` values.
inline mlir::LogicalResult verifyCount(mlir::Operation *op,
                                       llvm::StringRef what,
                                       mlir::ValueRange values,
                                       int64_t expected) {
  if (static_cast<int64_t>(values.size()) == expected)
    return mlir::success();
  return op->emitOpError() << "expected " << expected << " " << what
                           << ", got " << values.size();
}

/// The heads that a saved tensor [queries, B, T, heads, …] speaks of.
inline int64_t headsOf(mlir::Value saved) {
  return llvm::cast<mlir::RankedTensorType>(saved.getType()).getDimSize(3);
}

} // namespace isobath::depth

#endif // ISOBATH_LIB_DIALECT_DEPTH_CHECKS_H
