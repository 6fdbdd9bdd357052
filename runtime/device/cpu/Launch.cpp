//===- Launch.cpp - Row kernels and token groups --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the library that generated kernels stand on directly.
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"
#include "Profile.h"
#include "isobath/runtime/cpu_library.h"

#include <algorithm>

void isobath_cpu_launch(IsobathRowKernel kernel, void *const *arguments,
                        int64_t rows, int64_t chunks, int32_t part) {
  const isobath::runtime::ProfiledCall timer{
      static_cast<isobath::runtime::CpuPart>(part)};
  const int64_t chunkRows = (rows + chunks - 1) / chunks;
  isobath::runtime::parallelFor(chunks, [=](int64_t chunk) {
    const int64_t begin = std::min(rows, chunk * chunkRows);
    kernel(arguments, begin, std::min(rows, begin + chunkRows), chunk);
  });
}

void isobath_cpu_group_tokens(int32_t *starts, int32_t *order,
                              const int32_t *tokens, int64_t count,
                              int64_t vocabulary) {
  // A counting sort. starts[v + 1] counts v, then is where v's group begins,
  // and moves on with every position put there until it is where v's ends.
  std::fill(starts, starts + vocabulary + 1, 0);
  for (int64_t i = 0; i < count; ++i)
    ++starts[tokens[i] + 1];
  int32_t begin = 0;
  for (int64_t v = 0; v < vocabulary; ++v) {
    const int32_t size = starts[v + 1];
    starts[v + 1] = begin;
    begin += size;
  }
  for (int64_t i = 0; i < count; ++i)
    order[starts[tokens[i] + 1]++] = static_cast<int32_t>(i);
}
