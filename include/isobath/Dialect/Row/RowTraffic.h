//===- RowTraffic.h - Bytes that a row kernel moves -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ROWTRAFFIC_H
#define ISOBATH_DIALECT_ROW_ROWTRAFFIC_H

#include "isobath/Dialect/Row/RowOps.h"

namespace isobath::row {

/// Bytes that pass between memory and a kernel. An element that is read several
/// times for one row counts once, since it is in a cache when it is read again;
/// so does one that is written and then read.
struct Traffic {
  int64_t rowRead = 0; // for one row: of matrices, lists and scalars
  int64_t rowWritten = 0;
  int64_t sharedRead = 0;    // once a call: vectors
  int64_t sharedWritten = 0; // once a call: sums
};

/// Counts the loads and stores of `kernel`, the kernel of `call`, which says
/// how long lists are. Nothing if they depend on data, as those of a loop do
/// that runs from one number in memory to another.
std::optional<Traffic> countTraffic(CallOp call, KernelOp kernel);

} // namespace isobath::row

#endif // ISOBATH_DIALECT_ROW_ROWTRAFFIC_H
