//===- BufferizeEntry.h - From tensors to the buffers of an entry -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step that every target shares: a function over tensors becomes one over
// the buffers that the runtime hands to it, and each op a launch that the
// target builds.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_PLANNING_BUFFERIZEENTRY_H
#define ISOBATH_PLANNING_BUFFERIZEENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace isobath {

/// Builds the launch that computes the results of `op`, given as memrefs, from
/// its operands. Each memref has the shape and element type of the tensor.
using BuildLaunch = llvm::function_ref<mlir::LogicalResult(
    mlir::OpBuilder &, mlir::Operation *op, mlir::ValueRange operands,
    mlir::ValueRange results)>;

/// Whether `op` may compute result `result` in the buffer of operand `operand`.
using CanUpdateInPlace = llvm::function_ref<bool(
    mlir::Operation *op, unsigned operand, unsigned result)>;

/// Rewrites `entry`, a public function of straight-line code over tensors, to
/// take memrefs and return nothing:
///
/// - each argument becomes a memref of its shape, except that all arguments
///   with `net.parameter` become views into one buffer of bytes, `parameters`,
///   which takes the place of the first of them;
/// - each result becomes a further argument with the result's name, except that
///   all results with `net.gradient` become views into one buffer of bytes,
///   `gradients`, and that a result with `net.updates` is written back to its
///   argument, at the end or, where `canUpdateInPlace` allows it and nobody
///   reads the argument later, by the op that computes it;
/// - every other tensor becomes a `memref.alloc`, or takes over the buffer of
///   an operand under the same conditions.
///
/// With `canUpdateInPlace`, parts of such a tensor (net.take_tokens) are views,
/// and what net.join_tokens makes one of is computed at its place in the whole;
/// parts of arguments and results are copied. Without it these are ops like all
/// others.
///
/// Parameters and gradients lie as net::ParameterLayout says. Fails with a
/// diagnostic if a result has neither of these attributes or if `build` fails.
mlir::LogicalResult bufferizeEntry(mlir::func::FuncOp entry, BuildLaunch build,
                                   CanUpdateInPlace canUpdateInPlace = {});

/// A view of `type` into `bytes`, a memref of i8, from byte `offset` on.
mlir::Value createView(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value bytes, int64_t offset,
                       mlir::MemRefType type);

} // namespace isobath

#endif // ISOBATH_PLANNING_BUFFERIZEENTRY_H
