//===- Verification.h - Checks that the verifiers of several dialects share
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SUPPORT_VERIFICATION_H
#define ISOBATH_SUPPORT_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"

namespace isobath {

/// Fails with "expected 'left' and 'right' of one type, got …".
mlir::LogicalResult verifySameType(mlir::Operation *op, llvm::StringRef left,
                                   mlir::Type leftType, llvm::StringRef right,
                                   mlir::Type rightType);

/// Fails unless all `types` equal `expected`.
mlir::LogicalResult verifyAllOfType(mlir::Operation *op, llvm::StringRef what,
                                    mlir::TypeRange types, mlir::Type expected);

/// Fails unless `type` is `shape` of `elementType`.
mlir::LogicalResult verifyTensor(mlir::Operation *op, llvm::StringRef what,
                                 mlir::Type type, llvm::ArrayRef<int64_t> shape,
                                 mlir::Type elementType);

/// Fails unless `value` is finite and greater than zero, also once it is
/// rounded to f32, in which most programs compute.
mlir::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef what,
                                   const llvm::APFloat &value);

/// Fails unless `count` is positive and divides `size`, which `whole` names.
mlir::LogicalResult verifyDivides(mlir::Operation *op, llvm::StringRef what,
                                  int64_t count, llvm::StringRef whole,
                                  int64_t size);

/// For results that an op saves for its adjoint or for reports: fails if one
/// from number `first` on has a gradient (a null value has none). To take it
/// for zero would be to compute a wrong gradient without a word.
mlir::LogicalResult verifyNoGradient(mlir::Operation *op,
                                     mlir::ValueRange resultGradients,
                                     unsigned first);

} // namespace isobath

#endif // ISOBATH_SUPPORT_VERIFICATION_H
