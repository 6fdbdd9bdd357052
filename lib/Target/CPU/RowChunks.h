//===- RowChunks.h - How rows are divided among threads -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_CPU_ROWCHUNKS_H
#define ISOBATH_LIB_TARGET_CPU_ROWCHUNKS_H

#include "isobath/Dialect/Row/RowOps.h"

namespace isobath::cpu {

/// The parts that the rows of a launch are divided into. A function of the
/// kernel's type and the number of rows alone, so that sums are added in the
/// same order whatever the number of threads.
int64_t countChunks(row::KernelOp kernel, int64_t rows);

/// One row, the sum of the `chunks` rows of partial sums in their order; it
/// stands in no module yet.
row::KernelOp buildFinishingKernel(mlir::Location loc, row::SumType type,
                                   int64_t chunks);

} // namespace isobath::cpu

#endif // ISOBATH_LIB_TARGET_CPU_ROWCHUNKS_H
