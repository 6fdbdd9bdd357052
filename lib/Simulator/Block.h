//===- Block.h - The threads of a block and what they wait for ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread runs until it waits for others, at a barrier or at an operation of
// its warp. Who goes on is drawn from those that can. When none can, the
// threads that wait do so for others that will never come.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_BLOCK_H
#define ISOBATH_LIB_SIMULATOR_BLOCK_H

#include "Launch.h"

namespace isobath::simulator {

class Block;

struct Thread : ThreadState {
  enum class Status : std::uint8_t { Ready, AtBarrier, AtWarp, Ended };

  /// A copy from global to shared memory that has not arrived.
  struct AsyncCopy {
    std::uint64_t offset;
    std::uint32_t site, bytes, group;
    std::byte data[16];
  };

  Block *block = nullptr;
  Fiber fiber;
  std::uint32_t index = 0; // in its block
  Status status = Status::Ready;
  std::uint64_t iterations = 0; // of all its loops

  // Where it waits:
  std::uint32_t site = 0;
  std::uint32_t barrier = 0;
  std::uint32_t barrierResult = 0;
  WarpOperation operation = WarpOperation::Synchronize;
  std::uint32_t mask = 0;
  std::uint32_t *words = nullptr;

  std::vector<AsyncCopy> copies; // the oldest first
  std::uint32_t copyGroup = 0;   // that copies are added to
};

class Block {
public:
  explicit Block(Launch &launch);

  /// Runs the block at `place` of the grid to its end, or until the launch is
  /// stopped.
  void run(const Dim3 &place);

  // What threads call:
  std::uint32_t arriveAtBarrier(Thread &thread, std::uint32_t site,
                                std::uint32_t id, std::uint32_t count,
                                BarrierKind kind, bool predicate);
  void operateWarp(Thread &thread, std::uint32_t site, WarpOperation operation,
                   std::uint32_t mask, std::uint32_t *words);
  /// Lets others run, and ends the launch if `thread` has no end.
  void iterate(Thread &thread, std::uint32_t site);

  Launch &launch;
  /// A global atomic operation was done: what other blocks wrote may have been
  /// waited for.
  bool acquired = false;

  /// The lanes of a warp that have not ended.
  std::uint32_t getLiveLanes(std::uint32_t warp) const {
    return liveLanes[warp];
  }
  std::uint64_t getGridNumber(const Thread &thread) const {
    return blockNumber * threads.size() + thread.index;
  }
  std::uint64_t getBlockNumber() const { return blockNumber; }

private:
  struct Barrier {
    std::vector<std::uint32_t> waiting; // threads
    std::uint32_t arrived = 0;          // threads
    std::uint32_t expected = 0;
    std::uint32_t arrivedWarps = 0;
    std::uint32_t trueCount = 0;
    std::uint32_t sites[warpSize] = {}; // of the last thread of each warp
  };

  static void runThread(void *thread);
  void start(const Dim3 &place);
  void end(Thread &thread);
  /// Gives the processor away; comes back when the thread is ready again.
  void wait(Thread &thread, Thread::Status status);
  void makeReady(Thread &thread);

  void completeBarrier(std::uint32_t id, BarrierKind kind);
  void completeOperation(std::uint32_t warp, std::uint32_t mask);
  void countOperation(std::uint32_t warp, WarpOperation operation,
                      std::uint32_t mask);
  void checkOperation(Thread &thread);
  bool completeActiveMasks();
  void reportDeadlock();
  void reportBarrierDeadlock(Thread &waiting);
  void reportWarpDeadlock(Thread &waiting);
  /// `has ended` or where it waits.
  std::string describeState(const Thread &thread) const;

  Thread &getLane(std::uint32_t warp, std::uint32_t lane) {
    return threads[warp * warpSize + lane];
  }

  std::vector<Thread> threads;
  std::vector<std::uint32_t> liveLanes; // by warp
  std::vector<std::uint32_t> allLanes;  // by warp, with those that have ended
  std::vector<std::uint32_t> ready;     // threads, in no order
  std::uint32_t ended = 0;
  std::uint64_t blockNumber = 0;
  Barrier barriers[16];
};

/// What the lanes of `mask` get from an operation, which all of them have come
/// to. Ends the launch if a lane reads from one that has no value.
void evaluateWarpOperation(Launch &launch, Thread *lanes, std::uint32_t present,
                           std::uint32_t mask);

/// Likewise, of those on matrices.
void evaluateMatrixOperation(Launch &launch, Thread *lanes);

bool isMatrixOperation(WarpOperation operation);
bool isShuffle(WarpOperation operation);

/// `thread (x, y, z)`
std::string describeThread(const ThreadState &thread);

// Accesses to memory, in front of them. None returns if the access must not be
// made.
void checkAccess(Thread &thread, void *address, std::uint64_t bytes,
                 std::uint32_t site,
                 std::uint64_t elements = ~std::uint64_t(0));
void checkRange(Thread &thread, void *address, std::uint64_t bytes,
                std::uint32_t site);
void checkLocal(Thread &thread, const void *address, const void *variable,
                std::uint64_t variableBytes, std::uint64_t bytes,
                std::uint32_t site);
MemorySpace findSpace(const Thread &thread, const void *address);
void beginAsyncCopy(Thread &thread, std::byte *shared, const std::byte *global,
                    std::uint32_t bytes, std::uint32_t readBytes,
                    std::uint32_t site);
void waitForCopies(Thread &thread, std::uint32_t groups);

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_BLOCK_H
