//===- SimulatedRuntimeDevice.h - Units on a GPU made of fibers -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's interface of devices, over a SimulatedDevice. Kernels run on it
// as they would on a GPU; products, attention and token groups are those of the
// CPU's library, which reads and writes the device's memory.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SIMULATOR_SIMULATEDRUNTIMEDEVICE_H
#define ISOBATH_SIMULATOR_SIMULATEDRUNTIMEDEVICE_H

#include "isobath/Simulator/SimulatedDevice.h"
#include "isobath/runtime/device.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <vector>

namespace isobath::simulator {

/// The GPU that its kernels are compiled for.
inline constexpr llvm::StringLiteral simulatedArchitecture = "sm_90";

/// Bytes between buffers of an arena, so that an access beyond one does not
/// meet its neighbour: a warp's access and more.
inline constexpr std::int64_t bufferGap = 1024;

/// What all launches of one kernel came to.
struct KernelCounts {
  std::uint64_t launches = 0;
  LaunchCounts counts;
};

class SimulatedRuntimeDevice final : public runtime::Device {
public:
  bool isHostMemory() const override { return false; }
  void *allocate(const std::string &name, std::uint64_t bytes) override;
  void *allocateArena(std::uint64_t bytes) override;
  void release(void *memory) override;
  void clear(void *to, std::uint64_t bytes) override;
  void copyToDevice(void *to, const void *hostFrom,
                    std::uint64_t bytes) override;
  void copyToHost(void *hostTo, const void *from, std::uint64_t bytes) override;
  void copy(void *to, const void *from, std::uint64_t bytes) override;
  void begin(void *buffer, std::uint64_t bytes) override;
  void discard(void *arena, std::uint64_t bytes) override;

  /// `code` is the bitcode of a module as SimulatedDevice::loadModule wants it.
  void loadCode(std::span<const char> code) override;
  void launch(const IsobathLaunch &launch, void *const *words) override;
  void product(const runtime::ProductCall &call) override;
  void attention(const runtime::AttentionTensors &tensors,
                 const runtime::AttentionCall &call) override;
  void attentionAdjoint(const runtime::AttentionAdjointTensors &tensors,
                        const runtime::AttentionCall &call) override;
  void groupTokens(std::int32_t *starts, std::int32_t *order,
                   const std::int32_t *tokens, std::int64_t count,
                   std::int64_t vocabulary) override;
  /// Throws the first finding of a kernel, or what else went wrong. Nothing
  /// runs after it until then.
  void finish() override;

  /// By name, in the order of their first launch.
  const llvm::MapVector<llvm::StringRef, KernelCounts> &getCounts() const {
    return counts;
  }
  void resetCounts() { counts.clear(); }

private:
  bool hasFailed() const { return !failure.empty(); }
  void note(llvm::Error error);
  /// Whether `what` of `call` has been written; notes a failure if not.
  bool check(const char *call, const char *what, const void *memory,
             std::uint64_t bytes);
  struct AttentionBytes;
  template <typename Tensors>
  bool checkInputs(const char *call, const Tensors &tensors,
                   const AttentionBytes &bytes);
  /// Whether memory that a call is about to write is the device's; marks it as
  /// written, or notes a failure.
  bool claim(void *memory, std::uint64_t bytes);
  llvm::Expected<void *> getTable(llvm::ArrayRef<void *> addresses);
  llvm::Error run(const IsobathLaunch &launch, void *const *words);

  SimulatedDevice device;
  SimulatedModule *module = nullptr;
  std::string failure;
  llvm::DenseMap<const IsobathLaunch *, const SimulatedKernel *> kernels;
  /// What tables hold and where they are: a plan's are uploaded once.
  std::map<std::vector<void *>, void *> tables;
  llvm::MapVector<llvm::StringRef, KernelCounts> counts;
};

} // namespace isobath::simulator

#endif // ISOBATH_SIMULATOR_SIMULATEDRUNTIMEDEVICE_H
