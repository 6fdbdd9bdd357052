//===- RowLaunches.h - How rows are divided among threads --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_CPU_ROWLAUNCHES_H
#define ISOBATH_TARGET_CPU_ROWLAUNCHES_H

#include "isobath/Dialect/Row/RowOps.h"

namespace isobath::cpu {

/// The parts that the rows of a launch are divided into. A function of the
/// kernel's type and the number of rows alone, so that sums are added in the
/// same order whatever the number of threads.
int64_t countChunks(row::KernelOp kernel, int64_t rows);

/// Allocates what a launch of `kernel` needs as scratch: for each of its sums
/// one buffer [chunks, width] of the type that the sum is added in. To be
/// called where launches are built, before memory is planned.
llvm::SmallVector<mlir::Value> allocateScratch(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               row::KernelOp kernel,
                                               int64_t rows);

} // namespace isobath::cpu

#endif // ISOBATH_TARGET_CPU_ROWLAUNCHES_H
