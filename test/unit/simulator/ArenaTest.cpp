//===- ArenaTest.cpp - Buffers in an arena --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"

using namespace isobath::simulator;
using Kinds = std::vector<FindingKind>;

/// Thread i copies element i of the first buffer to the second.
static constexpr char copyKernel[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  %from = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %value = load i32, ptr addrspace(1) %from, align 4
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 %value, ptr addrspace(1) %to, align 4
  ret void
})";

namespace {
class Arena : public testing::Test {
protected:
  std::byte *begin(std::uint64_t offset, std::uint64_t bytes) {
    SimulatedProgram::check(program.device.beginBuffer(arena + offset, bytes));
    return arena + offset;
  }
  std::byte *beginWritten(std::uint64_t offset, std::uint64_t bytes) {
    std::byte *buffer = begin(offset, bytes);
    SimulatedProgram::check(program.device.markInitialized(buffer, bytes));
    return buffer;
  }
  LaunchReport copy(std::uint32_t elements, std::byte *x, std::byte *y) {
    return program.launch(SimulatedProgram::block(elements), x, y);
  }

  SimulatedProgram program{copyKernel};
  std::byte *arena = static_cast<std::byte *>(
      llvm::cantFail(program.device.allocateArena(4096, "arena")));
};
} // namespace

TEST_F(Arena, BuffersAreUsedAsOthers) {
  std::byte *x = beginWritten(0, 128), *y = begin(1024, 128);
  EXPECT_TRUE(copy(32, x, y).findings.empty());
  EXPECT_TRUE(llvm::cantFail(program.device.isInitialized(y, 128)));
}

TEST_F(Arena, BeyondABufferIsOutOfBounds) {
  std::byte *x = beginWritten(0, 128), *y = begin(1024, 128);
  LaunchReport report = copy(33, x, y);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::OutOfBounds});
  EXPECT_EQ(report.findings.front().notes,
            std::vector<std::string>{"its byte 0 is 0 bytes behind the 128 "
                                     "bytes of arena from byte 0"});
}

TEST_F(Arena, WhereNoBufferHasBegunIsOutOfBounds) {
  std::byte *x = beginWritten(0, 128);
  EXPECT_EQ(kindsOf(copy(1, x, arena + 2048)), Kinds{FindingKind::OutOfBounds});
}

TEST_F(Arena, WhatABufferHeldBeforeCountsNoMore) {
  beginWritten(0, 128);
  std::byte *x = begin(64, 128), *y = begin(1024, 128);
  EXPECT_EQ(kindsOf(copy(32, x, y)), Kinds{FindingKind::UninitializedRead});
  // The first one has ended.
  EXPECT_EQ(kindsOf(copy(1, arena, y)), Kinds{FindingKind::OutOfBounds});
}

TEST_F(Arena, EndsAllBuffersAtOnce) {
  std::byte *x = beginWritten(0, 128), *y = begin(1024, 128);
  SimulatedProgram::check(program.device.endBuffers(arena));
  EXPECT_EQ(kindsOf(copy(1, x, y)), Kinds{FindingKind::OutOfBounds});
}

TEST_F(Arena, BuffersLieInside) {
  EXPECT_EQ(llvm::toString(program.device.beginBuffer(arena + 4000, 128)),
            "given a buffer of 128 bytes to begin, expected it in an arena");
  auto *other = program.allocate<int>(4);
  EXPECT_EQ(llvm::toString(program.device.endBuffers(other)),
            "given memory that is no arena");
  begin(0, 64);
  SimulatedProgram::check(program.device.free(arena));
  EXPECT_EQ(llvm::toString(program.device.beginBuffer(arena, 64)),
            "given a buffer of 64 bytes to begin, expected it in an arena");
}
