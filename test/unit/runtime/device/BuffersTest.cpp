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
  EXPECT_EQ(buffers.read<std::int32_t>("tokens").size(), 12u); // B = 3
  EXPECT_EQ(buffers.read<char>("arena").size(), 128u);
}

TEST(Buffers, AreAlignedZeroedAndRun) {
  BigramUnit bigram;
  const auto unit = bigram.load();
  Buffers buffers;
  const auto norm = buffers.plan(unit->entry("norm"), {{"gradients", "total"}});
  buffers.reserve("empty", 0);
  buffers.allocate();
  const auto total = buffers.write<float>("total");
  EXPECT_TRUE(isAligned(total));
  EXPECT_TRUE(isAligned(buffers.read<double>("norm")));
  EXPECT_TRUE(isAligned(buffers.read<char>("empty")));
  EXPECT_NE(buffers.read<char>("empty").data(), nullptr);
  EXPECT_TRUE(std::all_of(total.begin(), total.end(),
                          [](float value) { return value == 0; }));
  total[3] = 3;
  total[79] = 4;
  norm.run();
  EXPECT_EQ(buffers.read<double>("norm")[0], 25);
}

namespace {
/// The host's memory, which is copied to and from as if it were not.
class FarDevice : public Device {
public:
  bool isHostMemory() const override { return false; }
  void copyToDevice(void *to, const void *hostFrom,
                    std::uint64_t bytes) override {
    ++copiesThere;
    Device::copyToDevice(to, hostFrom, bytes);
  }
  void copyToHost(void *hostTo, const void *from,
                  std::uint64_t bytes) override {
    ++copiesBack;
    Device::copyToHost(hostTo, from, bytes);
  }
  void discard(void *, std::uint64_t bytes) override { discarded += bytes; }
  void finish() override { ++runs; }

  int copiesThere = 0, copiesBack = 0, runs = 0;
  std::uint64_t discarded = 0;
};
} // namespace

TEST(Buffers, AreCopiedToADeviceAndBackWhenTheyAreAskedFor) {
  BigramUnit bigram;
  const auto device = std::make_shared<FarDevice>();
  const Unit unit(bigram.unit(), nullptr, device);
  Buffers buffers;
  const auto norm = buffers.plan(unit.entry("norm"), {{"gradients", "total"}});
  const auto loss = buffers.plan(unit.entry("loss"));
  buffers.allocate();
  const auto total = buffers.write<float>("total");
  EXPECT_TRUE(std::all_of(total.begin(), total.end(),
                          [](float value) { return value == 0; }));
  total[3] = 3;
  total[79] = 4;
  EXPECT_EQ(device->copiesThere, 0);
  norm.run();
  EXPECT_EQ(device->runs, 1);
  EXPECT_EQ(device->copiesThere, 1); // what was written, and nothing else
  EXPECT_EQ(device->copiesBack, 0);
  EXPECT_EQ(buffers.read<double>("norm")[0], 25);
  EXPECT_EQ(buffers.read<double>("norm")[0], 25);
  EXPECT_EQ(device->copiesBack, 1); // once, however often it is read
  norm.run();
  EXPECT_EQ(device->copiesThere, 1); // nothing new
  // A part that is written leaves the rest as the device has it.
  buffers.write<float>("total")[3] = 0;
  norm.run();
  EXPECT_EQ(buffers.read<double>("norm")[0], 16);
  EXPECT_EQ(device->discarded, 0u); // the entry has no arena
  loss.run();
  EXPECT_EQ(device->discarded, 64u);
}

TEST(Buffers, DistributionsOfOneSiteStayApart) {
  BigramUnit bigram;
  auto &list = bigram.manifest["entries"][5]["buffers"];
  list[3] = list[2];
  const auto unit = bigram.load();
  Buffers buffers;
  buffers.plan(unit->entry("routes"));
  buffers.allocate();
  EXPECT_EQ(buffers.read<float>("routes.2").size(), 64u);
  EXPECT_NE(buffers.read<float>("routes.2").data(),
            buffers.read<float>("routes.3").data());
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
