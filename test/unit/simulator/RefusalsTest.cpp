//===- RefusalsTest.cpp - What the simulated device does not run ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedProgram.h"

using namespace isobath::simulator;

TEST(Refusals, UnknownIntrinsic) {
  SimulatedProgram program(R"(
declare i32 @llvm.nvvm.read.ptx.sreg.clock()
define ptx_kernel void @kernel() {
  %time = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  ret void
})");
  EXPECT_EQ(program.message,
            "@kernel: given llvm.nvvm.read.ptx.sreg.clock, which the simulated "
            "device does not know");
}

TEST(Refusals, InlineAssembly) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel() {
  call void asm sideeffect "nanosleep.u32 1;", ""()
  ret void
})");
  EXPECT_EQ(program.message,
            "@kernel: given inline assembly \"nanosleep.u32 1;\", which the "
            "simulated device does not run");
}

TEST(Refusals, WhatNvptxCannotSelect) {
  SimulatedProgram exp(R"(
declare float @llvm.exp.f32(float)
define ptx_kernel void @kernel(float %x) {
  %y = call float @llvm.exp.f32(float %x)
  ret void
})");
  EXPECT_EQ(exp.message, "@kernel: given llvm.exp.f32, which the simulated "
                         "device does not know");
  SimulatedProgram tanh(R"(
declare float @llvm.tanh.f32(float)
define ptx_kernel void @kernel(float %x) {
  %y = call float @llvm.tanh.f32(float %x)
  ret void
})");
  EXPECT_EQ(tanh.message, "@kernel: given llvm.tanh.f32, which NVPTX only has "
                          "in f32 and with the flag afn");
}

TEST(Refusals, FunctionsWithoutABody) {
  SimulatedProgram program(R"(
declare void @__nv_nothing()
define ptx_kernel void @kernel() {
  call void @__nv_nothing()
  ret void
})");
  EXPECT_EQ(program.message, "@kernel: given a call of @__nv_nothing, which is "
                             "defined nowhere");
}

TEST(Refusals, Recursion) {
  SimulatedProgram program(R"(
define void @f() {
  call void @f()
  ret void
}
define ptx_kernel void @kernel() {
  call void @f()
  ret void
})");
  EXPECT_EQ(program.message, "@f: given a recursive function, which has no "
                             "bound on its stack");
}

TEST(Refusals, SizesOfALaunch) {
  SimulatedProgram program(R"(
define ptx_kernel void @kernel(i32 %x) "nvvm.maxntid"="128" {
  ret void
})");
  program.launch({{1, 1, 1}, {1025, 1, 1}}, 1);
  EXPECT_EQ(program.message, "block.x: given 1025, expected 1 to 1024");
  program.launch({{1, 70000, 1}, {32, 1, 1}}, 1);
  EXPECT_EQ(program.message, "grid.y: given 70000, expected 1 to 65535");
  program.launch({{1 << 25, 1, 1}, {32, 1, 1}}, 1);
  EXPECT_EQ(program.message,
            "blocks of the grid: given 33554432, expected 1 to 16777216");
  program.launch({{1 << 24, 1, 1}, {1024, 1, 1}}, 1);
  EXPECT_EQ(program.message, "threads of the grid: given 17179869184, expected "
                             "1 to 4294967294");
  program.launch({{1, 1, 1}, {256, 1, 1}}, 1);
  EXPECT_EQ(program.message,
            "@kernel: given a block of 256 threads, expected at most 128");
  program.launch({{1, 1, 1}, {32, 1, 1}, 1 << 20}, 1);
  EXPECT_EQ(program.message, "@kernel: given 0 static and 1048576 dynamic "
                             "bytes of shared memory, expected at most 232448");
  program.launch({{1, 1, 1}, {32, 1, 1}});
  EXPECT_EQ(program.message, "@kernel: given 0 arguments, expected 1");
}

TEST(Refusals, NamesAndMemory) {
  SimulatedProgram program("define ptx_kernel void @kernel() { ret void }");
  auto other = program.device.getKernel(program.module, "other");
  ASSERT_FALSE(bool(other));
  EXPECT_EQ(llvm::toString(other.takeError()),
            "given the kernel other, expected kernel");
  auto *memory = program.allocate<int>(4);
  int value[8] = {};
  EXPECT_EQ(llvm::toString(program.device.copyToDevice(memory, value, 17)),
            "given 17 bytes that begin 0 bytes into the 16 bytes of buffer, "
            "expected them within one allocation");
  EXPECT_EQ(llvm::toString(program.device.copyToHost(value, memory, 16)),
            "given 16 bytes to copy to the host, but nothing has been written "
            "0 bytes into the 16 bytes of buffer");
  program.check(program.device.free(memory));
  EXPECT_EQ(llvm::toString(program.device.free(memory)),
            "given memory to free that has been freed");
}
