//===- SharedMemory.h - Shared memory of a block, and who used it ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every byte: the last write, the last two reads by different threads, and
// whether an asynchronous copy is still to fill it. An access conflicts with
// another of a different thread if one of them writes, not both are atomic, and
// no barrier orders them.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_SHAREDMEMORY_H
#define ISOBATH_LIB_SIMULATOR_SHAREDMEMORY_H

#include "Sites.h"
#include "ThreadState.h"
#include "WarpClocks.h"
#include <cstddef>
#include <optional>

namespace isobath::simulator {

/// An access that another one conflicts with.
struct SharedConflict {
  enum class Reason { Uninitialized, Race, AsyncCopy } reason;
  std::uint64_t offset;          // of the first byte in question
  std::uint32_t otherThread = 0; // in its block, of a race
  std::uint32_t otherSite = 0;
  bool otherWrites = false;
};

class SharedMemory {
public:
  SharedMemory(const SiteTable &sites, const WarpClocks &clocks,
               std::uint64_t bytes);

  std::byte *getData() const { return data; }
  std::uint64_t getBytes() const { return bytes; }
  /// Whether `address` is in it or near.
  bool owns(const void *address) const {
    return address >= data - zoneBytes && address < data + bytes + zoneBytes;
  }

  /// Nothing is in it and nobody has used it.
  void startBlock();

  /// Notes an access of the thread number `thread` of the block, and returns
  /// what is wrong with it. Less wrong is not looked for after that.
  std::optional<SharedConflict> access(std::uint64_t offset,
                                       std::uint64_t count,
                                       std::uint32_t thread,
                                       std::uint32_t site);

  /// An asynchronous copy begins, and has ended.
  void beginCopy(std::uint64_t offset, std::uint64_t count);
  void endCopy(std::uint64_t offset, std::uint64_t count);

private:
  /// In front of the first byte and behind the last one; nobody's.
  static constexpr std::uint64_t zoneBytes = 4096;

  struct Access {
    std::uint32_t thread = none;
    std::uint32_t clock = 0;
    std::uint32_t site = 0;
  };
  struct Byte {
    Access write;
    Access reads[2];
    std::uint16_t copies = 0;
    bool initialized = false;
  };
  static constexpr std::uint32_t none = ~0u;

  bool conflicts(const Access &earlier, const Access &now) const;
  std::optional<SharedConflict> note(Byte &byte, const Access &now);

  const SiteTable &sites;
  const WarpClocks &clocks;
  std::uint64_t bytes;
  std::vector<std::byte> memory;
  std::byte *data; // in it
  std::vector<Byte> shadow;
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_SHAREDMEMORY_H
