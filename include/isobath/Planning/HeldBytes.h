//===- HeldBytes.h - What waits in the arena for the backward pass --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_PLANNING_HELDBYTES_H
#define ISOBATH_PLANNING_HELDBYTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace isobath {

/// The first op of an entry that uses the argument of this name, or a view of
/// it; null if there is none.
mlir::Operation *findFirstUser(mlir::func::FuncOp entry, llvm::StringRef name);

/// The bytes of those buffers in the arena of a planned entry that are in use
/// before the op `middle` of it and after.
int64_t countHeldBytes(mlir::func::FuncOp entry, mlir::Operation *middle);

} // namespace isobath

#endif // ISOBATH_PLANNING_HELDBYTES_H
