//===- DepthDialect.cpp - The depth dialect -----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthDialect.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath::depth;

#include "isobath/Dialect/Depth/DepthDialect.cpp.inc"
#include "isobath/Dialect/Depth/DepthEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "isobath/Dialect/Depth/DepthAttributes.cpp.inc"

void DepthDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "isobath/Dialect/Depth/DepthAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "isobath/Dialect/Depth/DepthOps.cpp.inc"
      >();
}
