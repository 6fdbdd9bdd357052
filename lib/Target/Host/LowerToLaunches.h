//===- LowerToLaunches.h - From tensors to a schedule of calls ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_HOST_LOWERTOLAUNCHES_H
#define ISOBATH_LIB_TARGET_HOST_LOWERTOLAUNCHES_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace isobath::host {

/// What targets decide of a schedule.
struct ScheduleTarget {
  /// The parts that a launch's sums over rows are added up in: for each sum of
  /// `kernel` there is a scratch buffer [parts, width] of the type that it is
  /// added in.
  llvm::function_ref<mlir::FailureOr<int64_t>(row::KernelOp kernel,
                                              int64_t rows)>
      countParts;
  /// Whether the kernel of `call` may be given one buffer for its operand
  /// `operand` and its result `result`.
  llvm::function_ref<bool(row::CallOp call, unsigned operand, unsigned result)>
      canWriteInPlace;
};

/// Turns the public functions of `module` into functions over buffers: each
/// `row.call` is a `row.launch`, products and the like are LibraryCalls, and
/// constants are copied from the module's data. Fails with a diagnostic.
mlir::LogicalResult lowerToLaunches(mlir::ModuleOp module,
                                    const ScheduleTarget &target);

} // namespace isobath::host

#endif // ISOBATH_LIB_TARGET_HOST_LOWERTOLAUNCHES_H
