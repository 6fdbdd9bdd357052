//===- GuardsTest.cpp - Kernels that must not harm the simulator ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"

using namespace isobath::simulator;
using Kinds = std::vector<FindingKind>;

TEST(Guards, DivisionByZero) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %y, i32 %a, i32 %b) {
  %q = sdiv i32 %a, %b
  store i32 %q, ptr addrspace(1) %y, align 4
  ret void
})");
  auto *y = program.allocate<int>(1);
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, 7, 0)),
            Kinds{FindingKind::Division});
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, INT32_MIN, -1)),
            Kinds{FindingKind::Division});
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, 7, 2)), Kinds());
  EXPECT_EQ(program.read(y, 1)[0], 3);
}

TEST(Guards, VariableOnTheStack) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %y, i64 %i) {
  %a = alloca [4 x i32], align 4
  %p = getelementptr i32, ptr %a, i64 %i
  store volatile i32 5, ptr %p, align 4
  %v = load volatile i32, ptr %p, align 4
  store i32 %v, ptr addrspace(1) %y, align 4
  ret void
})");
  auto *y = program.allocate<int>(1);
  for (std::int64_t i : {std::int64_t(4), std::int64_t(-1),
                         std::int64_t(100000000), INT64_MAX / 4}) {
    LaunchReport report = program.launch(program.block(1), y, i);
    EXPECT_EQ(kindsOf(report), Kinds{FindingKind::OutOfBounds}) << i;
  }
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, std::int64_t(3))),
            Kinds());
  EXPECT_EQ(program.read(y, 1)[0], 5);
}

TEST(Guards, NegativeLengthInSharedMemory) {
  SimulatedProgram program(R"(
@buffer = internal addrspace(3) global [16 x i32] poison, align 16
declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
define ptx_kernel void @kernel(i64 %n) {
  call void @llvm.memset.p3.i64(ptr addrspace(3) align 4 @buffer, i8 0,
                                i64 %n, i1 false)
  ret void
})");
  for (std::int64_t n : {std::int64_t(-8), std::int64_t(65)})
    EXPECT_EQ(kindsOf(program.launch(program.block(1), n)),
              Kinds{FindingKind::OutOfBounds});
  EXPECT_EQ(kindsOf(program.launch(program.block(1), std::int64_t(64))),
            Kinds());
}

TEST(Guards, CycleWithTwoEntries) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i1 %c) {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  br label %a
})");
  EXPECT_EQ(kindsOf(program.launch(program.block(1), true)),
            Kinds{FindingKind::Endless});
}

TEST(Guards, AccessOfNoBytes) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %y) {
  %v = load volatile [0 x i32], ptr addrspace(1) %y, align 4
  ret void
})");
  EXPECT_EQ(kindsOf(program.launch(program.block(1), program.allocate<int>(1))),
            Kinds());
}

TEST(Guards, StoreToAConstant) {
  SimulatedProgram program(R"(
@table = addrspace(1) constant [2 x i32] [i32 1, i32 2], align 4
define ptx_kernel void @kernel(ptr addrspace(1) %y, i32 %c) {
  %own = icmp eq i32 %c, 0
  %p = select i1 %own, ptr addrspace(1) %y, ptr addrspace(1) @table
  store i32 7, ptr addrspace(1) %p, align 4
  ret void
})");
  auto *y = program.allocate<int>(1);
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, 1)),
            Kinds{FindingKind::ConstantWrite});
  EXPECT_EQ(kindsOf(program.launch(program.block(1), y, 0)), Kinds());
}

TEST(Guards, PiecesThatDoNotDivideTheBanks) {
  SimulatedProgram program(R"(
@p = internal addrspace(3) global [64 x <4 x i32>] poison, align 16
define ptx_kernel void @kernel() {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  %slot = getelementptr <4 x i32>, ptr addrspace(3) @p, i64 %i
  store <3 x i32> <i32 1, i32 2, i32 3>, ptr addrspace(3) %slot, align 16
  ret void
})");
  LaunchReport report = program.launch(program.block(32));
  EXPECT_EQ(kindsOf(report), Kinds());
  EXPECT_EQ(report.counts.shared.bytes, 32u * 12);
  EXPECT_EQ(report.counts.shared.wavefronts, 4u);
}

TEST(Guards, KernelWithTheNameOfALibraryFunction) {
  SimulatedProgram program(R"(
define ptx_kernel void @memcpy(ptr addrspace(1) %y) {
  store i32 1, ptr addrspace(1) %y, align 4
  ret void
}
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y,
                               i64 %n) {
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align 4 %y,
                                   ptr addrspace(1) align 4 %x, i64 %n,
                                   i1 false)
  ret void
})");
  auto *x = program.allocate(std::vector<int>{1, 2, 3, 4});
  auto *y = program.allocate<int>(4);
  EXPECT_EQ(kindsOf(program.launch(program.block(1), x, y, std::int64_t(16))),
            Kinds());
  EXPECT_EQ(program.read(y, 4), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Guards, RefusedAddressSpaces) {
  EXPECT_EQ(SimulatedProgram("define ptx_kernel void @kernel("
                             "ptr addrspace(5) %x) { ret void }")
                .message,
            "@kernel: given parameter 0 in address space 5, expected 0 or 1");
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i64 %x) {
  %p = inttoptr i64 %x to ptr addrspace(256)
  store i32 0, ptr addrspace(256) %p, align 4
  ret void
})");
  EXPECT_EQ(program.message, "@kernel: given address space 256, expected 0, 1, "
                             "3, 4 or 5");
  SimulatedProgram local(R"(
define ptx_kernel void @kernel(i64 %x) {
  %p = inttoptr i64 %x to ptr addrspace(5)
  store i32 0, ptr addrspace(5) %p, align 4
  ret void
})");
  EXPECT_EQ(kindsOf(local.launch(local.block(1), std::int64_t(4096))),
            Kinds{FindingKind::OutOfBounds});
}

TEST(Guards, RefusedVariablesAndVectors) {
  EXPECT_EQ(SimulatedProgram(R"(
@s = internal addrspace(3) global i32 poison, align 4
@p = addrspace(1) global ptr addrspace(3) @s, align 8
)")
                .message,
            "@s: given a use of its address in the value of @p, expected uses "
            "in functions");
  EXPECT_EQ(SimulatedProgram(R"(
define ptx_kernel void @kernel() {
  %v = alloca i32, align 8192
  store volatile i32 0, ptr %v, align 4
  ret void
})")
                .message,
            "@kernel: given a variable on the stack aligned to 8192 bytes, "
            "expected at most 4096");
  EXPECT_EQ(SimulatedProgram(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %x) {
  store <vscale x 4 x i32> zeroinitializer, ptr addrspace(1) %x, align 4
  ret void
})")
                .message,
            "@kernel: given a vector without a fixed length, which no NVIDIA "
            "GPU has");
}
