//===- RowsInPlace.h - Kernels that write where they read --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_ROWS_ROWSINPLACE_H
#define ISOBATH_LIB_TARGET_ROWS_ROWSINPLACE_H

#include "isobath/Dialect/Row/RowOps.h"

namespace isobath::rows {

/// Whether `call` may be given one buffer for its operand `operand` and its
/// result `result`: the kernel, as it is scheduled, reads of the one only the
/// current row, and no element of it once it has written that of the other.
bool canWriteInPlace(row::CallOp call, unsigned operand, unsigned result);

/// Where an operand or result of a call stands: the argument of the kernel, and
/// the place in its group.
std::pair<mlir::BlockArgument, unsigned>
findArgument(llvm::ArrayRef<int32_t> groups,
             llvm::MutableArrayRef<mlir::BlockArgument> arguments,
             unsigned position);

} // namespace isobath::rows

#endif // ISOBATH_LIB_TARGET_ROWS_ROWSINPLACE_H
