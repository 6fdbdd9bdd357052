//===- RowOps.h - The operations of the row dialect --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ROWOPS_H
#define ISOBATH_DIALECT_ROW_ROWOPS_H

#include "isobath/Dialect/Row/RowDialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "isobath/Dialect/Row/RowOps.h.inc"

namespace isobath::row {

/// The scalars or the vector that `op` reads single numbers of; null if it
/// reads none.
mlir::Value getNumberSource(mlir::Operation *op);

} // namespace isobath::row

#endif // ISOBATH_DIALECT_ROW_ROWOPS_H
