//===- Buffers.cpp - The memory that entries work in ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/buffers.h"

#include "isobath/runtime/error.h"

#include <algorithm>
#include <cstring>

namespace isobath::runtime {

static constexpr std::string_view arenaName = "arena";

/// The bytes that a buffer takes in memory: whole alignment units, at least
/// one, so that no pointer is null and no two are equal.
static std::uint64_t paddedBytes(std::uint64_t bytes) {
  constexpr std::uint64_t unit = ISOBATH_ABI_ALIGNMENT;
  std::uint64_t largest = ~std::uint64_t(0) / unit * unit;
  return bytes > largest ? largest
                         : std::max(unit, (bytes + unit - 1) / unit * unit);
}

void Buffers::Call::run() const {
  std::vector<void *> pointers;
  pointers.reserve(names.size());
  for (const std::string &name : names)
    pointers.push_back(buffers->getDeviceSide(buffers->find(name)));
  entry->run(pointers);
  for (const std::string &name : names) {
    const Block &block = buffers->find(name);
    block.isCopyOld = block.copy != nullptr;
    if (name == arenaName)
      buffers->device->discard(block.data.get(), block.bytes);
  }
}

void *Buffers::getHostSide(const Block &block, bool isWritten) const {
  if (!block.copy)
    return block.data.get();
  if (block.isCopyOld)
    device->copyToHost(block.copy.get(), block.data.get(), block.bytes);
  block.isCopyOld = false;
  block.isDataOld |= isWritten;
  return block.copy.get();
}

void *Buffers::getDeviceSide(const Block &block) const {
  if (block.isDataOld)
    device->copyToDevice(block.data.get(), block.copy.get(), block.bytes);
  block.isDataOld = false;
  return block.data.get();
}

std::string distributionName(const EntrySignature &entry, std::size_t index) {
  return concat(entry.name, ".", index);
}

Buffers::Call Buffers::plan(const Entry &entry, const BufferNames &renamed) {
  assert((device == &host || device == &entry.device()) && "one for all");
  device = &entry.device();
  std::vector<std::string> names;
  for (const Buffer &buffer : entry.signature().buffers) {
    std::string name = buffer.name;
    if (buffer.isDistribution)
      name = distributionName(entry.signature(), names.size());
    else if (auto other = renamed.find(name); other != renamed.end())
      name = other->second;
    reserve(name, buffer.bytes);
    names.push_back(std::move(name));
  }
  return Call(*this, entry, std::move(names));
}

void Buffers::reserve(const std::string &name, std::uint64_t bytes) {
  Block &block = blocks[name];
  assert(!block.data && "planning comes before allocate()");
  block.bytes = std::max(block.bytes, bytes);
}

std::uint64_t Buffers::plannedBytes() const {
  std::uint64_t sum = 0;
  for (const auto &[name, block] : blocks)
    if (__builtin_add_overflow(sum, paddedBytes(block.bytes), &sum))
      return ~std::uint64_t(0);
  return sum;
}

void Buffers::allocate() {
  for (auto &[name, block] : blocks) {
    const std::uint64_t bytes = paddedBytes(block.bytes);
    const bool isCopied = !device->isHostMemory() && name != arenaName;
    block.data = DeviceMemory(name == arenaName ? device->allocateArena(bytes)
                                                : device->allocate(name, bytes),
                              {device});
    if (isCopied)
      block.copy = allocateHostMemory(bytes);
    if (!block.data || (isCopied && !block.copy))
      fail("out of memory: buffer ", name, " needs ", block.bytes,
           " bytes, of ", plannedBytes(), " planned in all");
    if (isCopied)
      std::memset(block.copy.get(), 0, bytes);
    if (name != arenaName)
      device->clear(block.data.get(), bytes);
  }
}

const Buffers::Block &Buffers::find(std::string_view name) const {
  auto block = blocks.find(name);
  assert(block != blocks.end() && "only planned buffers are used");
  return block->second;
}

} // namespace isobath::runtime
