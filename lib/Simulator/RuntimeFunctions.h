//===- RuntimeFunctions.h - What compiled kernels call --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_RUNTIMEFUNCTIONS_H
#define ISOBATH_LIB_SIMULATOR_RUNTIMEFUNCTIONS_H

#include "llvm/ADT/StringRef.h"
#include <utility>
#include <vector>

namespace isobath::simulator {

/// Names and addresses, those of ThreadState.h and what code for the host may
/// need besides.
std::vector<std::pair<llvm::StringRef, void *>> getRuntimeFunctions();

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_RUNTIMEFUNCTIONS_H
