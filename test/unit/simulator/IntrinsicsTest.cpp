//===- IntrinsicsTest.cpp - What threads do together, and numbers ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace isobath::simulator;

/// A kernel whose thread i stores %r, an i32 that `body` computes of the i32
/// %tid and the parameter %p, to element i.
static std::string makeKernel(const std::string &declarations,
                              const std::string &body) {
  return declarations + R"(
define ptx_kernel void @kernel(ptr addrspace(1) %y, i32 %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)" + body +
         R"(
  %i = zext i32 %tid to i64
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 %r, ptr addrspace(1) %to, align 4
  ret void
})";
}

/// What the lanes of one warp store.
static std::vector<std::int32_t> runWarp(const std::string &declarations,
                                         const std::string &body,
                                         std::int32_t parameter = 0,
                                         std::uint32_t threads = 32) {
  SimulatedProgram program(makeKernel(declarations, body));
  if (!program.module) {
    ADD_FAILURE() << program.message;
    return std::vector<std::int32_t>(threads);
  }
  auto *y = program.allocate<std::int32_t>(threads);
  LaunchReport report = program.launch(program.block(threads, 5), y, parameter);
  EXPECT_TRUE(report.findings.empty());
  return program.read(y, threads);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// Lane i's value is 100 + i. In the high bit is the predicate.
static std::vector<std::int32_t> shuffle(const std::string &mode, int operand,
                                         int control) {
  return runWarp("declare {i32, i1} @llvm.nvvm.shfl.sync." + mode +
                     ".i32p(i32, i32, i32, i32)",
                 "  %v = add i32 %tid, 100\n  %s = call {i32, i1} "
                 "@llvm.nvvm.shfl.sync." +
                     mode + ".i32p(i32 -1, i32 %v, i32 " +
                     std::to_string(operand) + ", i32 " +
                     std::to_string(control) + R"()
  %x = extractvalue {i32, i1} %s, 0
  %q = extractvalue {i32, i1} %s, 1
  %z = zext i1 %q to i32
  %h = shl i32 %z, 16
  %r = or i32 %x, %h)");
}

TEST(Shuffles, EveryMode) {
  std::vector<std::int32_t> up = shuffle("up", 3, 0),
                            down = shuffle("down", 3, 31),
                            butterfly = shuffle("bfly", 5, 31),
                            index = shuffle("idx", 7, 31);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i >= 3 ? 0x10000 | (100 + i - 3) : 100 + i);
    EXPECT_EQ(down[i], i < 29 ? 0x10000 | (100 + i + 3) : 100 + i);
    EXPECT_EQ(butterfly[i], 0x10000 | (100 + (i ^ 5)));
    EXPECT_EQ(index[i], 0x10000 | 107);
  }
}

TEST(Shuffles, Segments) {
  // Width 8: the control word is (32 - 8) << 8, with the clamp below.
  std::vector<std::int32_t> up = shuffle("up", 3, 0x1800),
                            down = shuffle("down", 3, 0x181f),
                            index = shuffle("idx", 13, 0x181f);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i % 8 >= 3 ? 0x10000 | (100 + i - 3) : 100 + i);
    EXPECT_EQ(down[i], i % 8 < 5 ? 0x10000 | (100 + i + 3) : 100 + i);
    EXPECT_EQ(index[i], 0x10000 | (100 + i / 8 * 8 + 5));
  }
}

//===----------------------------------------------------------------------===//
// Votes, matches, reductions
//===----------------------------------------------------------------------===//

TEST(Votes, EveryKind) {
  std::string odd = "  %b = and i32 %tid, 1\n  %o = icmp ne i32 %b, 0\n";
  for (int bit : runWarp("declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)",
                         odd + "  %r = call i32 @llvm.nvvm.vote.ballot.sync("
                               "i32 -1, i1 %o)"))
    EXPECT_EQ(bit, static_cast<int>(0xaaaaaaaa));
  for (auto [name, expected] : {std::pair{"all", 0}, {"any", 1}, {"uni", 0}}) {
    std::string function = std::string("@llvm.nvvm.vote.") + name + ".sync(i32";
    for (int vote : runWarp("declare i1 " + function + ", i1)",
                            odd + "  %w = call i1 " + function +
                                " -1, i1 %o)\n  %r = zext i1 %w to i32"))
      EXPECT_EQ(vote, expected) << name;
  }
}

TEST(Votes, Matches) {
  std::vector<std::int32_t> any =
      runWarp("declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)",
              "  %k = and i32 %tid, 3\n"
              "  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %k)");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(any[i], static_cast<int>(0x11111111u << (i % 4)));
  for (int mask : runWarp(
           "declare {i32, i1} @llvm.nvvm.match.all.sync.i64p(i32, i64)",
           "  %m = call {i32, i1} @llvm.nvvm.match.all.sync.i64p(i32 -1, i64 "
           "4294967296)\n  %r = extractvalue {i32, i1} %m, 0"))
    EXPECT_EQ(mask, -1);
}

TEST(Votes, Reductions) {
  // Of the numbers from -15 to 16.
  int exclusive = 0;
  for (int i = -15; i <= 16; ++i)
    exclusive ^= i;
  for (auto [name, expected] : {std::pair{"add", 16},
                                {"min", -15},
                                {"max", 16},
                                {"umin", 0},
                                {"umax", -1},
                                {"and", 0},
                                {"or", -1},
                                {"xor", exclusive}}) {
    std::string function =
        std::string("@llvm.nvvm.redux.sync.") + name + "(i32 ";
    for (int value : runWarp("declare i32 " + function + ", i32)",
                             "  %v = add i32 %tid, -15\n  %r = call i32 " +
                                 function + "%v, i32 -1)"))
      EXPECT_EQ(value, expected) << name;
  }
}

TEST(Votes, Election) {
  std::vector<std::int32_t> values =
      runWarp("declare {i32, i1} @llvm.nvvm.elect.sync(i32)",
              R"(  %e = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)
  %l = extractvalue {i32, i1} %e, 1
  %r = zext i1 %l to i32)");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], i == 0);
}

TEST(Votes, ActiveLanesOfABranch) {
  std::vector<std::int32_t> values =
      runWarp("declare i32 @llvm.nvvm.activemask()", R"(
  %low = icmp slt i32 %tid, 5
  br i1 %low, label %ask, label %end
ask:
  %m = call i32 @llvm.nvvm.activemask()
  br label %end
end:
  %r = phi i32 [ %m, %ask ], [ -1, %0 ])");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], i < 5 ? 31 : -1);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(Barriers, Predicates) {
  std::string odd = "  %b = and i32 %tid, 1\n  %o = icmp ne i32 %b, 0\n";
  for (int count : runWarp(
           "declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)",
           odd + "  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all("
                 "i32 0, i1 %o)",
           0, 96))
    EXPECT_EQ(count, 48);
}

TEST(Barriers, OfSomeWarpsOrderThem) {
  // Warp 0 writes and comes, warp 1 waits and reads, warp 2 does neither.
  SimulatedProgram program(R"(
@cell = internal addrspace(3) global i32 poison, align 4
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.count(i32, i32)
define ptx_kernel void @kernel(ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %tid, 5
  switch i32 %warp, label %end [ i32 0, label %writer
                                 i32 1, label %reader ]
writer:
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %write, label %arrive
write:
  store i32 42, ptr addrspace(3) @cell, align 4
  br label %arrive
arrive:
  call void @llvm.nvvm.barrier.cta.arrive.count(i32 1, i32 64)
  br label %end
reader:
  call void @llvm.nvvm.barrier.cta.sync.count(i32 1, i32 64)
  %v = load i32, ptr addrspace(3) @cell, align 4
  %i = zext i32 %tid to i64
  %to = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 %v, ptr addrspace(1) %to, align 4
  br label %end
end:
  ret void
})");
  auto *y = program.allocate(std::vector<int>(96));
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    LaunchReport report = program.launch(program.block(96, seed), y);
    EXPECT_EQ(kindsOf(report), std::vector<FindingKind>());
    EXPECT_EQ(program.read(y, 96)[40], 42);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Thread i copies 16 bytes through shared memory, waiting for its copy or not.
static std::string makeCopyKernel(const std::string &wait) {
  return R"(
@buffer = external addrspace(3) global [0 x i32], align 16
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3),
                                                     ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  %from = getelementptr <4 x i32>, ptr addrspace(1) %x, i64 %i
  %slot = getelementptr <4 x i32>, ptr addrspace(3) @buffer, i64 %i
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %slot,
                                                    ptr addrspace(1) %from)
  call void @llvm.nvvm.cp.async.commit.group()
  )" + wait +
         R"(
  %v = load <4 x i32>, ptr addrspace(3) %slot, align 16
  %to = getelementptr <4 x i32>, ptr addrspace(1) %y, i64 %i
  store <4 x i32> %v, ptr addrspace(1) %to, align 16
  ret void
})";
}

TEST(AsyncCopies, ArriveWhenTheyAreWaitedFor) {
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i)
    values[i] = 3 * i;
  LaunchConfiguration configuration{{}, {32, 1, 1}, 512};
  for (int groups : {0, 1}) {
    SimulatedProgram program(
        makeCopyKernel("call void @llvm.nvvm.cp.async.wait.group(i32 " +
                       std::to_string(groups) + ")"));
    auto *x = program.allocate(values), *y = program.allocate<int>(128);
    LaunchReport report = program.launch(configuration, x, y);
    if (groups == 0) {
      EXPECT_EQ(kindsOf(report), std::vector<FindingKind>());
      EXPECT_EQ(program.read(y, 128), values);
      EXPECT_EQ(report.counts.asyncCopies, 32u);
      EXPECT_EQ(report.counts.loads.bytes, 512u);
      EXPECT_EQ(report.counts.shared.bytes, 1024u);
    } else {
      EXPECT_EQ(kindsOf(report),
                std::vector<FindingKind>{FindingKind::SharedRace});
      EXPECT_NE(report.findings[0].message.find("asynchronous"),
                std::string::npos);
    }
  }
}

TEST(Atomics, AreNoRaces) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %sum) {
  %old = atomicrmw add ptr addrspace(1) %sum, i32 1 monotonic, align 4
  ret void
})");
  auto *sum = program.allocate(std::vector<int>{0});
  LaunchReport report = program.launch({{3, 1, 1}, {64, 1, 1}}, sum);
  EXPECT_EQ(kindsOf(report), std::vector<FindingKind>());
  EXPECT_EQ(program.read(sum, 1)[0], 192);
  EXPECT_EQ(report.counts.atomics, 192u);
}

TEST(Variables, OfKernelsThatNeedNotLieBesideEachOther) {
  SimulatedProgram program(R"(
@a = internal addrspace(3) global [64 x i32] poison, align 4
@b = internal addrspace(3) global [32 x i32] poison, align 4
@c = internal addrspace(1) global i32 7, align 4
define void @store() noinline {
  store i32 1, ptr addrspace(3) @a, align 4
  ret void
}
define ptx_kernel void @kernel(ptr addrspace(1) %y) {
  call void @store()
  %v = load i32, ptr addrspace(1) @c, align 4
  store i32 %v, ptr addrspace(1) %y, align 4
  ret void
}
define ptx_kernel void @other() {
  store i32 1, ptr addrspace(3) @b, align 4
  ret void
})");
  auto *y = program.allocate<int>(1);
  LaunchReport report = program.launch(program.block(1), y);
  EXPECT_EQ(kindsOf(report), std::vector<FindingKind>());
  EXPECT_EQ(report.staticSharedBytes, 256u);
  EXPECT_EQ(program.read(y, 1)[0], 7);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static float compute(const std::string &declaration, const std::string &call,
                     float x) {
  return llvm::bit_cast<float>(
      runWarp(declaration,
              "  %x = bitcast i32 %p to float\n  %f = " + call +
                  "\n  %r = bitcast float %f to i32",
              llvm::bit_cast<std::int32_t>(x), 1)[0]);
}

TEST(Numbers, Approximations) {
  EXPECT_FLOAT_EQ(compute("declare float @llvm.nvvm.ex2.approx.ftz.f32(float)",
                          "call float @llvm.nvvm.ex2.approx.ftz.f32(float %x)",
                          0.3f),
                  std::exp2(0.3f));
  EXPECT_FLOAT_EQ(compute("declare float @llvm.nvvm.lg2.approx.f(float)",
                          "call float @llvm.nvvm.lg2.approx.f(float %x)", 5),
                  std::log2(5.0f));
  EXPECT_FLOAT_EQ(compute("declare float @llvm.nvvm.rsqrt.approx.ftz.f(float)",
                          "call float @llvm.nvvm.rsqrt.approx.ftz.f(float %x)",
                          5),
                  1 / std::sqrt(5.0f));
  EXPECT_FLOAT_EQ(compute("declare float @llvm.tanh.f32(float)",
                          "call afn float @llvm.tanh.f32(float %x)", 0.4f),
                  std::tanh(0.4f));
}

TEST(Numbers, SubnormalsAreFlushedWhereItSaysSo) {
  float subnormal = 1e-40f;
  EXPECT_EQ(compute("declare float @llvm.nvvm.mul.rn.ftz.f(float, float)",
                    "call float @llvm.nvvm.mul.rn.ftz.f(float %x, float 1.0)",
                    subnormal),
            0);
  EXPECT_EQ(compute("declare float @llvm.nvvm.mul.rn.f(float, float)",
                    "call float @llvm.nvvm.mul.rn.f(float %x, float 1.0)",
                    subnormal),
            subnormal);
}

TEST(Numbers, RoundingModes) {
  // 1 + 2^-30 is between 1 and the next f32.
  float tiny = std::ldexp(1.0f, -30), next = std::nextafter(1.0f, 2.0f);
  for (auto [mode, expected] :
       {std::pair{"rn", 1.0f}, {"rz", 1.0f}, {"rm", 1.0f}, {"rp", next}}) {
    std::string function = std::string("@llvm.nvvm.fma.") + mode + ".f(float";
    EXPECT_EQ(compute("declare float " + function + ", float, float)",
                      "call float " + function + " %x, float 1.0, float 1.0)",
                      tiny),
              expected)
        << mode;
  }
}

TEST(Numbers, Bf16KeepsSubnormalsAndRoundsToEven) {
  std::string narrow = R"(  %x = bitcast i32 %p to float
  %h = fptrunc float %x to bfloat
  %s = bitcast bfloat %h to i16
  %r = zext i16 %s to i32)";
  for (auto [bits, expected] : {std::pair{0x3f808000, 0x3f80},
                                {0x3f818000, 0x3f82},
                                {0x3f808001, 0x3f81},
                                {0x00010000, 0x0001},
                                {0x00018000, 0x0002}})
    EXPECT_EQ(runWarp("", narrow, bits, 1)[0], expected);
}

TEST(Numbers, PermutedBytes) {
  EXPECT_EQ(runWarp("declare i32 @llvm.nvvm.prmt(i32, i32, i32)",
                    "  %r = call i32 @llvm.nvvm.prmt(i32 %p, i32 1432778632, "
                    "i32 33872)", // 0x55667788, 0x8450
                    0x11223384, 1)[0],
            static_cast<int>(0xff887784));
}
