//===- GlobalMemory.cpp - The device's memory, and who used it ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>

using namespace isobath::simulator;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

std::uint64_t Bits::mask(std::uint64_t i, std::uint64_t begin,
                         std::uint64_t end) {
  std::uint64_t bits = ~std::uint64_t(0);
  if (i == begin / 64)
    bits &= ~std::uint64_t(0) << (begin % 64);
  if (i == end / 64)
    bits &= ~(~std::uint64_t(0) << (end % 64));
  return bits;
}

void Bits::fill(std::uint64_t begin, std::uint64_t end, bool value) {
  for (std::uint64_t i = begin / 64; i * 64 < end; ++i)
    if (value)
      words[i] |= mask(i, begin, end);
    else
      words[i] &= ~mask(i, begin, end);
}

std::uint64_t Bits::findUnset(std::uint64_t begin, std::uint64_t end) const {
  for (std::uint64_t i = begin / 64; i * 64 < end; ++i)
    if (std::uint64_t unset = ~words[i] & mask(i, begin, end))
      return i * 64 + llvm::countr_zero(unset);
  return end;
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

using OwnedBytes = std::unique_ptr<std::byte, void (*)(std::byte *)>;

/// Memory for so many bytes between zones.
static llvm::Expected<OwnedBytes> allocateWithZones(std::uint64_t bytes,
                                                    std::uint64_t zoneBytes) {
  constexpr std::uint64_t alignment = 256, most = std::uint64_t(1) << 40;
  if (bytes > most)
    return makeError("given " + llvm::Twine(bytes) +
                     " bytes to allocate, expected at most 2^40");
  std::uint64_t whole = llvm::alignTo(bytes, alignment) + 2 * zoneBytes;
  OwnedBytes memory(
      static_cast<std::byte *>(std::aligned_alloc(alignment, whole)),
      [](std::byte *data) { std::free(data); });
  if (!memory)
    return makeError("not enough memory for " + llvm::Twine(bytes) + " bytes");
  return memory;
}

llvm::Expected<Allocation *> GlobalMemory::allocate(std::uint64_t bytes,
                                                    llvm::StringRef name) {
  auto memory = allocateWithZones(bytes, zoneBytes);
  if (!memory)
    return memory.takeError();
  auto allocation = std::make_unique<Allocation>();
  allocation->memory = std::move(*memory);
  allocation->base = allocation->memory.get() + zoneBytes;
  allocation->bytes = bytes;
  allocation->name = name.str();
  allocation->initialized.reset(bytes);
  Allocation *result = allocation.get();
  allocations[result->base] = std::move(allocation);
  return result;
}

llvm::Expected<void *> GlobalMemory::allocateArena(std::uint64_t bytes,
                                                   llvm::StringRef name) {
  auto memory = allocateWithZones(bytes, zoneBytes);
  if (!memory)
    return memory.takeError();
  std::byte *base = memory->get() + zoneBytes;
  arenas.insert({base, Arena{std::move(*memory), base, bytes, name.str()}});
  return base;
}

llvm::Error GlobalMemory::beginBuffer(void *buffer, std::uint64_t bytes) {
  auto *begin = static_cast<std::byte *>(buffer);
  auto next = arenas.upper_bound(begin);
  const Arena *arena =
      next == arenas.begin() ? nullptr : &std::prev(next)->second;
  if (!arena ||
      static_cast<std::uint64_t>(begin - arena->base) + bytes > arena->bytes)
    return makeError("given a buffer of " + llvm::Twine(bytes) +
                     " bytes to begin, expected it in an arena");
  endBetween(begin, begin + bytes);
  adopt(begin, bytes,
        (arena->name + " from byte " + llvm::Twine(begin - arena->base)).str(),
        /*constant=*/false);
  allocations[begin]->initialized.fill(0, bytes, false);
  return llvm::Error::success();
}

void GlobalMemory::endBetween(const std::byte *begin, const std::byte *end) {
  last = nullptr;
  auto first = allocations.lower_bound(begin);
  if (first != allocations.begin()) {
    const Allocation &before = *std::prev(first)->second;
    if (before.base + before.bytes > begin)
      --first;
  }
  while (first != allocations.end() && first->first < end)
    first = allocations.erase(first);
}

llvm::Error GlobalMemory::endBuffers(void *arena) {
  auto found = arenas.find(static_cast<std::byte *>(arena));
  if (found == arenas.end())
    return makeError("given memory that is no arena");
  endBetween(found->first, found->first + found->second.bytes);
  return llvm::Error::success();
}

llvm::Error GlobalMemory::free(void *memory) {
  if (auto arena = arenas.find(static_cast<std::byte *>(memory));
      arena != arenas.end()) {
    endBetween(arena->first, arena->first + arena->second.bytes);
    arenas.erase(arena);
    return llvm::Error::success();
  }
  auto found = allocations.find(static_cast<std::byte *>(memory));
  if (found == allocations.end())
    return makeError("given memory to free that was not allocated");
  Allocation &allocation = *found->second;
  if (allocation.freed)
    return makeError("given memory to free that has been freed");
  allocation.freed = true;
  freed.push_back(allocation.base);
  freedBytes += allocation.bytes + 2 * zoneBytes;
  forgetFreed();
  return llvm::Error::success();
}

void GlobalMemory::forgetFreed() {
  last = nullptr;
  while (freedBytes > keptBytes && freed.size() > 1) {
    auto oldest = allocations.find(freed.front());
    freedBytes -= oldest->second->bytes + 2 * zoneBytes;
    allocations.erase(oldest);
    freed.pop_front();
  }
}

void GlobalMemory::adopt(std::byte *base, std::uint64_t bytes,
                         llvm::StringRef name, bool isConstant) {
  auto allocation = std::make_unique<Allocation>();
  allocation->isConstant = isConstant;
  allocation->base = base;
  allocation->bytes = bytes;
  allocation->name = name.str();
  allocation->initialized.reset(bytes);
  allocation->initialized.fill(0, bytes, true);
  allocations[base] = std::move(allocation);
}

void GlobalMemory::disown(std::byte *base) {
  allocations.erase(base);
  last = nullptr;
}

Allocation *GlobalMemory::find(const void *address, std::uint64_t bytes) {
  if (last && last->contains(address, bytes))
    return last;
  auto next = allocations.upper_bound(static_cast<const std::byte *>(address));
  if (next == allocations.begin())
    return nullptr;
  Allocation *allocation = std::prev(next)->second.get();
  if (allocation->freed || !allocation->contains(address, bytes))
    return nullptr;
  return last = allocation;
}

llvm::Expected<Allocation *> GlobalMemory::get(const void *address,
                                               std::uint64_t bytes) {
  if (Allocation *allocation = find(address, bytes))
    return allocation;
  return makeError("given " + llvm::Twine(bytes) + " bytes that begin " +
                   describe(address).second +
                   ", expected them within one allocation");
}

static std::string describeAllocation(const Allocation &allocation) {
  std::string text = (llvm::Twine(allocation.bytes) + " bytes").str();
  return allocation.name.empty() ? "an allocation of " + text
                                 : "the " + text + " of " + allocation.name;
}

std::pair<bool, std::string> GlobalMemory::describe(const void *address) {
  auto *place = static_cast<const std::byte *>(address);
  auto next = allocations.upper_bound(place);
  const Allocation *before =
      next == allocations.begin() ? nullptr : std::prev(next)->second.get();
  const Allocation *after =
      next == allocations.end() ? nullptr : next->second.get();
  if (before && before->contains(place, 1))
    return {before->freed, (llvm::Twine(before->offsetOf(place)) +
                            " bytes into " + describeAllocation(*before))
                               .str()};
  std::uint64_t behind =
      before ? before->offsetOf(place) - before->bytes : UINT64_MAX;
  std::uint64_t ahead = after ? after->base - place : UINT64_MAX;
  if (std::min(behind, ahead) > zoneBytes)
    return {false,
            (llvm::Twine("at 0x") +
             llvm::Twine::utohexstr(reinterpret_cast<std::uintptr_t>(address)) +
             ", near no allocation")
                .str()};
  const Allocation &nearest = behind <= ahead ? *before : *after;
  return {nearest.freed, (llvm::Twine(std::min(behind, ahead)) + " bytes " +
                          (behind <= ahead ? "behind " : "in front of ") +
                          describeAllocation(nearest))
                             .str()};
}

//===----------------------------------------------------------------------===//
// Records of a launch
//===----------------------------------------------------------------------===//

static constexpr std::uint64_t cellsPerPage = 2048;

WriteCell *Allocation::getCell(std::uint64_t offset, bool make) {
  std::uint64_t cell = offset / WriteCell::bytes;
  auto &page = writers[cell / cellsPerPage];
  if (!page) {
    if (!make)
      return nullptr;
    page = std::make_unique<WriteCell[]>(cellsPerPage);
  }
  return &page[cell % cellsPerPage];
}

void GlobalMemory::prepare(Allocation &allocation) {
  if (allocation.launch == launch)
    return;
  allocation.launch = launch;
  allocation.written = false;
  std::uint64_t sectors = llvm::divideCeil(allocation.bytes, sectorBytes);
  allocation.readSectors.reset(sectors);
  allocation.writtenSectors.reset(sectors);
  allocation.writers.clear();
  allocation.writers.resize(
      llvm::divideCeil(allocation.bytes, cellsPerPage * WriteCell::bytes));
}

void GlobalMemory::countSectors(Allocation &allocation, std::uint64_t offset,
                                std::uint64_t bytes, bool writes,
                                LaunchCounts &counts) {
  for (std::uint64_t sector = offset / sectorBytes;
       sector <= (offset + bytes - 1) / sectorBytes; ++sector)
    if (writes) {
      if (!allocation.writtenSectors.set(sector))
        counts.dramBytesWritten += sectorBytes;
    } else if (!allocation.writtenSectors.test(sector) &&
               !allocation.readSectors.set(sector)) {
      counts.dramBytesRead += sectorBytes;
    }
}
