//===- CompileModule.h - Kernels as code in this process ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_COMPILEMODULE_H
#define ISOBATH_LIB_SIMULATOR_COMPILEMODULE_H

#include "Launch.h"
#include "RewriteModule.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace isobath::simulator {

struct SimulatedKernel {
  SimulatedModule *module = nullptr;
  std::string name;
  RewrittenKernel description;
  KernelEntry entry = nullptr;
};

class SimulatedModule {
public:
  RewrittenModule description;
  llvm::StringMap<SimulatedKernel> kernels;
  /// Addresses of description.globals.
  std::vector<std::byte *> globals;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// Rewrites, compiles and links a copy of `module`.
llvm::Expected<std::unique_ptr<SimulatedModule>>
compileModule(const llvm::Module &module);

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_COMPILEMODULE_H
