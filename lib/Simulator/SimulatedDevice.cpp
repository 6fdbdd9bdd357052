//===- SimulatedDevice.cpp - A GPU made of fibers -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Simulator/SimulatedDevice.h"
#include "Block.h"
#include "CompileModule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <numeric>

using namespace isobath::simulator;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

struct SimulatedDevice::State {
  GlobalMemory memory;
  FiberStacks stacks;
  std::vector<std::unique_ptr<SimulatedModule>> modules;
};

SimulatedDevice::SimulatedDevice() : state(std::make_unique<State>()) {}
SimulatedDevice::~SimulatedDevice() = default;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<void *> SimulatedDevice::allocate(std::uint64_t bytes,
                                           llvm::StringRef name) {
  auto allocation = state->memory.allocate(bytes, name);
  if (!allocation)
    return allocation.takeError();
  return (*allocation)->base;
}

Expected<void *> SimulatedDevice::allocateArena(std::uint64_t bytes,
                                                llvm::StringRef name) {
  return state->memory.allocateArena(bytes, name);
}

Error SimulatedDevice::beginBuffer(void *buffer, std::uint64_t bytes) {
  return state->memory.beginBuffer(buffer, bytes);
}

Error SimulatedDevice::endBuffers(void *arena) {
  return state->memory.endBuffers(arena);
}

Error SimulatedDevice::free(void *memory) { return state->memory.free(memory); }

static Error mark(GlobalMemory &memory, const void *address,
                  std::uint64_t bytes, bool initialized) {
  auto allocation = memory.get(address, bytes);
  if (!allocation)
    return allocation.takeError();
  std::uint64_t offset = (*allocation)->offsetOf(address);
  (*allocation)->initialized.fill(offset, offset + bytes, initialized);
  return Error::success();
}

Error SimulatedDevice::markInitialized(void *memory, std::uint64_t bytes) {
  return mark(state->memory, memory, bytes, true);
}

Error SimulatedDevice::markUninitialized(void *memory, std::uint64_t bytes) {
  return mark(state->memory, memory, bytes, false);
}

Error SimulatedDevice::copyToDevice(void *to, const void *from,
                                    std::uint64_t bytes) {
  if (Error error = markInitialized(to, bytes))
    return error;
  std::memcpy(to, from, bytes);
  return Error::success();
}

Error SimulatedDevice::fill(void *memory, std::uint8_t value,
                            std::uint64_t bytes) {
  if (Error error = markInitialized(memory, bytes))
    return error;
  std::memset(memory, value, bytes);
  return Error::success();
}

Expected<bool> SimulatedDevice::isInitialized(const void *memory,
                                              std::uint64_t bytes) {
  auto allocation = state->memory.get(memory, bytes);
  if (!allocation)
    return allocation.takeError();
  std::uint64_t end = (*allocation)->offsetOf(memory) + bytes;
  return (*allocation)->initialized.findUnset(end - bytes, end) == end;
}

Error SimulatedDevice::copyToHost(void *to, const void *from,
                                  std::uint64_t bytes) {
  auto allocation = state->memory.get(from, bytes);
  if (!allocation)
    return allocation.takeError();
  std::uint64_t begin = (*allocation)->offsetOf(from);
  std::uint64_t unset =
      (*allocation)->initialized.findUnset(begin, begin + bytes);
  if (unset != begin + bytes)
    return makeError(
        "given " + Twine(bytes) + " bytes to copy to the host, but nothing " +
        "has been written " +
        state->memory.describe((*allocation)->base + unset).second);
  std::memcpy(to, from, bytes);
  return Error::success();
}

Error SimulatedDevice::copyOnDevice(void *to, const void *from,
                                    std::uint64_t bytes) {
  auto source = state->memory.get(from, bytes);
  if (!source)
    return source.takeError();
  auto target = state->memory.get(to, bytes);
  if (!target)
    return target.takeError();
  Bits initialized = (*source)->initialized;
  std::uint64_t begin = (*source)->offsetOf(from);
  std::uint64_t at = (*target)->offsetOf(to);
  for (std::uint64_t i = 0; i < bytes; ++i)
    (*target)->initialized.fill(at + i, at + i + 1,
                                initialized.test(begin + i));
  std::memmove(to, from, bytes);
  return Error::success();
}

Expected<bool> SimulatedDevice::wasWritten(const void *memory) {
  auto allocation = state->memory.get(memory, 0);
  if (!allocation)
    return allocation.takeError();
  return state->memory.wasWritten(**allocation);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Expected<SimulatedModule *>
SimulatedDevice::loadModule(const llvm::Module &given) {
  auto module = compileModule(given);
  if (!module)
    return module.takeError();
  for (auto [variable, address] :
       llvm::zip_equal((*module)->description.globals, (*module)->globals)) {
    llvm::StringRef name = variable.symbol;
    name.consume_front("isobath_global_");
    state->memory.adopt(address, variable.bytes, ("@" + name).str(),
                        variable.isConstant);
  }
  state->modules.push_back(std::move(*module));
  return state->modules.back().get();
}

void SimulatedDevice::unloadModule(SimulatedModule *module) {
  for (std::byte *address : module->globals)
    state->memory.disown(address);
  llvm::erase_if(state->modules,
                 [&](const auto &loaded) { return loaded.get() == module; });
}

Expected<const SimulatedKernel *>
SimulatedDevice::getKernel(SimulatedModule *module, llvm::StringRef name) {
  auto found = module->kernels.find(name);
  if (found != module->kernels.end())
    return &found->getValue();
  std::vector<std::string> names;
  for (const auto &kernel : module->kernels)
    names.push_back(kernel.getKey().str());
  llvm::sort(names);
  return makeError("given the kernel " + name + ", expected " +
                   (names.empty() ? "none, since the module has none"
                                  : llvm::join(names, ", ")));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Limits of the GPUs that Isobath compiles for.
static constexpr std::uint64_t maxBlockThreads = 1024, maxBlockZ = 64,
                               maxGridX = INT32_MAX, maxGridYZ = 65535,
                               maxSharedBytes = 227 << 10;

/// Of the simulation: more would take hours.
static constexpr std::uint64_t maxBlocks = 1 << 24;

static Error checkSize(llvm::StringRef what, std::uint64_t given,
                       std::uint64_t most) {
  if (given >= 1 && given <= most)
    return Error::success();
  return makeError(what + ": given " + Twine(given) + ", expected 1 to " +
                   Twine(most));
}

static Error checkSizes(const LaunchConfiguration &configuration) {
  const Dim3 &grid = configuration.grid, &block = configuration.block;
  struct {
    llvm::StringRef what;
    std::uint64_t given, most;
  } sizes[] = {{"grid.x", grid.x, maxGridX},
               {"grid.y", grid.y, maxGridYZ},
               {"grid.z", grid.z, maxGridYZ},
               {"blocks of the grid", grid.count(), maxBlocks},
               {"block.x", block.x, maxBlockThreads},
               {"block.y", block.y, maxBlockThreads},
               {"block.z", block.z, maxBlockZ},
               {"threads of a block", block.count(), maxBlockThreads}};
  for (const auto &size : sizes)
    if (Error error = checkSize(size.what, size.given, size.most))
      return error;
  // Threads are numbered through in 32 bits.
  return checkSize("threads of the grid", grid.count() * block.count(),
                   UINT32_MAX - 1);
}

static Error checkLaunch(const SimulatedKernel &kernel,
                         const LaunchConfiguration &configuration,
                         std::size_t arguments) {
  if (Error error = checkSizes(configuration))
    return error;
  const Dim3 &block = configuration.block;
  const RewrittenKernel &description = kernel.description;
  auto fail = [&](const Twine &message) {
    return makeError("@" + kernel.name + ": " + message);
  };
  if (description.maxThreads && block.count() > description.maxThreads)
    return fail("given a block of " + Twine(block.count()) +
                " threads, expected at most " + Twine(description.maxThreads));
  const std::uint32_t *required = description.requiredBlock;
  if (Dim3 exact{required[0], required[1], required[2]};
      required[0] && exact != block)
    return fail("given a block of " + toString(block) + ", expected " +
                toString(exact));
  std::uint64_t fixed = description.staticSharedBytes;
  if (configuration.dynamicSharedBytes > maxSharedBytes ||
      fixed + configuration.dynamicSharedBytes > maxSharedBytes)
    return fail("given " + Twine(fixed) + " static and " +
                Twine(configuration.dynamicSharedBytes) +
                " dynamic bytes of shared memory, expected at most " +
                Twine(maxSharedBytes));
  if (arguments != description.parameters)
    return fail("given " + Twine(arguments) + " arguments, expected " +
                Twine(description.parameters));
  constexpr std::uint64_t maxLocalBytes = 512 << 10;
  if (description.localBytes > maxLocalBytes)
    return fail("given variables of " + Twine(description.localBytes) +
                " bytes on each thread's stack, expected at most " +
                Twine(maxLocalBytes));
  return Error::success();
}

Expected<LaunchReport>
SimulatedDevice::launch(const SimulatedKernel &kernel,
                        const LaunchConfiguration &configuration,
                        llvm::ArrayRef<const void *> arguments) {
  if (Error error = checkLaunch(kernel, configuration, arguments.size()))
    return error;
  // Besides variables, what the host's compiler spills, and the simulator.
  constexpr std::uint64_t stackBytes = 256 << 10;
  if (Error error =
          state->stacks.reserve(configuration.block.count(),
                                stackBytes + kernel.description.localBytes))
    return error;
  const RewrittenModule &module = kernel.module->description;
  std::uint64_t staticBytes = kernel.description.staticSharedBytes;
  // No variable asks for more.
  constexpr std::uint64_t dynamicAlignment = 128;
  std::uint64_t dynamicStart =
      configuration.dynamicSharedBytes == 0
          ? staticBytes
          : llvm::alignTo(staticBytes, dynamicAlignment);
  Launch launch(module.sites, state->memory, state->stacks, configuration,
                dynamicStart);
  LaunchReport &report = launch.report;
  report.kernel = kernel.name;
  report.grid = configuration.grid;
  report.block = configuration.block;
  report.staticSharedBytes = staticBytes;
  report.dynamicSharedBytes = configuration.dynamicSharedBytes;
  report.seed = configuration.seed;
  report.libdeviceFunctions = module.libdeviceFunctions;
  launch.entry = kernel.entry;
  launch.arguments = arguments.data();
  state->memory.startLaunch();
  // Blocks in an order of the seed, so that none can count on another.
  std::vector<std::uint32_t> order(configuration.grid.count());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[launch.random() % i]);
  Block block(launch);
  const Dim3 &grid = configuration.grid;
  for (std::uint32_t number : order) {
    block.run(
        {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y});
    if (launch.stopped)
      break;
  }
  report.complete = !launch.stopped;
  report.sites = launch.requests.reportSites();
  return std::move(report);
}
