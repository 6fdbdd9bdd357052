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
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace isobath {

/// A unit in memory, with what keeps its code alive.
struct JitUnit {
  const IsobathUnit *unit = nullptr;
  std::shared_ptr<void> owner;
};

/// A name that a unit may use, and what it stands for in this process.
struct JitSymbol {
  llvm::StringRef name;
  void *address;
};

/// Links `archive`, which compileToArchive made for this machine, into this
/// process. It may use `symbols` and everything that the process exports.
llvm::Expected<JitUnit> loadArchive(std::unique_ptr<llvm::MemoryBuffer> archive,
                                    llvm::ArrayRef<JitSymbol> symbols = {});

} // namespace isobath

#endif // ISOBATH_DRIVER_JIT_H
