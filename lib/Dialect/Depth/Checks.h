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
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"

namespace isobath::depth {

/// The type of `value`, which may be of any type: result types are inferred
/// before anything is verified. Fails, with an error at `location`, unless it
/// is a static floating-point tensor with `rank` axes; `what` names it there.
inline mlir::FailureOr<mlir::RankedTensorType>
inferTensor(std::optional<mlir::Location> location, llvm::StringRef what,
            mlir::Value value, int64_t rank) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (type && type.getRank() == rank && type.hasStaticShape() &&
      llvm::isa<mlir::FloatType>(type.getElementType()))
    return type;
  return mlir::emitOptionalError(location, "expected ", what,
                                 " to be a static floating-point tensor with ",
                                 rank, " axes, got ", value.getType());
}

/// Shape [B, T, D] and arithmetic type of an activation.
struct ActivationShape {
  /// The shape of `value`, which may be of any type, as inferTensor does.
  static mlir::FailureOr<ActivationShape>
  infer(std::optional<mlir::Location> location, llvm::StringRef what,
        mlir::Value value) {
    if (mlir::failed(inferTensor(location, what, value, 3)))
      return mlir::failure();
    return ActivationShape(value);
  }

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
                                               int64_t heads, int64_t sources) {
  return mlir::RankedTensorType::get(
      {queries, shape.batch, shape.tokens, heads, sources}, shape.arithmetic);
}

inline mlir::RankedTensorType
headScalarsType(int64_t queries, const ActivationShape &shape, int64_t heads) {
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
  return op->emitOpError() << "expected " << expected << " " << what << ", got "
                           << values.size();
}

/// The heads that a saved tensor [queries, B, T, heads, …] speaks of.
inline int64_t headsOf(mlir::Value saved) {
  return llvm::cast<mlir::RankedTensorType>(saved.getType()).getDimSize(3);
}

} // namespace isobath::depth

#endif // ISOBATH_LIB_DIALECT_DEPTH_CHECKS_H
