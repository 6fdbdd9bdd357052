//===- Optimize.h - LLVM's middle end ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_DRIVER_OPTIMIZE_H
#define ISOBATH_LIB_DRIVER_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace isobath {

/// Runs LLVM's -O2 on `code`, but for the vectoriser of straight-line code:
/// what there is to vectorise in row kernels is vectors already, and looking
/// for more among their many stores takes longer than everything else.
void optimize(llvm::Module &code, llvm::TargetMachine &machine);

} // namespace isobath

#endif // ISOBATH_LIB_DRIVER_OPTIMIZE_H
