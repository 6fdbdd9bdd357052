//===- SimulatedProgram.h - Kernels as text, for tests --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_SIMULATOR_SIMULATEDPROGRAM_H
#define ISOBATH_TEST_UNIT_SIMULATOR_SIMULATEDPROGRAM_H

#include "isobath/Simulator/SimulatedDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace isobath::simulator {

/// What stands in front of the kernels of every test.
inline constexpr char prelude[] = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";

/// A device with one module, whose functions fail the test where they should
/// not fail.
class SimulatedProgram {
public:
  explicit SimulatedProgram(const std::string &text) {
    llvm::SMDiagnostic error;
    llvm::LLVMContext context;
    auto parsed = llvm::parseAssemblyString(prelude + text, error, context);
    if (!parsed) {
      ADD_FAILURE() << "line " << error.getLineNo() << ": "
                    << error.getMessage().str();
      return;
    }
    auto loaded = device.loadModule(*parsed);
    if (loaded)
      module = *loaded;
    else
      message = llvm::toString(loaded.takeError());
  }

  template <typename Value> Value *allocate(std::size_t count) {
    auto memory = device.allocate(count * sizeof(Value), "buffer");
    EXPECT_TRUE(bool(memory));
    return static_cast<Value *>(*memory);
  }

  template <typename Value> Value *allocate(const std::vector<Value> &values) {
    Value *memory = allocate<Value>(values.size());
    check(device.copyToDevice(memory, values.data(),
                              values.size() * sizeof(Value)));
    return memory;
  }

  template <typename Value>
  std::vector<Value> read(const Value *memory, std::size_t count) {
    std::vector<Value> values(count);
    check(device.copyToHost(values.data(), memory, count * sizeof(Value)));
    return values;
  }

  /// Runs @kernel.
  template <typename... Arguments>
  LaunchReport launch(const LaunchConfiguration &configuration,
                      Arguments... arguments) {
    auto kernel = device.getKernel(module, "kernel");
    if (!kernel) {
      ADD_FAILURE() << llvm::toString(kernel.takeError());
      return {};
    }
    std::vector<const void *> pointers = {&arguments...};
    auto report = device.launch(**kernel, configuration, pointers);
    if (report)
      return std::move(*report);
    message = llvm::toString(report.takeError());
    return {};
  }

  /// One block of `threads` threads.
  static LaunchConfiguration block(std::uint32_t threads,
                                   std::uint64_t seed = 0) {
    return {{}, {threads, 1, 1}, 0, seed};
  }

  static void check(llvm::Error error) {
    if (error)
      ADD_FAILURE() << llvm::toString(std::move(error));
  }

  SimulatedDevice device;
  SimulatedModule *module = nullptr;
  std::string message; ///< of the last error
};

/// The kinds of what was found, in order.
inline std::vector<FindingKind> kindsOf(const LaunchReport &report) {
  std::vector<FindingKind> kinds;
  for (const Finding &finding : report.findings)
    kinds.push_back(finding.kind);
  return kinds;
}

} // namespace isobath::simulator

#endif // ISOBATH_TEST_UNIT_SIMULATOR_SIMULATEDPROGRAM_H
