//===- Device.cpp - The host's memory, and calls of generated code --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated code knows nothing of classes: each of its calls is handed to the
// device here.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/device.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/host_memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace isobath::runtime {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *Device::allocate(const std::string &, std::uint64_t bytes) {
  return allocateHostMemory(bytes).release();
}

void Device::release(void *memory) { FreeHostMemory()(memory); }

void Device::clear(void *to, std::uint64_t bytes) { std::memset(to, 0, bytes); }

void Device::copyToDevice(void *to, const void *hostFrom, std::uint64_t bytes) {
  std::memcpy(to, hostFrom, bytes);
}

void Device::copyToHost(void *hostTo, const void *from, std::uint64_t bytes) {
  std::memcpy(hostTo, from, bytes);
}

void Device::copy(void *to, const void *from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
}

void Device::begin(void *, std::uint64_t) {}

void Device::discard(void *, std::uint64_t) {}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void Device::loadCode(std::span<const char> code) {
  if (!code.empty())
    fail("compiled unit: given kernels of a GPU, expected code for this CPU");
}

/// Generated code cannot take an exception.
[[noreturn]] static void refuseWork() {
  std::fputs("error: a compiled unit was run on a device that does no work\n",
             stderr);
  std::abort();
}

void Device::launch(const IsobathLaunch &, void *const *) { refuseWork(); }

void Device::product(const ProductCall &) { refuseWork(); }

void Device::attention(const AttentionTensors &, const AttentionCall &) {
  refuseWork();
}

void Device::attentionAdjoint(const AttentionAdjointTensors &,
                              const AttentionCall &) {
  refuseWork();
}

void Device::groupTokens(std::int32_t *, std::int32_t *, const std::int32_t *,
                         std::int64_t, std::int64_t) {
  refuseWork();
}

DeviceEvent Device::recordEvent() {
  // Work is done by the host, in the call that asks for it.
  return {std::chrono::steady_clock::now(), nullptr};
}

double Device::secondsBetween(const DeviceEvent &first,
                              const DeviceEvent &second) {
  return std::chrono::duration<double>(second.time - first.time).count();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::span<const DeviceSymbol> deviceSymbols() {
#define SYMBOL(name)                                                           \
  DeviceSymbol { #name, reinterpret_cast<void *>(&(name)) }
  static const DeviceSymbol table[] = {
      SYMBOL(isobath_launch),
      SYMBOL(isobath_begin),
      SYMBOL(isobath_copy),
      SYMBOL(isobath_upload),
      SYMBOL(isobath_product),
      SYMBOL(isobath_attention),
      SYMBOL(isobath_attention_adjoint),
      SYMBOL(isobath_group_tokens),
  };
#undef SYMBOL
  return table;
}

} // namespace isobath::runtime

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

using isobath::runtime::Device;

static Device &asDevice(void *device) { return *static_cast<Device *>(device); }

void isobath_launch(void *device, const IsobathLaunch *launch,
                    void *const *words) {
  asDevice(device).launch(*launch, words);
}

void isobath_begin(void *device, void *buffer, int64_t bytes) {
  asDevice(device).begin(buffer, static_cast<std::uint64_t>(bytes));
}

void isobath_copy(void *device, void *to, const void *from, int64_t bytes) {
  asDevice(device).copy(to, from, static_cast<std::uint64_t>(bytes));
}

void isobath_upload(void *device, void *to, const void *from, int64_t bytes) {
  asDevice(device).copyToDevice(to, from, static_cast<std::uint64_t>(bytes));
}

void isobath_product(void *device, void *c, const void *a, const void *b,
                     int64_t M, int64_t N, int64_t K, int32_t typeC,
                     int32_t typeA, int32_t typeB, int32_t flags) {
  asDevice(device).product({c, a, b, M, N, K, typeC, typeA, typeB, flags});
}

void isobath_attention(void *device, void *o, float *lse, const void *q,
                       const void *k, const void *v, int64_t B, int64_t T,
                       int64_t H, int64_t K, int64_t d, int32_t type,
                       void *scratch) {
  asDevice(device).attention({o, lse, q, k, v}, {B, T, H, K, d, type, scratch});
}

void isobath_attention_adjoint(void *device, void *dq, void *dk, void *dv,
                               const void *q, const void *k, const void *v,
                               const void *o, const float *lse,
                               const void *dOut, int64_t B, int64_t T,
                               int64_t H, int64_t K, int64_t d, int32_t type,
                               void *scratch) {
  asDevice(device).attentionAdjoint({dq, dk, dv, q, k, v, o, lse, dOut},
                                    {B, T, H, K, d, type, scratch});
}

void isobath_group_tokens(void *device, int32_t *starts, int32_t *order,
                          const int32_t *tokens, int64_t count,
                          int64_t vocabulary) {
  asDevice(device).groupTokens(starts, order, tokens, count, vocabulary);
}
