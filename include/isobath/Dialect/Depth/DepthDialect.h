//===- DepthDialect.h - The depth dialect -------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_H
#define ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "isobath/Dialect/Depth/DepthDialect.h.inc"
#include "isobath/Dialect/Depth/DepthEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "isobath/Dialect/Depth/DepthAttributes.h.inc"

#endif // ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_H
