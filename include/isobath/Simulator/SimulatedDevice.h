//===- SimulatedDevice.h - A GPU made of fibers ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs kernels of LLVM modules that were made for the NVPTX backend on the CPU,
// one fiber for each GPU thread, and watches what they do. Blocks run one after
// the other. One thread at a time may use a device.
//
// What is wrong with a call (a module that has an unknown intrinsic, a block
// that is too large) is an llvm::Error of one line. What is wrong with a kernel
// is a finding in the report of its launch.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SIMULATOR_SIMULATEDDEVICE_H
#define ISOBATH_SIMULATOR_SIMULATEDDEVICE_H

#include "isobath/Simulator/LaunchReport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>

namespace llvm {
class Module;
}

namespace isobath::simulator {

class SimulatedModule;
struct SimulatedKernel;

struct LaunchConfiguration {
  Dim3 grid, block;
  std::uint64_t dynamicSharedBytes = 0;
  /// Decides in which order fibers run. A kernel without races has the same
  /// results for every seed.
  std::uint64_t seed = 0;
};

class SimulatedDevice {
public:
  SimulatedDevice();
  ~SimulatedDevice();
  SimulatedDevice(const SimulatedDevice &) = delete;
  SimulatedDevice &operator=(const SimulatedDevice &) = delete;

  /// Memory that kernels may use, aligned to 256 bytes, between zones that they
  /// may not. It counts as uninitialised until something writes to it. Its
  /// address is one of this process, but only the functions below keep account
  /// of what the host writes. `name` stands in findings.
  llvm::Expected<void *> allocate(std::uint64_t bytes,
                                  llvm::StringRef name = "");
  /// Memory in which only buffers that have begun may be used. It is freed as
  /// other memory is.
  llvm::Expected<void *> allocateArena(std::uint64_t bytes,
                                       llvm::StringRef name = "");
  /// From here on, bytes of an arena are a buffer, uninitialised. Buffers that
  /// they overlap end.
  llvm::Error beginBuffer(void *buffer, std::uint64_t bytes);
  /// Ends all buffers of an arena.
  llvm::Error endBuffers(void *arena);
  /// Later accesses are findings; the memory is kept for a while.
  llvm::Error free(void *memory);

  /// The device's side of each copy lies within one allocation.
  llvm::Error copyToDevice(void *to, const void *from, std::uint64_t bytes);
  /// Fails if part of `from` is uninitialised.
  llvm::Error copyToHost(void *to, const void *from, std::uint64_t bytes);
  /// Copies whatever is there, and which of it is initialised.
  llvm::Error copyOnDevice(void *to, const void *from, std::uint64_t bytes);
  llvm::Error fill(void *memory, std::uint8_t value, std::uint64_t bytes);
  /// Memory that a library of the host reads or writes.
  llvm::Error markInitialized(void *memory, std::uint64_t bytes);
  /// Memory that is used anew, as a buffer in an arena is.
  llvm::Error markUninitialized(void *memory, std::uint64_t bytes);
  /// Whether all bytes have been written.
  llvm::Expected<bool> isInitialized(const void *memory, std::uint64_t bytes);
  /// Whether the last launch wrote to the allocation that holds `memory`.
  llvm::Expected<bool> wasWritten(const void *memory);

  /// Compiles a copy of `module`, whose triple is nvptx64-nvidia-cuda and which
  /// has been through NVPTX's middle end if what runs is to be what a GPU would
  /// run (optimizeForNvptx does that). The device owns the result.
  llvm::Expected<SimulatedModule *> loadModule(const llvm::Module &module);
  void unloadModule(SimulatedModule *module);

  /// The kernel `name`, alive as long as `module`. The error names those that
  /// there are.
  llvm::Expected<const SimulatedKernel *> getKernel(SimulatedModule *module,
                                                    llvm::StringRef name);

  /// Runs a kernel to its end or to the first finding after which going on
  /// would mean nothing. `arguments` point to the values of its parameters.
  llvm::Expected<LaunchReport> launch(const SimulatedKernel &kernel,
                                      const LaunchConfiguration &configuration,
                                      llvm::ArrayRef<const void *> arguments);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Runs LLVM's middle end for the NVPTX target on `module`, as in front of the
/// backend. `chip` is `sm_80` or the like.
llvm::Error optimizeForNvptx(llvm::Module &module, llvm::StringRef chip);

} // namespace isobath::simulator

#endif // ISOBATH_SIMULATOR_SIMULATEDDEVICE_H
