//===- Cpu.cpp - What the processor can do --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's builtin takes literals only; the table turns names into them.
// It has what libgcc 12 can tell.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/cpu.h"

#include "isobath/runtime/error.h"

namespace isobath::runtime {

namespace {
struct Feature {
  std::string_view name;
  bool present;
};
} // namespace

static const std::vector<Feature> &features() {
#if defined(__x86_64__)
#define FEATURE(name) Feature{name, __builtin_cpu_supports(name) != 0}
  static const std::vector<Feature> table = {
      FEATURE("sse3"),
      FEATURE("ssse3"),
      FEATURE("sse4a"),
      FEATURE("sse4.1"),
      FEATURE("sse4.2"),
      FEATURE("popcnt"),
      FEATURE("aes"),
      FEATURE("pclmul"),
      FEATURE("avx"),
      FEATURE("avx2"),
      FEATURE("fma"),
      FEATURE("fma4"),
      FEATURE("xop"),
      FEATURE("f16c"),
      FEATURE("bmi"),
      FEATURE("bmi2"),
      FEATURE("lzcnt"),
      FEATURE("movbe"),
      FEATURE("gfni"),
      FEATURE("vaes"),
      FEATURE("vpclmulqdq"),
      FEATURE("avxvnni"),
      FEATURE("avx512f"),
      FEATURE("avx512cd"),
      FEATURE("avx512bw"),
      FEATURE("avx512dq"),
      FEATURE("avx512vl"),
      FEATURE("avx512ifma"),
      FEATURE("avx512vbmi"),
      FEATURE("avx512vbmi2"),
      FEATURE("avx512vnni"),
      FEATURE("avx512bitalg"),
      FEATURE("avx512vpopcntdq"),
      FEATURE("avx512vp2intersect"),
      FEATURE("avx512bf16"),
      FEATURE("avx512fp16"),
  };
#undef FEATURE
#else
  static const std::vector<Feature> table;
#endif
  return table;
}

std::vector<std::string_view> knownCpuFeatures() {
  std::vector<std::string_view> names;
  for (const Feature &feature : features())
    names.push_back(feature.name);
  return names;
}

bool cpuHas(std::string_view wanted) {
  for (const Feature &feature : features())
    if (feature.name == wanted)
      return feature.present;
  return false;
}

void checkCpu(const CpuRequirement &requirement) {
  std::string missing;
  for (const std::string &feature : requirement.features)
    if (!cpuHas(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    fail("cpu: given a machine without ", printable(missing),
         ", expected one that runs code for ", printable(requirement.name),
         "; compile the model for this machine (--cpu)");
}

} // namespace isobath::runtime
