//===- cpu.h - What the processor can do ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object or a training binary may have been compiled for another machine
// than the one that runs it. Its manifest names the instructions that it uses;
// unit.h refuses it where one of them is missing, before any of its code runs.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_CPU_H
#define ISOBATH_RUNTIME_CPU_H

#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// The processor that a unit was compiled for.
struct CpuRequirement {
  std::string name;                  // "x86-64-v3"; empty: this machine
  std::vector<std::string> features; // "avx2", "fma", …
};

/// The instruction sets beyond the first x86-64 processors' that cpuHas() knows
/// by name. Empty on other architectures.
std::vector<std::string_view> knownCpuFeatures();

/// Whether this machine has a feature. One that is not known is not there.
bool cpuHas(std::string_view feature);

/// Throws Error that lists what `requirement` needs and this machine lacks.
void checkCpu(const CpuRequirement &requirement);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_CPU_H
