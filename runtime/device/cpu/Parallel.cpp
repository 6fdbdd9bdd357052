//===- Parallel.cpp - Loops over threads ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GOMP_parallel is what g++ turns `#pragma omp parallel` into. It is declared
// here and not left to a pragma, since clang ignores the pragma for libgomp
// without saying so.
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/host_memory.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <sched.h>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_max_threads();
int omp_in_parallel();
void omp_set_num_threads(int count);
}

namespace isobath::runtime {

//===----------------------------------------------------------------------===//
// The number of threads
//===----------------------------------------------------------------------===//

static std::atomic<int> chosenThreads{0}; // 0: not chosen

int availableThreads() {
  static const int count = [] {
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
      return 1; // more processors than the set has room for
    return std::max(1, CPU_COUNT(&processors));
  }();
  return count;
}

void setThreads(int count) {
  assert(count >= 1 && "a loop needs a thread");
  chosenThreads = std::max(1, count);
}

int threads() {
  const int chosen = chosenThreads;
  return chosen ? chosen : availableThreads();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
struct Loop {
  std::int64_t count;
  void (*body)(void *, std::int64_t);
  void *context;
  std::atomic<std::int64_t> next{0};
};
} // namespace

static void runLoop(void *data) {
  auto &loop = *static_cast<Loop *>(data);
  // A team of one is no parallel region to oneDNN; this keeps it from starting
  // threads of its own there.
  const int outside = omp_get_max_threads();
  omp_set_num_threads(1);
  for (;;) {
    const std::int64_t i = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= loop.count)
      break;
    loop.body(loop.context, i);
  }
  omp_set_num_threads(outside);
}

void parallelForEach(std::int64_t count, void (*body)(void *, std::int64_t),
                     void *context) {
  Loop loop{count, body, context};
  const std::int64_t team = std::min<std::int64_t>(count, threads());
  if (team <= 1 || omp_in_parallel())
    runLoop(&loop);
  else
    GOMP_parallel(runLoop, &loop, static_cast<unsigned>(team), 0);
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

namespace {
struct Workspace {
  HostMemory memory;
  std::size_t bytes = 0;
};
} // namespace

void *threadWorkspace(std::size_t bytes) {
  static thread_local Workspace workspace;
  if (bytes <= workspace.bytes)
    return workspace.memory.get();
  // A huge page pays for less than a whole one, too.
  const std::size_t worthOne = hugePageBytes / 8;
  workspace.bytes = bytes < worthOne ? bytes : std::max(bytes, hugePageBytes);
  workspace.memory.reset();
  workspace.memory = allocateHostMemory(workspace.bytes);
  if (!workspace.memory) {
    std::fprintf(stderr, "error: cpu: no memory for %zu bytes of workspace\n",
                 workspace.bytes);
    std::abort();
  }
  return workspace.memory.get();
}

} // namespace isobath::runtime
