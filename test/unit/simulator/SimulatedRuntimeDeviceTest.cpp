//===- SimulatedRuntimeDeviceTest.cpp - Calls of entries on it ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Simulator/SimulatedRuntimeDevice.h"
#include "SimulatedProgram.h"
#include "isobath/runtime/error.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace isobath;
using namespace isobath::simulator;

/// Adds up element i of all buffers in a table, in thread i.
static constexpr char addKernel[] = R"(
define ptx_kernel void @kernel(i64 %n, ptr addrspace(1) %table,
                               ptr addrspace(1) %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  br label %loop
loop:
  %k = phi i64 [0, %0], [%k1, %loop]
  %sum = phi float [0.0, %0], [%sum1, %loop]
  %slot = getelementptr ptr addrspace(1), ptr addrspace(1) %table, i64 %k
  %x = load ptr addrspace(1), ptr addrspace(1) %slot, align 8
  %from = getelementptr float, ptr addrspace(1) %x, i64 %i
  %value = load float, ptr addrspace(1) %from, align 4
  %sum1 = fadd float %sum, %value
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %n
  br i1 %more, label %loop, label %end
end:
  %to = getelementptr float, ptr addrspace(1) %y, i64 %i
  store float %sum1, ptr addrspace(1) %to, align 4
  ret void
})";

/// One block of the kernel, whose second word is a table.
static IsobathLaunch describeLaunch(std::uint32_t threads) {
  static constexpr std::uint32_t tables[] = {1};
  IsobathLaunch launch = {};
  launch.kernel = "kernel";
  launch.tables = tables;
  launch.tableCount = 1;
  launch.wordCount = 3;
  launch.blocks = 1;
  launch.threads = threads;
  return launch;
}

static std::string compile(const std::string &text) {
  llvm::SMDiagnostic error;
  llvm::LLVMContext context;
  auto module = llvm::parseAssemblyString(prelude + text, error, context);
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

namespace {
class RuntimeDevice : public testing::Test {
protected:
  float *allocate(const std::vector<float> &values) {
    auto *memory = static_cast<float *>(
        device.allocate("values", values.size() * sizeof(float)));
    device.copyToDevice(memory, values.data(), values.size() * sizeof(float));
    return memory;
  }
  float *allocateUnwritten(std::size_t count) {
    return static_cast<float *>(
        device.allocate("unwritten", count * sizeof(float)));
  }
  std::vector<float> read(const float *memory, std::size_t count) {
    std::vector<float> values(count);
    device.copyToHost(values.data(), memory, count * sizeof(float));
    return values;
  }
  std::string finish() {
    try {
      device.finish();
      return "";
    } catch (const runtime::Error &error) {
      return error.what();
    }
  }

  SimulatedRuntimeDevice device;
};
} // namespace

TEST_F(RuntimeDevice, LaunchesAKernelWithATable) {
  std::string code = compile(addKernel);
  device.loadCode(code);
  IsobathLaunch launch = describeLaunch(4);
  float *y = allocateUnwritten(4);
  void *table[] = {allocate({1, 2, 3, 4}), allocate({10, 20, 30, 40})};
  void *words[] = {reinterpret_cast<void *>(2), table, y};
  isobath_launch(&device, &launch, words);
  table[1] = table[0]; // is another table
  float *z = allocateUnwritten(4);
  words[2] = z;
  isobath_launch(&device, &launch, words);
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(read(y, 4), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(read(z, 4), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(device.getCounts().lookup("kernel").launches, 2u);
  EXPECT_EQ(device.getCounts().lookup("kernel").counts.stores.bytes, 32u);
}

TEST_F(RuntimeDevice, AFindingIsOneLineAtTheEnd) {
  device.loadCode(compile(addKernel));
  IsobathLaunch launch = describeLaunch(5);
  float *y = allocateUnwritten(5);
  void *table[] = {allocate({1, 2, 3, 4})};
  void *words[] = {reinterpret_cast<void *>(1), table, y};
  isobath_launch(&device, &launch, words);
  // Nothing runs after it.
  launch.threads = 4;
  isobath_launch(&device, &launch, words);
  EXPECT_EQ(device.getCounts().lookup("kernel").launches, 1u);
  std::string text = finish();
  EXPECT_EQ(text.rfind("kernel kernel: out-of-bounds: a load of 4 bytes (block "
                       "(0, 0, 0), thread (4, 0, 0), at ",
                       0),
            0u)
      << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_EQ(finish(), ""); // said once
}

TEST_F(RuntimeDevice, ProductsReadWhatHasBeenWritten) {
  float *a = allocate({1, 2, 3, 4}), *c = allocateUnwritten(4);
  isobath_product(&device, c, a, a, 2, 2, 2, ISOBATH_F32, ISOBATH_F32,
                  ISOBATH_F32, 0);
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(read(c, 4), (std::vector<float>{7, 10, 15, 22}));
  isobath_product(&device, c, allocateUnwritten(4), a, 2, 2, 2, ISOBATH_F32,
                  ISOBATH_F32, ISOBATH_F32, 0);
  EXPECT_EQ(finish(),
            "product: uninitialized-read: nothing has written all of A");
  isobath_product(&device, allocateUnwritten(4), a, a, 2, 2, 2, ISOBATH_F32,
                  ISOBATH_F32, ISOBATH_F32, ISOBATH_ACCUMULATE);
  EXPECT_EQ(finish(),
            "product: uninitialized-read: nothing has written all of C");
}

TEST_F(RuntimeDevice, CallsStayInTheirBuffers) {
  float *a = allocate({1, 2, 3, 4}), *c = allocateUnwritten(2);
  isobath_product(&device, c, a, a, 2, 2, 2, ISOBATH_F32, ISOBATH_F32,
                  ISOBATH_F32, 0);
  std::string text = finish();
  EXPECT_NE(text.find("expected them within one allocation"), std::string::npos)
      << text;
}
