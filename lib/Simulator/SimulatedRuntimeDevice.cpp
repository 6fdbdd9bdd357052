//===- SimulatedRuntimeDevice.cpp - Units on a GPU made of fibers ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Simulator/SimulatedRuntimeDevice.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/error.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace isobath;
using namespace isobath::simulator;
using llvm::Error;
using llvm::Expected;

void SimulatedRuntimeDevice::note(Error error) {
  std::string text = llvm::toString(std::move(error));
  if (!hasFailed())
    failure = std::move(text);
}

void SimulatedRuntimeDevice::finish() {
  if (hasFailed())
    throw runtime::Error(std::exchange(failure, {}));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *SimulatedRuntimeDevice::allocate(const std::string &name,
                                       std::uint64_t bytes) {
  Expected<void *> memory = device.allocate(bytes, name);
  if (memory)
    return *memory;
  llvm::consumeError(memory.takeError()); // the caller says what it wanted
  return nullptr;
}

void *SimulatedRuntimeDevice::allocateArena(std::uint64_t bytes) {
  Expected<void *> memory = device.allocateArena(bytes, "arena");
  if (memory)
    return *memory;
  llvm::consumeError(memory.takeError());
  return nullptr;
}

void SimulatedRuntimeDevice::release(void *memory) {
  if (Error error = device.free(memory))
    note(std::move(error));
}

void SimulatedRuntimeDevice::clear(void *to, std::uint64_t bytes) {
  if (Error error = device.fill(to, 0, bytes))
    note(std::move(error));
}

void SimulatedRuntimeDevice::copyToDevice(void *to, const void *hostFrom,
                                          std::uint64_t bytes) {
  if (Error error = device.copyToDevice(to, hostFrom, bytes))
    note(std::move(error));
}

void SimulatedRuntimeDevice::copyToHost(void *hostTo, const void *from,
                                        std::uint64_t bytes) {
  if (Error error = device.copyToHost(hostTo, from, bytes))
    note(std::move(error));
}

void SimulatedRuntimeDevice::copy(void *to, const void *from,
                                  std::uint64_t bytes) {
  if (Error error = device.copyOnDevice(to, from, bytes))
    note(std::move(error));
}

void SimulatedRuntimeDevice::begin(void *buffer, std::uint64_t bytes) {
  if (hasFailed() || bytes == 0)
    return;
  if (Error error = device.beginBuffer(buffer, bytes))
    note(std::move(error));
}

void SimulatedRuntimeDevice::discard(void *arena, std::uint64_t) {
  if (Error error = device.endBuffers(arena))
    note(std::move(error));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void SimulatedRuntimeDevice::loadCode(std::span<const char> code) {
  if (code.empty())
    runtime::fail("compiled unit: given no kernels of a GPU, expected some for "
                  "the simulated device");
  llvm::LLVMContext context; // the device keeps a copy in one of its own
  auto parsed = llvm::parseBitcodeFile(
      {llvm::StringRef(code.data(), code.size()), "kernels"}, context);
  if (!parsed)
    throw runtime::Error(llvm::toString(parsed.takeError()));
  Expected<SimulatedModule *> loaded = device.loadModule(**parsed);
  if (!loaded)
    throw runtime::Error(llvm::toString(loaded.takeError()));
  module = *loaded;
  kernels.clear();
  counts.clear();
}

Expected<void *>
SimulatedRuntimeDevice::getTable(llvm::ArrayRef<void *> addresses) {
  void *&table = tables[addresses.vec()];
  if (table)
    return table;
  std::uint64_t bytes = addresses.size() * sizeof(void *);
  Expected<void *> memory = device.allocate(bytes, "table");
  if (!memory)
    return memory.takeError();
  if (Error error = device.copyToDevice(*memory, addresses.data(), bytes))
    return error;
  return table = *memory;
}

/// In one line.
static std::string describe(const Finding &finding) {
  std::string text = runtime::concat(
      "kernel ", finding.kernel, ": ", toString(finding.kind).str(), ": ",
      finding.message, " (block ", toString(finding.block), ", thread ",
      toString(finding.thread), ", at ", finding.location, ")");
  for (const std::string &more : finding.notes)
    text += "; " + more;
  return text;
}

Error SimulatedRuntimeDevice::run(const IsobathLaunch &launch,
                                  void *const *words) {
  const SimulatedKernel *&kernel = kernels[&launch];
  if (!kernel) {
    Expected<const SimulatedKernel *> found =
        device.getKernel(module, launch.kernel);
    if (!found)
      return found.takeError();
    kernel = *found;
  }
  std::vector<void *> values(words, words + launch.wordCount);
  for (std::uint32_t number :
       llvm::ArrayRef(launch.tables, launch.tableCount)) {
    auto length = reinterpret_cast<std::uintptr_t>(values[number - 1]);
    Expected<void *> table =
        getTable(llvm::ArrayRef(static_cast<void **>(values[number]), length));
    if (!table)
      return table.takeError();
    values[number] = *table;
  }
  std::vector<const void *> arguments;
  for (void *&value : values)
    arguments.push_back(&value);
  LaunchConfiguration configuration;
  configuration.grid.x = launch.blocks;
  configuration.block.x = launch.threads;
  configuration.dynamicSharedBytes = launch.sharedBytes;
  Expected<LaunchReport> report =
      device.launch(*kernel, configuration, arguments);
  if (!report)
    return report.takeError();
  KernelCounts &sum = counts[launch.kernel];
  ++sum.launches;
  sum.counts += report->counts;
  if (!report->findings.empty())
    return llvm::createStringError(describe(report->findings.front()));
  return Error::success();
}

void SimulatedRuntimeDevice::launch(const IsobathLaunch &launch,
                                    void *const *words) {
  if (hasFailed())
    return;
  if (Error error = run(launch, words))
    note(std::move(error));
}

//===----------------------------------------------------------------------===//
// The library of the CPU
//===----------------------------------------------------------------------===//

bool SimulatedRuntimeDevice::check(const char *call, const char *what,
                                   const void *memory, std::uint64_t bytes) {
  if (hasFailed() || bytes == 0)
    return !hasFailed();
  Expected<bool> isWritten = device.isInitialized(memory, bytes);
  if (!isWritten) {
    note(isWritten.takeError());
    return false;
  }
  if (!*isWritten)
    failure = runtime::concat(call,
                              ": uninitialized-read: nothing has written "
                              "all of ",
                              what);
  return *isWritten;
}

bool SimulatedRuntimeDevice::claim(void *memory, std::uint64_t bytes) {
  if (!hasFailed() && bytes != 0)
    if (Error error = device.markInitialized(memory, bytes))
      note(std::move(error));
  return !hasFailed();
}

static std::uint64_t countBytes(std::int32_t type,
                                std::initializer_list<std::int64_t> sizes) {
  std::uint64_t bytes = type == ISOBATH_BF16 ? 2 : 4;
  for (std::int64_t size : sizes)
    bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

void SimulatedRuntimeDevice::product(const runtime::ProductCall &call) {
  const char *name = "product";
  std::uint64_t bytes = countBytes(call.typeC, {call.M, call.N});
  if (!check(name, "A", call.a, countBytes(call.typeA, {call.M, call.K})) ||
      !check(name, "B", call.b, countBytes(call.typeB, {call.K, call.N})) ||
      ((call.flags & ISOBATH_ACCUMULATE) && !check(name, "C", call.c, bytes)) ||
      !claim(call.c, bytes))
    return;
  runtime::CpuDevice().product(call);
}

/// Bytes of the tensors of attention.
struct SimulatedRuntimeDevice::AttentionBytes {
  explicit AttentionBytes(const runtime::AttentionCall &call)
      : query(countBytes(call.type, {call.B, call.T, call.H, call.d})),
        key(countBytes(call.type, {call.B, call.T, call.K, call.d})),
        lse(countBytes(ISOBATH_F32, {call.B, call.T, call.H})) {}

  std::uint64_t query; // also of the output
  std::uint64_t key;   // also of values
  std::uint64_t lse;
};

/// Whether q, k and v of either call have been written.
template <typename Tensors>
bool SimulatedRuntimeDevice::checkInputs(const char *call,
                                         const Tensors &tensors,
                                         const AttentionBytes &bytes) {
  return check(call, "q", tensors.q, bytes.query) &&
         check(call, "k", tensors.k, bytes.key) &&
         check(call, "v", tensors.v, bytes.key);
}

void SimulatedRuntimeDevice::attention(const runtime::AttentionTensors &tensors,
                                       const runtime::AttentionCall &call) {
  AttentionBytes bytes(call);
  if (checkInputs("attention", tensors, bytes) &&
      claim(tensors.o, bytes.query) && claim(tensors.lse, bytes.lse))
    runtime::CpuDevice().attention(tensors, call);
}

void SimulatedRuntimeDevice::attentionAdjoint(
    const runtime::AttentionAdjointTensors &tensors,
    const runtime::AttentionCall &call) {
  const char *name = "adjoint of attention";
  AttentionBytes bytes(call);
  if (checkInputs(name, tensors, bytes) &&
      check(name, "o", tensors.o, bytes.query) &&
      check(name, "lse", tensors.lse, bytes.lse) &&
      check(name, "the gradient of o", tensors.dOut, bytes.query) &&
      claim(tensors.dq, bytes.query) && claim(tensors.dk, bytes.key) &&
      claim(tensors.dv, bytes.key))
    runtime::CpuDevice().attentionAdjoint(tensors, call);
}

void SimulatedRuntimeDevice::groupTokens(std::int32_t *starts,
                                         std::int32_t *order,
                                         const std::int32_t *tokens,
                                         std::int64_t count,
                                         std::int64_t vocabulary) {
  std::uint64_t bytes = static_cast<std::uint64_t>(count) * 4;
  if (!check("token groups", "tokens", tokens, bytes) ||
      !claim(starts, static_cast<std::uint64_t>(vocabulary + 1) * 4) ||
      !claim(order, bytes))
    return;
  runtime::CpuDevice().groupTokens(starts, order, tokens, count, vocabulary);
}
