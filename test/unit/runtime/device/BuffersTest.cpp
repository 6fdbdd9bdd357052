//===- BuffersTest.cpp - The memory that entries work in ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharing, alignment, the planned sum, and running out of memory.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/buffers.h"

#include "BigramUnit.h"
#include "TestFiles.h"

#include <algorithm>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

// An allocation that fails is this file's subject, not a fault of the program.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

template <typename Value> static bool isAligned(std::span<Value> values) {
  return reinterpret_cast<std::uintptr_t>(values.data()) %
             ISOBATH_ABI_ALIGNMENT ==
         0;
}

TEST(Buffers, AreCountedOnceAndInWholeUnits) {
  BigramUnit bigram;
  const auto unit = bigram.load();
  Buffers buffers;
  EXPECT_EQ(buffers.plannedBytes(), 0u);
  buffers.plan(unit->entry("norm")); // gradients 320, norm 8
  EXPECT_EQ(buffers.plannedBytes(), 320u + 64);
  buffers.plan(unit->entry("update")); // + parameters, two moments, scalars
  EXPECT_EQ(buffers.plannedBytes(), 320u + 64 + 3 * 320 + 64);
  buffers.plan(unit->entry("norm"), {{"gradients", "total"}}); // + total
  EXPECT_EQ(buffers.plannedBytes(), 320u + 64 + 3 * 320 + 64 + 320);
}

TEST(Buffers, TakeTheLargestOfTheBytesAskedFor) {
  BigramUnit bigram;
  const auto unit = bigram.load();
  Buffers buffers;
  buffers.plan(unit->entry("gradient"));
  buffers.plan(unit->entry("loss"));
  buffers.allocate();
  EXPECT_EQ(buffers.get<std::int32_t>("tokens").size(), 12u); // B = 3
  EXPECT_EQ(buffers.get<char>("arena").size(), 128u);
}

TEST(Buffers, AreAlignedZeroedAndRun) {
  BigramUnit bigram;
  const auto unit = bigram.load();
  Buffers buffers;
  const auto norm = buffers.plan(unit->entry("norm"), {{"gradients", "total"}});
  buffers.reserve("empty", 0);
  buffers.allocate();
  const auto total = buffers.get<float>("total");
  EXPECT_TRUE(isAligned(total));
  EXPECT_TRUE(isAligned(buffers.get<double>("norm")));
  EXPECT_TRUE(isAligned(buffers.get<char>("empty")));
  EXPECT_NE(buffers.get<char>("empty").data(), nullptr);
  EXPECT_TRUE(std::all_of(total.begin(), total.end(),
                          [](float value) { return value == 0; }));
  total[3] = 3;
  total[79] = 4;
  norm.run();
  EXPECT_EQ(buffers.get<double>("norm")[0], 25);
}

TEST(Buffers, DistributionsOfOneSiteStayApart) {
  BigramUnit bigram;
  auto &list = bigram.manifest["entries"][5]["buffers"];
  list[3] = list[2];
  const auto unit = bigram.load();
  Buffers buffers;
  buffers.plan(unit->entry("routes"));
  buffers.allocate();
  EXPECT_EQ(buffers.get<float>("routes.2").size(), 64u);
  EXPECT_NE(buffers.get<float>("routes.2").data(),
            buffers.get<float>("routes.3").data());
}

TEST(Buffers, RunningOutOfMemoryNamesTheBuffer) {
  Buffers buffers;
  buffers.reserve("arena", std::uint64_t(1) << 60);
  EXPECT_EQ(messageOf([&] { buffers.allocate(); }),
            "out of memory: buffer arena needs 1152921504606846976 bytes, of "
            "1152921504606846976 planned in all");
}

TEST(Buffers, SumsDoNotWrapAround) {
  Buffers buffers;
  buffers.reserve("first", ~std::uint64_t(0));
  buffers.reserve("second", ~std::uint64_t(0));
  EXPECT_EQ(buffers.plannedBytes(), ~std::uint64_t(0));
}
