//===- Gradients.h - Reverse-mode differentiation of straight-line code -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIFFERENTIATION_GRADIENTS_H
#define ISOBATH_DIFFERENTIATION_GRADIENTS_H

#include "mlir/IR/Builders.h"

namespace isobath {

/// Builds, at the insertion point, the gradients of `targets` given those of
/// `results`: for a scalar L, ∂L/∂target from ∂L/∂result.
///
/// `targets` are arguments of `block`, `results` are values defined in it, all
/// ops of the block stand before the insertion point and implement
/// DifferentiableOpInterface wherever a gradient passes through them. A target
/// that does not reach a result gets a constant of zeros.
///
/// The contributions to one value are added from its last use to its first, and
/// within one op from the first operand to the last. Fails with a diagnostic at
/// the op that is not differentiable.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::OpBuilder &builder, mlir::Block &block,
               mlir::ValueRange results, mlir::ValueRange resultGradients,
               mlir::ValueRange targets);

} // namespace isobath

#endif // ISOBATH_DIFFERENTIATION_GRADIENTS_H
