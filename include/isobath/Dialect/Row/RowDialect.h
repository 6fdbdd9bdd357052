//===- RowDialect.h - The row dialect and its types --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ROWDIALECT_H
#define ISOBATH_DIALECT_ROW_ROWDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "isobath/Dialect/Row/RowDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "isobath/Dialect/Row/RowTypes.h.inc"

namespace isobath::row {

/// The element type of any type of the dialect.
mlir::Type getElementType(mlir::Type type);

/// The elements of a row of any type but scalars.
int64_t getWidth(mlir::Type type);

} // namespace isobath::row

#endif // ISOBATH_DIALECT_ROW_ROWDIALECT_H
