//===- MatrixTest.cpp - Matrices spread over a warp -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of 16x16 by 16x8 from matrices that lie in memory row by row. Where
// elements go is taken from the way in which they are loaded, so that ldmatrix
// and mma check each other.
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"
#include "llvm/ADT/bit.h"

using namespace isobath::simulator;

static constexpr char productKernel[] = R"(
@a = internal addrspace(3) global [256 x bfloat] poison, align 16
@b = internal addrspace(3) global [128 x bfloat] poison, align 16
declare {i32, i32, i32, i32}
  @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32}
  @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(
  i32, i32, i32, i32, i32, i32, float, float, float, float)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %w,
                               ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %fill, label %go
fill:
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 @a,
                                   ptr addrspace(1) align 16 %x, i64 512, i1 0)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 @b,
                                   ptr addrspace(1) align 16 %w, i64 256, i1 0)
  br label %go
go:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ; Matrices of a: rows 0-7 and 8-15 of columns 0-7, then of columns 8-15.
  %row = and i32 %tid, 15
  %half = lshr i32 %tid, 4
  %row16 = shl i32 %row, 4
  %column = shl i32 %half, 3
  %ia = add i32 %row16, %column
  %pa = getelementptr bfloat, ptr addrspace(3) @a, i32 %ia
  %fa = call {i32, i32, i32, i32}
    @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %pa)
  %ib = shl i32 %row, 3
  %pb = getelementptr bfloat, ptr addrspace(3) @b, i32 %ib
  %fb = call {i32, i32}
    @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %pb)
  %a0 = extractvalue {i32, i32, i32, i32} %fa, 0
  %a1 = extractvalue {i32, i32, i32, i32} %fa, 1
  %a2 = extractvalue {i32, i32, i32, i32} %fa, 2
  %a3 = extractvalue {i32, i32, i32, i32} %fa, 3
  %b0 = extractvalue {i32, i32} %fb, 0
  %b1 = extractvalue {i32, i32} %fb, 1
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(
    i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
    float 1.0, float 1.0, float 1.0, float 1.0)
  %d0 = extractvalue {float, float, float, float} %d, 0
  %d1 = extractvalue {float, float, float, float} %d, 1
  %d2 = extractvalue {float, float, float, float} %d, 2
  %d3 = extractvalue {float, float, float, float} %d, 3
  %group = lshr i32 %tid, 2
  %pair = and i32 %tid, 3
  %group8 = shl i32 %group, 3
  %pair2 = shl i32 %pair, 1
  %o = add i32 %group8, %pair2
  %y0 = getelementptr float, ptr addrspace(1) %y, i32 %o
  %y1 = getelementptr float, ptr addrspace(1) %y0, i32 1
  %y2 = getelementptr float, ptr addrspace(1) %y0, i32 64
  %y3 = getelementptr float, ptr addrspace(1) %y0, i32 65
  store float %d0, ptr addrspace(1) %y0, align 4
  store float %d1, ptr addrspace(1) %y1, align 4
  store float %d2, ptr addrspace(1) %y2, align 4
  store float %d3, ptr addrspace(1) %y3, align 4
  ret void
})";

TEST(Matrices, LoadedAndMultiplied) {
  // Small whole numbers, exact in bf16.
  auto toBits = [](int value) {
    return static_cast<std::uint16_t>(
        llvm::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
  };
  std::vector<std::uint16_t> a(256), b(128);
  auto valueOfA = [](int row, int k) { return (row * 5 + k * 3) % 17 - 8; };
  auto valueOfB = [](int k, int column) { return (k * 7 + column) % 13 - 6; };
  for (int i = 0; i < 256; ++i)
    a[i] = toBits(valueOfA(i / 16, i % 16));
  for (int i = 0; i < 128; ++i)
    b[i] = toBits(valueOfB(i / 8, i % 8));
  SimulatedProgram program(productKernel);
  ASSERT_TRUE(program.module) << program.message;
  auto *x = program.allocate(a), *w = program.allocate(b);
  auto *y = program.allocate<float>(128);
  LaunchReport report = program.launch(program.block(32, 3), x, w, y);
  EXPECT_EQ(kindsOf(report), std::vector<FindingKind>());
  EXPECT_EQ(report.counts.matrixOperations, 3u);
  std::vector<float> result = program.read(y, 128);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      int expected = 1;
      for (int k = 0; k < 16; ++k)
        expected += valueOfA(row, k) * valueOfB(k, column);
      EXPECT_EQ(result[row * 8 + column], expected);
    }
}

TEST(Matrices, NeedAWholeWarp) {
  SimulatedProgram program(productKernel);
  auto *x = program.allocate(std::vector<std::uint16_t>(256));
  auto *w = program.allocate(std::vector<std::uint16_t>(128));
  auto *y = program.allocate<float>(128);
  EXPECT_EQ(kindsOf(program.launch(program.block(31), x, w, y)),
            std::vector<FindingKind>{FindingKind::WarpDivergence});
}
