//===- Block.cpp - The threads of a block ---------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

using namespace isobath::simulator;

/// In all loops of a thread. Kernels that end have far less.
static constexpr std::uint64_t maxIterations = std::uint64_t(1) << 24;

/// How long a thread that waits in a loop keeps others from running.
static constexpr std::uint64_t iterationsBetweenSwitches = 1024;

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static Dim3 toDim3(const std::uint32_t (&values)[3]) {
  return {values[0], values[1], values[2]};
}

std::string isobath::simulator::describeThread(const ThreadState &thread) {
  return "thread " + toString(toDim3(thread.threadId));
}

bool Launch::countKnown(FindingKind kind, std::uint32_t site) {
  auto found = known.find({kind, site});
  if (found == known.end())
    return false;
  ++report.findings[found->second].occurrences;
  return true;
}

void Launch::find(FindingKind kind, const Thread &thread, std::uint32_t site,
                  std::string message, std::vector<std::string> notes) {
  if (countKnown(kind, site))
    return;
  known[{kind, site}] = report.findings.size();
  Finding &finding = report.findings.emplace_back();
  finding.kind = kind;
  finding.message = std::move(message);
  finding.kernel = report.kernel;
  finding.block = toDim3(thread.blockId);
  finding.thread = toDim3(thread.threadId);
  finding.location = sites[site].location;
  finding.notes = std::move(notes);
}

void Launch::stop() {
  stopped = true;
  running->fiber.leave();
  llvm_unreachable("a launch that has stopped went on");
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

Block::Block(Launch &launch)
    : launch(launch), threads(launch.configuration.block.count()) {
  const Dim3 &block = launch.configuration.block;
  const Dim3 &grid = launch.configuration.grid;
  std::uint32_t warps = (threads.size() + warpSize - 1) / warpSize;
  allLanes.resize(warps);
  for (auto [index, thread] : llvm::enumerate(threads)) {
    std::uint32_t i = index, bit = 1u << (i % warpSize);
    ThreadState state = {};
    state.threadId[0] = i % block.x;
    state.threadId[1] = i / block.x % block.y;
    state.threadId[2] = i / block.x / block.y;
    std::uint32_t sizes[] = {block.x, block.y, block.z};
    llvm::copy(sizes, state.blockSize);
    std::uint32_t gridSizes[] = {grid.x, grid.y, grid.z};
    llvm::copy(gridSizes, state.gridSize);
    state.lane = i % warpSize;
    state.warp = i / warpSize;
    state.warps = warps;
    state.one = 1;
    state.laneMaskEqual = bit;
    state.laneMaskLess = bit - 1;
    state.laneMaskLessEqual = bit | (bit - 1);
    state.laneMaskGreater = ~state.laneMaskLessEqual;
    state.laneMaskGreaterEqual = ~state.laneMaskLess;
    state.sharedBytes = launch.shared.getBytes();
    state.dynamicSharedBytes = launch.configuration.dynamicSharedBytes;
    state.shared = launch.shared.getData();
    state.dynamicShared = state.shared + launch.shared.getBytes() -
                          launch.configuration.dynamicSharedBytes;
    static_cast<ThreadState &>(thread) = state;
    thread.block = this;
    thread.index = i;
    allLanes[state.warp] |= bit;
  }
}

void Block::start(const Dim3 &place) {
  const Dim3 &grid = launch.configuration.grid;
  blockNumber = (std::uint64_t(place.z) * grid.y + place.y) * grid.x + place.x;
  launch.clocks.startBlock(allLanes.size());
  launch.shared.startBlock();
  launch.requests.startBlock(allLanes.size());
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  liveLanes = allLanes;
  ready.clear();
  ended = 0;
  acquired = false;
  for (Thread &thread : threads) {
    thread.blockId[0] = place.x;
    thread.blockId[1] = place.y;
    thread.blockId[2] = place.z;
    thread.copies.clear();
    thread.copyGroup = 0;
    thread.iterations = 0;
    makeReady(thread);
    thread.fiber.start(launch.stacks, thread.index, runThread, &thread);
  }
}

void Block::runThread(void *data) {
  auto &thread = *static_cast<Thread *>(data);
  Launch &launch = thread.block->launch;
  launch.entry(&thread, launch.arguments);
  thread.block->end(thread);
}

void Block::end(Thread &thread) {
  thread.status = Thread::Status::Ended;
  ++ended;
  liveLanes[thread.warp] &= ~thread.laneMaskEqual;
  if (liveLanes[thread.warp] == 0)
    launch.requests.meet(thread.warp);
  thread.fiber.leave();
}

void Block::makeReady(Thread &thread) {
  thread.status = Thread::Status::Ready;
  ready.push_back(thread.index);
}

void Block::wait(Thread &thread, Thread::Status status) {
  thread.status = status;
  thread.fiber.leave();
}

void Block::run(const Dim3 &place) {
  start(place);
  while (!launch.stopped) {
    if (ready.empty()) {
      if (ended == threads.size())
        return;
      if (completeActiveMasks())
        continue;
      reportDeadlock();
      return;
    }
    std::swap(ready[launch.random() % ready.size()], ready.back());
    Thread &next = threads[ready.back()];
    ready.pop_back();
    launch.running = &next;
    next.fiber.resume();
  }
}

void Block::iterate(Thread &thread, std::uint32_t site) {
  if (++thread.iterations % iterationsBetweenSwitches != 0)
    return;
  if (thread.iterations > maxIterations) {
    launch.find(FindingKind::Endless, thread, site,
                ("a thread has done " + llvm::Twine(maxIterations) +
                 " iterations of its loops, and has not ended")
                    .str());
    launch.stop();
  }
  makeReady(thread);
  thread.fiber.leave();
}

//===----------------------------------------------------------------------===//
// Threads that wait for ever
//===----------------------------------------------------------------------===//

std::string Block::describeState(const Thread &thread) const {
  std::string who = describeThread(thread);
  switch (thread.status) {
  case Thread::Status::Ended:
    return who + " has ended";
  case Thread::Status::AtBarrier:
    return who + " waits at barrier " + llvm::Twine(thread.barrier).str() +
           " at " + launch.sites[thread.site].location;
  case Thread::Status::AtWarp:
    return who + " waits at " + launch.sites[thread.site].location +
           " for lanes 0x" + llvm::Twine::utohexstr(thread.mask).str();
  case Thread::Status::Ready:
    return who + " runs";
  }
  llvm_unreachable("all states are above");
}

void Block::reportBarrierDeadlock(Thread &waiting) {
  const Barrier &barrier = barriers[waiting.barrier];
  std::vector<std::string> notes;
  for (const Thread &thread : threads)
    if (thread.status == Thread::Status::Ended ||
        thread.status == Thread::Status::AtWarp ||
        thread.barrier != waiting.barrier) {
      notes.push_back(describeState(thread));
      break;
    }
  launch.find(FindingKind::BarrierDivergence, waiting, waiting.site,
              (llvm::Twine(barrier.arrived) + " of " +
               llvm::Twine(barrier.expected) +
               " threads reach a barrier, and wait for the others for ever")
                  .str(),
              std::move(notes));
}

void Block::reportWarpDeadlock(Thread &waiting) {
  std::vector<std::string> notes;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (waiting.mask & allLanes[waiting.warp] & 1u << lane) {
      const Thread &other = getLane(waiting.warp, lane);
      if (other.status == Thread::Status::AtWarp &&
          other.mask == waiting.mask && other.site == waiting.site)
        continue;
      notes.push_back("lane " + llvm::Twine(lane).str() + ", " +
                      describeState(other));
      break;
    }
  launch.find(FindingKind::WarpDivergence, waiting, waiting.site,
              "not all lanes of the mask 0x" +
                  llvm::Twine::utohexstr(waiting.mask).str() +
                  " reach an operation of their warp",
              std::move(notes));
}

void Block::reportDeadlock() {
  launch.stopped = true;
  // What waits inside of a warp keeps the others from barriers.
  for (auto status : {Thread::Status::AtWarp, Thread::Status::AtBarrier})
    for (Thread &thread : threads)
      if (thread.status == status) {
        if (status == Thread::Status::AtWarp)
          reportWarpDeadlock(thread);
        else
          reportBarrierDeadlock(thread);
        return;
      }
}
