//===- FindingsTest.cpp - Errors that kernels have ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel with an error has a twin without it, whose result is right for
// every seed.
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"

using namespace isobath::simulator;
using testing::Test;
using Kinds = std::vector<FindingKind>;

static constexpr std::uint64_t seeds[] = {0, 1, 2, 3, 4};

/// Thread i adds element (i + 1) % 64 to its own, through shared memory.
static std::string makeNeighbourKernel(const std::string &barrier) {
  return R"(
@buffer = internal addrspace(3) global [64 x i32] poison, align 16
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  %from = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %own = load i32, ptr addrspace(1) %from, align 4
  %slot = getelementptr i32, ptr addrspace(3) @buffer, i64 %i
  store i32 %own, ptr addrspace(3) %slot, align 4
  )" + barrier +
         R"(
  %i1 = add i64 %i, 1
  %next = and i64 %i1, 63
  %other = getelementptr i32, ptr addrspace(3) @buffer, i64 %next
  %value = load i32, ptr addrspace(3) %other, align 4
  %sum = add i32 %own, %value
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 %sum, ptr addrspace(1) %to, align 4
  ret void
})";
}

static std::vector<std::int32_t> countUp(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (auto [i, value] : llvm::enumerate(values))
    value = i;
  return values;
}

TEST(Findings, MissingBarrierIsARace) {
  SimulatedProgram program(makeNeighbourKernel(""));
  auto *x = program.allocate(countUp(64)), *y = program.allocate<int>(64);
  LaunchReport report = program.launch(program.block(64), x, y);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_TRUE(report.complete);
  // The order decides whether the first is a read of nothing or a race.
  EXPECT_TRUE(
      llvm::is_contained(kindsOf(report), FindingKind::SharedRace) ||
      llvm::is_contained(kindsOf(report), FindingKind::UninitializedRead));
  EXPECT_EQ(report.findings[0].kernel, "kernel");
  EXPECT_EQ(report.findings[0].block, (Dim3{0, 0, 0}));
  EXPECT_NE(report.findings[0].location.find("addrspace(3)"),
            std::string::npos);
}

// Functions get one more argument each; those that had it got another when a
// module had several of them.
TEST(Findings, SeveralFunctionsOfAModuleRun) {
  SimulatedProgram program(R"(
define internal i32 @double(i32 %x) {
  %sum = add i32 %x, %x
  ret i32 %sum
}
define ptx_kernel void @other(ptr addrspace(1) %y) {
  store i32 7, ptr addrspace(1) %y, align 4
  ret void
}
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %own = load i32, ptr addrspace(1) %x, align 4
  %twice = call i32 @double(i32 %own)
  store i32 %twice, ptr addrspace(1) %y, align 4
  ret void
}
declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
)");
  auto *x = program.allocate(std::vector<int>{21}),
       *y = program.allocate<int>(1);
  LaunchReport report = program.launch(program.block(1), x, y);
  EXPECT_EQ(kindsOf(report), Kinds());
  EXPECT_EQ(program.read(y, 1), std::vector<int>{42});
}

TEST(Findings, BarrierOrdersSharedMemory) {
  SimulatedProgram program(makeNeighbourKernel(
      "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"));
  for (std::uint64_t seed : seeds) {
    auto *x = program.allocate(countUp(64)), *y = program.allocate<int>(64);
    LaunchReport report = program.launch(program.block(64, seed), x, y);
    EXPECT_EQ(kindsOf(report), Kinds());
    EXPECT_EQ(report.counts.barriers, 1u);
    std::vector<int> result = program.read(y, 64);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], i + (i + 1) % 64);
  }
}

/// Thread i copies element i, if i is at most `last`.
static std::string makeCopyKernel(const std::string &type,
                                  const std::string &align) {
  return R"(
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y,
                               i32 %last) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp sle i32 %tid, %last
  br i1 %inside, label %copy, label %end
copy:
  %i = zext i32 %tid to i64
  %from = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %value = load )" +
         type + R"(, ptr addrspace(1) %from, align )" + align + R"(
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store )" +
         type + R"( %value, ptr addrspace(1) %to, align )" + align + R"(
  br label %end
end:
  ret void
})";
}

TEST(Findings, OneTooManyIsOutOfBounds) {
  SimulatedProgram program(makeCopyKernel("i32", "4"));
  auto *x = program.allocate(countUp(40)), *y = program.allocate<int>(40);
  LaunchReport report = program.launch(program.block(64), x, y, 40);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::OutOfBounds});
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.findings[0].thread, (Dim3{40, 0, 0}));
  EXPECT_EQ(report.findings[0].notes[0],
            "its byte 0 is 0 bytes behind the 160 bytes of buffer");

  for (std::uint64_t seed : seeds) {
    LaunchReport clean = program.launch(program.block(64, seed), x, y, 39);
    EXPECT_EQ(kindsOf(clean), Kinds());
    EXPECT_EQ(program.read(y, 40), countUp(40));
  }
}

TEST(Findings, UseAfterFree) {
  SimulatedProgram program(makeCopyKernel("i32", "4"));
  auto *x = program.allocate(countUp(32)), *y = program.allocate<int>(32);
  program.check(program.device.free(x));
  LaunchReport report = program.launch(program.block(32), x, y, 31);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::UseAfterFree});
}

TEST(Findings, UninitializedRead) {
  SimulatedProgram program(makeCopyKernel("i32", "4"));
  auto *x = program.allocate<int>(32), *y = program.allocate<int>(32);
  program.check(program.device.fill(x, 1, 31 * 4));
  LaunchReport report = program.launch(program.block(32), x, y, 31);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::UninitializedRead});
  EXPECT_EQ(report.findings[0].thread, (Dim3{31, 0, 0}));
  EXPECT_TRUE(report.complete);
}

TEST(Findings, MisalignedVector) {
  SimulatedProgram program(makeCopyKernel("<4 x i32>", "16"));
  auto *x = program.allocate(countUp(64)), *y = program.allocate<int>(64);
  LaunchReport report = program.launch(program.block(32), x, y, 1);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::Misaligned});
  EXPECT_EQ(report.findings[0].notes[0],
            "its address is 4 more than a multiple of 16");
  LaunchReport clean = program.launch(program.block(32), x, y, 0);
  EXPECT_EQ(kindsOf(clean), Kinds());
}

TEST(Findings, ElementsOfAMaskedTail) {
  // Two threads copy 7 numbers as vectors of 4, all or the right ones of them.
  for (bool right : {true, false}) {
    std::string mask = right ? "%m" : "<i1 1, i1 1, i1 1, i1 1>";
    SimulatedProgram program(R"(
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>,
                                             <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
  %m = select i1 %first, <4 x i1> <i1 1, i1 1, i1 1, i1 1>,
                         <4 x i1> <i1 1, i1 1, i1 1, i1 0>
  %i = zext i32 %tid to i64
  %from = getelementptr <4 x i32>, ptr addrspace(1) %x, i64 %i
  %to = getelementptr <4 x i32>, ptr addrspace(1) %y, i64 %i
  %v = call <4 x i32> @llvm.masked.load.v4i32.p1(
      ptr addrspace(1) align 16 %from, <4 x i1> )" +
                             mask + R"(, <4 x i32> zeroinitializer)
  call void @llvm.masked.store.v4i32.p1(
      <4 x i32> %v, ptr addrspace(1) align 16 %to, <4 x i1> %m)
  ret void
})");
    auto *x = program.allocate(countUp(7)), *y = program.allocate<int>(7);
    LaunchReport report = program.launch(program.block(2), x, y);
    if (right) {
      EXPECT_EQ(kindsOf(report), Kinds());
      EXPECT_EQ(program.read(y, 7), countUp(7));
      EXPECT_EQ(report.counts.loads.bytes, 28u);
      EXPECT_EQ(report.counts.loads.requests, 4u);
    } else {
      EXPECT_EQ(kindsOf(report), Kinds{FindingKind::OutOfBounds});
    }
  }
}

TEST(Findings, PointersOfNoAddressSpace) {
  // The same code reads global, shared and own memory.
  SimulatedProgram program(R"(
@buffer = internal addrspace(3) global i32 poison, align 4
define i32 @read(ptr %p) noinline {
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %own = alloca i32, align 4
  store i32 3, ptr %own, align 4
  store i32 20, ptr addrspace(3) @buffer, align 4
  %global = addrspacecast ptr addrspace(1) %x to ptr
  %shared = addrspacecast ptr addrspace(3) @buffer to ptr
  %a = call i32 @read(ptr %global)
  %b = call i32 @read(ptr %shared)
  %c = call i32 @read(ptr %own)
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  store i32 %abc, ptr addrspace(1) %y, align 4
  ret void
})");
  auto *x = program.allocate(std::vector<int>{100});
  auto *y = program.allocate<int>(1);
  LaunchReport report = program.launch(program.block(1), x, y);
  EXPECT_EQ(kindsOf(report), Kinds());
  EXPECT_EQ(program.read(y, 1)[0], 123);
  EXPECT_EQ(report.counts.loads.bytes, 4u);
  EXPECT_EQ(report.counts.shared.bytes, 8u);
  program.check(program.device.free(x));
  EXPECT_EQ(kindsOf(program.launch(program.block(1), x, y)),
            Kinds{FindingKind::UseAfterFree});
}

TEST(Findings, WritesOfTwoBlocksAreARace) {
  SimulatedProgram program(makeCopyKernel("i32", "4"));
  auto *x = program.allocate(countUp(32)), *y = program.allocate<int>(32);
  LaunchReport report = program.launch({{2, 1, 1}, {32, 1, 1}}, x, y, 31);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::GlobalRace});
  EXPECT_EQ(report.findings[0].occurrences, 32u);
  // Two launches one after the other are none.
  EXPECT_EQ(kindsOf(program.launch(program.block(32), x, y, 31)), Kinds());
}

TEST(Findings, ThreadsThatLeaveBeforeABarrier) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i32 %threads) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wait = icmp slt i32 %tid, %threads
  br i1 %wait, label %barrier, label %end
barrier:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
})");
  LaunchReport report = program.launch(program.block(64), 33);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::BarrierDivergence});
  EXPECT_EQ(report.findings[0].message,
            "33 of 64 threads reach a barrier, and wait for the others for "
            "ever");
  EXPECT_EQ(report.findings[0].notes[0], "thread (33, 0, 0) has ended");
  EXPECT_EQ(kindsOf(program.launch(program.block(64), 64)), Kinds());
}

TEST(Findings, BarriersAtTwoPlacesOfAWarp) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i32 %border) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp slt i32 %tid, %border
  br i1 %low, label %first, label %second
first:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
second:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
})");
  EXPECT_EQ(kindsOf(program.launch(program.block(64), 16)),
            Kinds{FindingKind::BarrierDivergence});
  EXPECT_EQ(kindsOf(program.launch(program.block(64), 32)), Kinds());
}

/// The lanes below `lanes` exchange with their neighbour in `mask`.
static constexpr char shuffleKernel[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %y, i32 %lanes, i32 %mask) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp slt i32 %tid, %lanes
  br i1 %low, label %exchange, label %end
exchange:
  %value = call i32 @llvm.nvvm.shfl.sync.bfly.i32(
      i32 %mask, i32 %tid, i32 1, i32 31)
  %i = zext i32 %tid to i64
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 %value, ptr addrspace(1) %to, align 4
  br label %end
end:
  ret void
})";

TEST(Findings, MaskOfLanesThatDoNotCome) {
  SimulatedProgram program(shuffleKernel);
  auto *y = program.allocate<int>(32);
  EXPECT_EQ(kindsOf(program.launch(program.block(32), y, 16, -1)),
            Kinds{FindingKind::WarpDivergence});
  for (std::uint64_t seed : seeds) {
    EXPECT_EQ(kindsOf(program.launch(program.block(32, seed), y, 16, 0xffff)),
              Kinds());
    std::vector<int> result = program.read(y, 16);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(result[i], i ^ 1);
  }
}

TEST(Findings, LaneOutsideOfItsMask) {
  SimulatedProgram program(shuffleKernel);
  auto *y = program.allocate<int>(32);
  LaunchReport report = program.launch(program.block(32), y, 32, 0xffff);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::WarpDivergence});
  EXPECT_NE(report.findings[0].message.find("does not belong to its own mask"),
            std::string::npos);
}

TEST(Findings, ReadFromALaneOutsideOfTheMask) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i32 %source) {
  %value = call i32 @llvm.nvvm.shfl.sync.idx.i32(
      i32 65535, i32 1, i32 %source, i32 31)
  ret void
})");
  LaunchReport report = program.launch(program.block(16), 16);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::WarpDivergence});
  EXPECT_EQ(report.findings[0].occurrences, 16u);
  EXPECT_EQ(kindsOf(program.launch(program.block(16), 15)), Kinds());
}

TEST(Findings, EndlessLoop) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %flag) {
  br label %wait
wait:
  %value = load volatile i32, ptr addrspace(1) %flag, align 4
  %done = icmp ne i32 %value, 0
  br i1 %done, label %end, label %wait
end:
  ret void
})");
  auto *flag = program.allocate(std::vector<int>{0});
  LaunchReport report = program.launch(program.block(1), flag);
  EXPECT_EQ(kindsOf(report), Kinds{FindingKind::Endless});
}

TEST(Findings, Trap) {
  SimulatedProgram program(R"(
declare void @llvm.trap()
define ptx_kernel void @kernel() {
  call void @llvm.trap()
  unreachable
})");
  EXPECT_EQ(kindsOf(program.launch(program.block(1))),
            Kinds{FindingKind::Trap});
}
