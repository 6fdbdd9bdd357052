//===- CpuLaunchTest.cpp - Threads, row kernels, token groups -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every row once, whatever the threads; and the table of names.
//
//===----------------------------------------------------------------------===//

#include "CpuTensors.h"

#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <thread>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
struct Part {
  std::int64_t begin, end;
  bool operator==(const Part &) const = default;
};
} // namespace

/// A kernel that notes what it was asked for in arguments[0], [chunks].
static void notePart(void *const *arguments, std::int64_t begin,
                     std::int64_t end, std::int64_t chunk) {
  static_cast<Part *>(arguments[0])[chunk] = {begin, end};
}

static std::vector<Part> launch(std::int64_t rows, std::int64_t chunks) {
  std::vector<Part> parts(chunks, Part{-1, -1});
  void *arguments[] = {parts.data()};
  isobath_cpu_launch(notePart, arguments, rows, chunks, ISOBATH_PART_ROWS);
  return parts;
}

TEST(CpuLaunch, DividesRowsByChunksAlone) {
  const std::vector<Part> expected = {{0, 3}, {3, 6}, {6, 9}, {9, 10}};
  for (int count : {1, 2, 3, 7}) {
    const Threads scope(count);
    EXPECT_EQ(launch(10, 4), expected) << count << " threads";
  }
}

TEST(CpuLaunch, CallsTheKernelForEmptyChunksToo) {
  EXPECT_EQ(launch(2, 4), (std::vector<Part>{{0, 1}, {1, 2}, {2, 2}, {2, 2}}));
  EXPECT_EQ(launch(0, 2), (std::vector<Part>{{0, 0}, {0, 0}}));
}

TEST(CpuLaunch, RunsFromSeveralThreadsAtOnce) {
  const std::vector<Part> expected = launch(1000, 64);
  std::atomic<int> right = 0;
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        right += launch(1000, 64) == expected;
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 4 * 20);
}

/// Launches once more from within a chunk.
static void launchAgain(void *const *arguments, std::int64_t, std::int64_t,
                        std::int64_t chunk) {
  auto *parts = static_cast<Part *>(arguments[0]) + chunk * 4;
  void *inner[] = {parts};
  isobath_cpu_launch(notePart, inner, 10, 4, ISOBATH_PART_ROWS);
}

TEST(CpuLaunch, MayBeNested) {
  std::vector<Part> parts(8, Part{-1, -1});
  void *arguments[] = {parts.data()};
  const Threads scope(2);
  isobath_cpu_launch(launchAgain, arguments, 2, 2, ISOBATH_PART_ROWS);
  EXPECT_EQ(parts[0], (Part{0, 3}));
  EXPECT_EQ(parts[7], (Part{9, 10}));
}

TEST(CpuThreads, AreThoseAskedFor) {
  EXPECT_GE(availableThreads(), 1);
  EXPECT_EQ(threads(), availableThreads());
  const Threads scope(3);
  EXPECT_EQ(threads(), 3);
}

TEST(CpuDevice, RunsACallOfGeneratedCode) {
  CpuDevice device;
  const IsobathRowKernel addRows = [](void *const *words, std::int64_t begin,
                                      std::int64_t end, std::int64_t) {
    for (std::int64_t row = begin; row < end; ++row)
      static_cast<float *>(words[0])[row] += 1;
  };
  IsobathLaunch launch = {};
  launch.function = addRows;
  launch.rows = 5;
  launch.chunks = 2;
  std::vector<float> values = {1, 2, 3, 4, 5};
  void *words[] = {values.data()};
  isobath_launch(&device, &launch, words);
  EXPECT_EQ(values, (std::vector<float>{2, 3, 4, 5, 6}));

  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::vector<float> c(4), copy(4);
  isobath_product(&device, c.data(), a.data(), b.data(), 2, 2, 2, ISOBATH_F32,
                  ISOBATH_F32, ISOBATH_F32, 0);
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));
  isobath_copy(&device, copy.data(), c.data(), 4 * sizeof(float));
  EXPECT_EQ(copy, c);
}

//===----------------------------------------------------------------------===//
// Token groups
//===----------------------------------------------------------------------===//

TEST(CpuGroupTokens, AreStable) {
  const std::vector<std::int32_t> tokens = {4, 0, 4, 2, 0, 4};
  std::vector<std::int32_t> starts(7, -1), order(6, -1);
  isobath_cpu_group_tokens(starts.data(), order.data(), tokens.data(), 6, 6);
  EXPECT_EQ(starts, (std::vector<std::int32_t>{0, 2, 2, 3, 3, 6, 6}));
  EXPECT_EQ(order, (std::vector<std::int32_t>{1, 4, 3, 0, 2, 5}));
}

TEST(CpuGroupTokens, TakeNoneAndAllEqual) {
  std::vector<std::int32_t> starts(3, -1), order(4, -1);
  isobath_cpu_group_tokens(starts.data(), order.data(), nullptr, 0, 2);
  EXPECT_EQ(starts, (std::vector<std::int32_t>{0, 0, 0}));
  const std::vector<std::int32_t> tokens = {1, 1, 1, 1};
  isobath_cpu_group_tokens(starts.data(), order.data(), tokens.data(), 4, 2);
  EXPECT_EQ(starts, (std::vector<std::int32_t>{0, 0, 4}));
  EXPECT_EQ(order, (std::vector<std::int32_t>{0, 1, 2, 3}));
}
