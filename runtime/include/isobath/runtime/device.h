//===- device.h - Where units run -----------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device has memory, and does the work that entries ask for (device_calls.h).
// There is one class for each kind of device; entries, buffers and training are
// the same on all.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_DEVICE_H
#define ISOBATH_RUNTIME_DEVICE_H

#include "isobath/runtime/device_calls.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace isobath::runtime {

/// The arguments of isobath_product.
struct ProductCall {
  void *c;
  const void *a, *b;
  std::int64_t M, N, K;
  std::int32_t typeC, typeA, typeB, flags;
};

/// The sizes of isobath_attention and isobath_attention_adjoint.
struct AttentionCall {
  std::int64_t B, T, H, K, d;
  std::int32_t type;
  void *scratch;
};

/// The tensors of isobath_attention, and of its adjoint.
struct AttentionTensors {
  void *o;
  float *lse;
  const void *q, *k, *v;
};
struct AttentionAdjointTensors {
  void *dq, *dk, *dv;
  const void *q, *k, *v, *o;
  const float *lse;
  const void *dOut;
};

/// A point in the work of a device. What it holds is the device's business;
/// here it is a time of the host's clock.
struct DeviceEvent {
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<void> handle;
};

/// Memory is the host's unless a device says otherwise. This class itself does
/// no work: it is the device of units whose entries ask for none.
///
/// Pointers are device pointers where a parameter is not said to be the host's.
/// A device serves one thread at a time.
class Device {
public:
  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device() = default;

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Whether the host may use device pointers, and no copies are needed.
  virtual bool isHostMemory() const { return true; }
  /// At least `bytes` bytes, aligned to ISOBATH_ABI_ALIGNMENT, with contents
  /// that mean nothing; null when there are not so many. `name` is for
  /// messages.
  virtual void *allocate(const std::string &name, std::uint64_t bytes);
  /// The same for an arena. Of a device that watches accesses, memory in it may
  /// only be used as part of a buffer that has begun.
  virtual void *allocateArena(std::uint64_t bytes) {
    return allocate("arena", bytes);
  }
  /// Takes back what one of these gave.
  virtual void release(void *memory);
  virtual void clear(void *to, std::uint64_t bytes);
  virtual void copyToDevice(void *to, const void *hostFrom,
                            std::uint64_t bytes);
  virtual void copyToHost(void *hostTo, const void *from, std::uint64_t bytes);
  /// For isobath_copy.
  virtual void copy(void *to, const void *from, std::uint64_t bytes);
  /// For isobath_begin.
  virtual void begin(void *buffer, std::uint64_t bytes);
  /// What lies in an arena means nothing any more.
  virtual void discard(void *arena, std::uint64_t bytes);

  //===--------------------------------------------------------------------===//
  // Work
  //===--------------------------------------------------------------------===//

  /// Takes the device code of the unit that is to run here. Throws Error if
  /// there is none where some is needed, or the other way round.
  virtual void loadCode(std::span<const char> code);

  virtual void launch(const IsobathLaunch &launch, void *const *words);
  virtual void product(const ProductCall &call);
  virtual void attention(const AttentionTensors &tensors,
                         const AttentionCall &call);
  virtual void attentionAdjoint(const AttentionAdjointTensors &tensors,
                                const AttentionCall &call);
  virtual void groupTokens(std::int32_t *starts, std::int32_t *order,
                           const std::int32_t *tokens, std::int64_t count,
                           std::int64_t vocabulary);

  /// Returns when all work that was asked for is done. Throws Error that says
  /// what went wrong in it.
  virtual void finish() {}

  /// Marks the end of the work that was asked for so far.
  virtual DeviceEvent recordEvent();
  /// The time that the device's work took between two of its events, the second
  /// recorded after the first. Waits for both.
  virtual double secondsBetween(const DeviceEvent &first,
                                const DeviceEvent &second);
};

/// Frees memory of a device.
struct ReleaseDeviceMemory {
  Device *device = nullptr;
  void operator()(void *memory) const { device->release(memory); }
};
using DeviceMemory = std::unique_ptr<void, ReleaseDeviceMemory>;

/// A function of device_calls.h under the name that generated code has for it.
struct DeviceSymbol {
  const char *name;
  void *address;
};

/// All of them. A program that loads code which it compiled defines these names
/// for it, and ISOBATH_DEVICE_SYMBOL as the address of the code's Device.
std::span<const DeviceSymbol> deviceSymbols();

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_DEVICE_H
