//===- GlobalMemory.h - The device's memory, and who used it --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of allocations, each between two zones that belong to nobody. Beside
// the bytes there are: which have been written ever, which sectors this launch
// has touched, and which thread of it wrote them last.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_GLOBALMEMORY_H
#define ISOBATH_LIB_SIMULATOR_GLOBALMEMORY_H

#include "isobath/Simulator/LaunchReport.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace isobath::simulator {

/// A fixed number of bits, all 0 at first.
class Bits {
public:
  void reset(std::uint64_t count) { words.assign((count + 63) / 64, 0); }
  bool test(std::uint64_t i) const { return words[i / 64] >> (i % 64) & 1; }
  /// Sets a bit and returns what it was.
  bool set(std::uint64_t i) {
    std::uint64_t bit = std::uint64_t(1) << (i % 64);
    bool before = words[i / 64] & bit;
    words[i / 64] |= bit;
    return before;
  }
  void fill(std::uint64_t begin, std::uint64_t end, bool value);
  /// The first of [begin, end) that is not set, or `end`.
  std::uint64_t findUnset(std::uint64_t begin, std::uint64_t end) const;

private:
  /// The bits of word i that lie in [begin, end).
  static std::uint64_t mask(std::uint64_t i, std::uint64_t begin,
                            std::uint64_t end);

  std::vector<std::uint64_t> words;
};

inline constexpr std::uint64_t sectorBytes = 32;

/// Two bytes of memory, as fine as kernels write in general: the last thread
/// that wrote there in this launch.
struct WriteCell {
  static constexpr std::uint64_t bytes = 2;

  std::uint32_t writer = 0; // its number in the grid, plus 1
  std::uint32_t clock : 29 = 0;
  std::uint32_t atomic : 1 = 0;
  std::uint32_t written : 2 = 0; // which of the bytes
};

struct Allocation {
  std::byte *base = nullptr;
  std::uint64_t bytes = 0;
  std::string name;
  bool freed = false;
  bool isConstant = false; // kernels may only read it
  std::unique_ptr<std::byte, void (*)(std::byte *)> memory{nullptr, nullptr};
  Bits initialized;

  // Of the launch number `launch`:
  std::uint64_t launch = 0;
  bool written = false;
  Bits readSectors, writtenSectors;
  std::vector<std::unique_ptr<WriteCell[]>> writers; // pages of cells

  bool contains(const void *address, std::uint64_t count) const {
    auto offset = static_cast<const std::byte *>(address) - base;
    return offset >= 0 && static_cast<std::uint64_t>(offset) <= bytes &&
           count <= bytes - static_cast<std::uint64_t>(offset);
  }
  std::uint64_t offsetOf(const void *address) const {
    return static_cast<const std::byte *>(address) - base;
  }
  /// The cell of the bytes at `offset`, or null if it does not exist and is not
  /// to be made.
  WriteCell *getCell(std::uint64_t offset, bool make);
};

/// Memory of which only buffers that have begun are allocations.
struct Arena {
  std::unique_ptr<std::byte, void (*)(std::byte *)> memory;
  std::byte *base;
  std::uint64_t bytes;
  std::string name;
};

class GlobalMemory {
public:
  llvm::Expected<Allocation *> allocate(std::uint64_t bytes,
                                        llvm::StringRef name);
  llvm::Expected<void *> allocateArena(std::uint64_t bytes,
                                       llvm::StringRef name);
  llvm::Error beginBuffer(void *buffer, std::uint64_t bytes);
  llvm::Error endBuffers(void *arena);
  llvm::Error free(void *memory);
  /// Makes memory of the host part of the device's, as variables of a module.
  void adopt(std::byte *base, std::uint64_t bytes, llvm::StringRef name,
             bool isConstant);
  void disown(std::byte *base);

  /// The living allocation around all of the bytes, or null.
  Allocation *find(const void *address, std::uint64_t bytes);

  /// The same; the error says where the bytes are instead.
  llvm::Expected<Allocation *> get(const void *address, std::uint64_t bytes);

  /// Whether the bytes lie in memory that has been freed, and where they are as
  /// a sentence's end: `4 bytes behind the 64 bytes of argument 0`.
  std::pair<bool, std::string> describe(const void *address);

  void startLaunch() { ++launch; }
  /// Makes the records of an allocation those of the current launch.
  void prepare(Allocation &allocation);
  bool wasWritten(const Allocation &allocation) const {
    return allocation.launch == launch && allocation.written;
  }

  /// Counts sectors of an access, which `prepare` came before.
  static void countSectors(Allocation &allocation, std::uint64_t offset,
                           std::uint64_t bytes, bool writes,
                           LaunchCounts &counts);

private:
  /// Around each allocation.
  static constexpr std::uint64_t zoneBytes = 64 << 10;
  /// Freed memory that is kept, so that its use is noticed.
  static constexpr std::uint64_t keptBytes = 256 << 20;

  void forgetFreed();
  /// Ends what lies in part between these addresses.
  void endBetween(const std::byte *begin, const std::byte *end);

  std::map<const std::byte *, std::unique_ptr<Allocation>> allocations;
  std::map<const std::byte *, Arena> arenas;
  std::deque<const std::byte *> freed; // the oldest first
  std::uint64_t freedBytes = 0;
  std::uint64_t launch = 0;
  Allocation *last = nullptr; // that was found
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_GLOBALMEMORY_H
