//===- SharedMemory.cpp - Shared memory of a block, and who used it -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace isobath::simulator;

/// Vectors of the host may be loaded from it with this alignment.
static constexpr std::size_t alignment = 128;

SharedMemory::SharedMemory(const SiteTable &sites, const WarpClocks &clocks,
                           std::uint64_t bytes)
    : sites(sites), clocks(clocks), bytes(bytes),
      memory(bytes + 2 * zoneBytes + alignment),
      data(reinterpret_cast<std::byte *>(llvm::alignTo(
          reinterpret_cast<std::uintptr_t>(memory.data()) + zoneBytes,
          alignment))),
      shadow(bytes) {}

void SharedMemory::startBlock() {
  // A value that a kernel would read from the block before is a NaN now.
  std::fill_n(data, bytes, std::byte(0xff));
  std::fill(shadow.begin(), shadow.end(), Byte());
}

bool SharedMemory::conflicts(const Access &earlier, const Access &now) const {
  if (earlier.thread == none || earlier.thread == now.thread)
    return false;
  if (sites[earlier.site].kind == AccessKind::Atomic &&
      sites[now.site].kind == AccessKind::Atomic)
    return false;
  return !clocks.isOrdered(now.thread / warpSize, earlier.thread / warpSize,
                           earlier.clock);
}

std::optional<SharedConflict> SharedMemory::note(Byte &byte,
                                                 const Access &now) {
  using Reason = SharedConflict::Reason;
  const Site &site = sites[now.site];
  if (byte.copies > 0)
    return SharedConflict{Reason::AsyncCopy, 0};
  if (site.reads() && !byte.initialized)
    return SharedConflict{Reason::Uninitialized, 0};
  if (conflicts(byte.write, now))
    return SharedConflict{Reason::Race, 0, byte.write.thread, byte.write.site,
                          true};
  if (site.writes())
    for (const Access &read : byte.reads)
      if (conflicts(read, now))
        return SharedConflict{Reason::Race, 0, read.thread, read.site, false};
  return std::nullopt;
}

std::optional<SharedConflict> SharedMemory::access(std::uint64_t offset,
                                                   std::uint64_t count,
                                                   std::uint32_t thread,
                                                   std::uint32_t siteNumber) {
  const Site &site = sites[siteNumber];
  Access now{thread, clocks.now(thread / warpSize), siteNumber};
  std::optional<SharedConflict> conflict;
  for (std::uint64_t at = offset; at < offset + count; ++at) {
    Byte &byte = shadow[at];
    if (!conflict && (conflict = note(byte, now)))
      conflict->offset = at;
    if (site.writes()) {
      byte.write = now;
      byte.initialized = true;
    } else {
      // The last two threads: one of them is not the one that writes next.
      if (byte.reads[0].thread != thread)
        byte.reads[1] = byte.reads[0];
      byte.reads[0] = now;
    }
  }
  return conflict;
}

void SharedMemory::beginCopy(std::uint64_t offset, std::uint64_t count) {
  for (std::uint64_t at = offset; at < offset + count; ++at)
    ++shadow[at].copies;
}

void SharedMemory::endCopy(std::uint64_t offset, std::uint64_t count) {
  for (std::uint64_t at = offset; at < offset + count; ++at)
    --shadow[at].copies;
}
