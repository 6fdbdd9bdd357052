//===- Optimize.h - LLVM's optimiser --------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SUPPORT_OPTIMIZE_H
#define ISOBATH_SUPPORT_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace isobath {

/// Runs LLVM's -O2 on `code`, as `tuning` says. Unless it says otherwise, the
/// vectoriser of straight-line code is off: what there is to vectorise in row
/// kernels is vectors already, and looking for more among their many stores
/// takes longer than everything else.
void optimize(llvm::Module &code, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning = {});

} // namespace isobath

#endif // ISOBATH_SUPPORT_OPTIMIZE_H
