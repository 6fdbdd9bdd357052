//===- Jit.h - From LLVM's dialect to code in this process --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_JIT_H
#define ISOBATH_DRIVER_JIT_H

#include "isobath/runtime/abi.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace isobath {

/// A unit in memory, with what keeps its code alive.
struct JitUnit {
  const IsobathUnit *unit = nullptr;
  std::shared_ptr<void> owner;
};

/// Links `object`, which compileToObject made for this machine, into this
/// process.
llvm::Expected<JitUnit> loadObject(std::unique_ptr<llvm::MemoryBuffer> object);

/// Compiles `module`, to which emitUnit added a unit, for this machine.
llvm::Expected<JitUnit> compileInProcess(mlir::ModuleOp module);

} // namespace isobath

#endif // ISOBATH_DRIVER_JIT_H
