//===- Accesses.cpp - What is checked and counted at an access ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access that memory of the simulator could suffer from, or that would stop
// a GPU, ends the launch: out of bounds, after free, misaligned. The others are
// noted.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace isobath::simulator;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string describeAccess(const Site &site, std::uint64_t bytes) {
  const char *kind = "";
  switch (site.kind) {
  case AccessKind::Load:
    kind = "a load";
    break;
  case AccessKind::Store:
    kind = "a store";
    break;
  case AccessKind::Atomic:
    kind = "an atomic operation";
    break;
  }
  return (kind + llvm::Twine(" of ") + llvm::Twine(bytes) +
          (bytes == 1 ? " byte" : " bytes"))
      .str();
}

/// `its byte 12 is `
static std::string describeByte(std::uint64_t number) {
  return ("its byte " + llvm::Twine(number) + " is ").str();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static void findConflict(Thread &thread, std::uint32_t site,
                         std::uint64_t bytes, const SharedConflict &conflict) {
  using Reason = SharedConflict::Reason;
  Launch &launch = thread.block->launch;
  FindingKind kind = conflict.reason == Reason::Uninitialized
                         ? FindingKind::UninitializedRead
                         : FindingKind::SharedRace;
  if (launch.countKnown(kind, site))
    return;
  std::string access = describeAccess(launch.sites[site], bytes);
  std::string place =
      ("byte " + llvm::Twine(conflict.offset) + " of shared memory").str();
  if (conflict.reason == Reason::Uninitialized)
    return launch.find(kind, thread, site,
                       access + ", where nothing has been written",
                       {"it is " + place});
  if (conflict.reason == Reason::AsyncCopy)
    return launch.find(kind, thread, site,
                       access + ", where an asynchronous copy is under way",
                       {"it is " + place});
  const Thread &other = *(&thread - thread.index + conflict.otherThread);
  launch.find(kind, thread, site,
              access + ", with no barrier after that of another thread",
              {"it is " + place,
               describeThread(other) +
                   (conflict.otherWrites ? " wrote" : " read") + " at " +
                   launch.sites[conflict.otherSite].location});
}

static void noteShared(Thread &thread, std::uint64_t offset,
                       std::uint64_t bytes, std::uint32_t site) {
  if (auto conflict =
          thread.block->launch.shared.access(offset, bytes, thread.index, site))
    findConflict(thread, site, bytes, *conflict);
}

/// The offset of an access; ends the launch if it is not within the block's.
static std::uint64_t checkSharedBounds(Thread &thread, const void *address,
                                       std::uint64_t bytes,
                                       std::uint32_t site) {
  Launch &launch = thread.block->launch;
  // One in front of the first byte becomes very large.
  std::uint64_t offset =
      static_cast<const std::byte *>(address) - launch.shared.getData();
  std::uint64_t end = launch.shared.getBytes();
  if (offset <= end && bytes <= end - offset)
    return offset;
  launch.find(
      FindingKind::OutOfBounds, thread, site,
      describeAccess(launch.sites[site], bytes),
      {("it begins at byte " + llvm::Twine(static_cast<std::int64_t>(offset)) +
        " of the " + llvm::Twine(end) + " bytes of shared memory")
           .str()});
  launch.stop();
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The allocation of an access; ends the launch if there is none.
static Allocation &checkGlobalBounds(Thread &thread, void *address,
                                     std::uint64_t bytes, std::uint32_t site) {
  Launch &launch = thread.block->launch;
  if (Allocation *found = launch.memory.find(address, bytes)) {
    if (found->isConstant && launch.sites[site].writes()) {
      launch.find(FindingKind::ConstantWrite, thread, site,
                  describeAccess(launch.sites[site], bytes),
                  {"it is " + launch.memory.describe(address).second +
                   ", which is constant"});
      launch.stop();
    }
    launch.memory.prepare(*found);
    return *found;
  }
  {
    // The first byte that is not where others are.
    std::uint64_t bad = 0;
    auto *first = static_cast<std::byte *>(address);
    if (Allocation *begin = launch.memory.find(address, 1))
      bad = begin->bytes - begin->offsetOf(address);
    auto [freed, place] = launch.memory.describe(first + bad);
    launch.find(
        freed ? FindingKind::UseAfterFree : FindingKind::OutOfBounds, thread,
        site, describeAccess(launch.sites[site], bytes),
        {describeByte(bad) + place + (freed ? ", which have been freed" : "")});
  }
  launch.stop();
}

/// Whether what the cell's writer did comes before what `thread` does now.
static bool isOrdered(const Thread &thread, const WriteCell &cell) {
  const Block &block = *thread.block;
  const Launch &launch = block.launch;
  std::uint64_t threads = launch.configuration.block.count();
  std::uint64_t writer = cell.writer - 1;
  if (writer / threads != block.getBlockNumber())
    return block.acquired;
  return launch.clocks.isOrdered(thread.warp, writer % threads / warpSize,
                                 cell.clock);
}

static void findGlobalRace(Thread &thread, std::uint32_t site,
                           std::uint64_t bytes, const Allocation &allocation,
                           std::uint64_t offset, const WriteCell &cell) {
  Launch &launch = thread.block->launch;
  if (launch.countKnown(FindingKind::GlobalRace, site))
    return;
  std::uint64_t threads = launch.configuration.block.count();
  std::uint64_t writer = cell.writer - 1;
  std::uint64_t block = writer / threads;
  const Dim3 &grid = launch.configuration.grid;
  Dim3 place{static_cast<std::uint32_t>(block % grid.x),
             static_cast<std::uint32_t>(block / grid.x % grid.y),
             static_cast<std::uint32_t>(block / grid.x / grid.y)};
  const Thread &other = *(&thread - thread.index + writer % threads);
  launch.find(
      FindingKind::GlobalRace, thread, site,
      describeAccess(launch.sites[site], bytes) +
          ", where another thread wrote in the same launch",
      {"it is " + launch.memory.describe(allocation.base + offset).second,
       "block " + toString(place) + ", " + describeThread(other) +
           " wrote there"});
}

/// Looks for races with what threads of this launch wrote, and becomes part of
/// that.
static void noteCells(Thread &thread, Allocation &allocation,
                      std::uint64_t offset, std::uint64_t bytes,
                      std::uint32_t siteNumber) {
  Launch &launch = thread.block->launch;
  const Site &site = launch.sites[siteNumber];
  std::uint32_t self = thread.block->getGridNumber(thread) + 1;
  std::uint32_t now = launch.clocks.now(thread.warp);
  bool isAtomic = site.kind == AccessKind::Atomic, reported = false;
  for (std::uint64_t at = offset; at < offset + bytes;) {
    unsigned first = at % WriteCell::bytes;
    unsigned mask = first == 0 && at + 1 < offset + bytes ? 3 : 1u << first;
    std::uint64_t place = at;
    at += mask == 3 ? 2 : 1;
    WriteCell *cell = allocation.getCell(place, site.writes());
    if (!cell)
      continue;
    bool isOthers = cell->writer != 0 && cell->writer != self &&
                    cell->written & mask && !(cell->atomic && isAtomic);
    if (isOthers && !reported && !isOrdered(thread, *cell)) {
      findGlobalRace(thread, siteNumber, bytes, allocation, place, *cell);
      reported = true;
    }
    if (!site.writes())
      continue;
    unsigned before = cell->writer == self ? cell->written : 0;
    cell->writer = self;
    cell->clock = now;
    cell->atomic = isAtomic;
    cell->written = before | mask;
  }
}

static void noteGlobal(Thread &thread, Allocation &allocation,
                       std::uint64_t offset, std::uint64_t bytes,
                       std::uint32_t siteNumber) {
  Launch &launch = thread.block->launch;
  const Site &site = launch.sites[siteNumber];
  LaunchCounts &counts = launch.report.counts;
  if (site.reads()) {
    std::uint64_t unset =
        allocation.initialized.findUnset(offset, offset + bytes);
    if (unset != offset + bytes &&
        !launch.countKnown(FindingKind::UninitializedRead, siteNumber))
      launch.find(FindingKind::UninitializedRead, thread, siteNumber,
                  describeAccess(site, bytes) +
                      ", where nothing has been written",
                  {describeByte(unset - offset) +
                   launch.memory.describe(allocation.base + unset).second});
    GlobalMemory::countSectors(allocation, offset, bytes, false, counts);
  }
  noteCells(thread, allocation, offset, bytes, siteNumber);
  if (site.writes()) {
    allocation.written = true;
    allocation.initialized.fill(offset, offset + bytes, true);
    GlobalMemory::countSectors(allocation, offset, bytes, true, counts);
  }
  if (site.kind == AccessKind::Atomic)
    thread.block->acquired = true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

MemorySpace isobath::simulator::findSpace(const Thread &thread,
                                          const void *address) {
  if (thread.block->launch.shared.owns(address))
    return MemorySpace::Shared;
  return thread.fiber.owns(address) ? MemorySpace::Local : MemorySpace::Global;
}

static void checkAlignment(Thread &thread, const void *address,
                           std::uint64_t bytes, std::uint32_t site) {
  Launch &launch = thread.block->launch;
  std::uint64_t alignment = launch.sites[site].alignment;
  std::uint64_t rest = reinterpret_cast<std::uintptr_t>(address) % alignment;
  if (rest == 0)
    return;
  launch.find(FindingKind::Misaligned, thread, site,
              describeAccess(launch.sites[site], bytes),
              {("its address is " + llvm::Twine(rest) +
                " more than a multiple of " + llvm::Twine(alignment))
                   .str()});
  launch.stop();
}

/// All but the count of requests. Returns the address that requests have.
static std::uint64_t checkBytes(Thread &thread, MemorySpace space,
                                void *address, std::uint64_t bytes,
                                std::uint32_t site) {
  if (space == MemorySpace::Shared) {
    std::uint64_t offset = checkSharedBounds(thread, address, bytes, site);
    noteShared(thread, offset, bytes, site);
    return offset;
  }
  Allocation &allocation = checkGlobalBounds(thread, address, bytes, site);
  noteGlobal(thread, allocation, allocation.offsetOf(address), bytes, site);
  return reinterpret_cast<std::uintptr_t>(address);
}

/// Of an access whose variable is not known.
static void checkStackBounds(Thread &thread, const void *address,
                             std::uint64_t bytes, std::uint32_t site) {
  std::uint64_t left = thread.fiber.countBytesFrom(address);
  if (bytes <= left)
    return;
  Launch &launch = thread.block->launch;
  launch.find(FindingKind::OutOfBounds, thread, site,
              describeAccess(launch.sites[site], bytes),
              {("it begins " + llvm::Twine(left) +
                " bytes before the end of the thread's stack")
                   .str()});
  launch.stop();
}

void isobath::simulator::checkLocal(Thread &thread, const void *address,
                                    const void *variable,
                                    std::uint64_t variableBytes,
                                    std::uint64_t bytes, std::uint32_t site) {
  std::uint64_t offset = static_cast<const std::byte *>(address) -
                         static_cast<const std::byte *>(variable);
  if (bytes == 0 ||
      (offset <= variableBytes && bytes <= variableBytes - offset))
    return;
  Launch &launch = thread.block->launch;
  launch.find(
      FindingKind::OutOfBounds, thread, site,
      describeAccess(launch.sites[site], bytes),
      {("it begins at byte " + llvm::Twine(static_cast<std::int64_t>(offset)) +
        " of the " + llvm::Twine(variableBytes) +
        " bytes of a variable on the thread's stack")
           .str()});
  launch.stop();
}

void isobath::simulator::checkAccess(Thread &thread, void *address,
                                     std::uint64_t bytes, std::uint32_t site,
                                     std::uint64_t elements) {
  Launch &launch = thread.block->launch;
  MemorySpace space = findSpace(thread, address);
  if (elements == 0)
    return;
  if (space == MemorySpace::Local)
    return checkStackBounds(thread, address, bytes, site);
  checkAlignment(thread, address, bytes, site);
  std::uint64_t place = 0;
  if (elements == ~std::uint64_t(0)) {
    place = checkBytes(thread, space, address, bytes, site);
  } else {
    std::uint64_t pieceBytes = launch.sites[site].pieceBytes;
    for (unsigned i = 0; i < 64; ++i)
      if (elements >> i & 1)
        place = checkBytes(thread, space,
                           static_cast<std::byte *>(address) + i * pieceBytes,
                           pieceBytes, site) -
                i * pieceBytes;
  }
  if (launch.sites[site].kind == AccessKind::Atomic)
    ++launch.report.counts.atomics;
  launch.requests.add(thread.warp, thread.lane,
                      thread.block->getLiveLanes(thread.warp), site, space,
                      place, bytes, elements);
}

void isobath::simulator::checkRange(Thread &thread, void *address,
                                    std::uint64_t bytes, std::uint32_t site) {
  Launch &launch = thread.block->launch;
  MemorySpace space = findSpace(thread, address);
  if (bytes == 0)
    return;
  if (space == MemorySpace::Local)
    return checkStackBounds(thread, address, bytes, site);
  checkAlignment(thread, address, bytes, site);
  std::uint64_t place = checkBytes(thread, space, address, bytes, site);
  std::uint64_t pieceBytes = launch.sites[site].pieceBytes;
  for (std::uint64_t at = 0; at < bytes; at += pieceBytes)
    launch.requests.add(thread.warp, thread.lane,
                        thread.block->getLiveLanes(thread.warp), site, space,
                        place + at, std::min(pieceBytes, bytes - at));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void isobath::simulator::beginAsyncCopy(Thread &thread, std::byte *shared,
                                        const std::byte *global,
                                        std::uint32_t bytes,
                                        std::uint32_t readBytes,
                                        std::uint32_t site) {
  Launch &launch = thread.block->launch;
  std::uint32_t storeSite = site - 1;
  readBytes = std::min(readBytes, bytes);
  if (readBytes > 0)
    checkAccess(thread, const_cast<std::byte *>(global), readBytes, site);
  checkAlignment(thread, shared, bytes, storeSite);
  std::uint64_t offset = checkSharedBounds(thread, shared, bytes, storeSite);
  launch.shared.beginCopy(offset, bytes);
  launch.requests.add(thread.warp, thread.lane,
                      thread.block->getLiveLanes(thread.warp), storeSite,
                      MemorySpace::Shared, offset, bytes);
  ++launch.report.counts.asyncCopies;
  Thread::AsyncCopy &copy = thread.copies.emplace_back();
  copy = {offset, storeSite, bytes, thread.copyGroup, {}};
  std::copy_n(global, readBytes, copy.data);
}

void isobath::simulator::waitForCopies(Thread &thread, std::uint32_t groups) {
  Launch &launch = thread.block->launch;
  auto next = thread.copies.begin();
  for (; next != thread.copies.end() &&
         next->group + std::uint64_t(groups) < thread.copyGroup;
       ++next) {
    launch.shared.endCopy(next->offset, next->bytes);
    noteShared(thread, next->offset, next->bytes, next->site);
    std::copy_n(next->data, next->bytes,
                launch.shared.getData() + next->offset);
  }
  thread.copies.erase(thread.copies.begin(), next);
}
