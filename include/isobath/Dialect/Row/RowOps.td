//===- RowOps.td - All operations of the row dialect --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ROWOPS_TD
#define ISOBATH_DIALECT_ROW_ROWOPS_TD

include "isobath/Dialect/Row/AccessOps.td"
include "isobath/Dialect/Row/KernelOps.td"
include "isobath/Dialect/Row/RowDialect.td"

#endif // ISOBATH_DIALECT_ROW_ROWOPS_TD
