//===- CountKernels.h - What kernels move on the simulated device ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_COUNTKERNELS_H
#define ISOBATH_TOOLS_ISOBATH_COUNTKERNELS_H

#include "FunctionProgram.h"
#include "isobath/Driver/ExplainReport.h"
#include "isobath/runtime/unit.h"

namespace isobath {

/// What a function does to a GPU's memory, whose time there is unknown.
struct FunctionBytes {
  std::string name;
  /// Of arguments and results: what it must read and write once.
  std::uint64_t compulsory = 0;
  /// Of all its kernels: sectors that a launch touches first.
  std::uint64_t counted = 0;
  std::uint64_t sectors = 0, idealSectors = 0;
  std::uint64_t wavefronts = 0, idealWavefronts = 0;
  std::uint64_t launches = 0;
};

/// Runs all functions of a program on the simulated device once. Throws Error.
std::vector<FunctionBytes> countFunctions(const FunctionProgram &program);

/// The same, and prints what they did on standard output: as a table, or as a
/// JSON object.
void printBytes(const FunctionProgram &program, bool json);

/// Runs one gradient of `unit`, the program of `report` on the simulated
/// device, with initial parameters and arbitrary tokens, and adds to the
/// report's device kernels what they moved. Throws Error.
void countKernels(const runtime::Unit &unit, ExplainReport &report);

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_COUNTKERNELS_H
