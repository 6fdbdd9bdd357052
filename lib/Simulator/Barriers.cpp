//===- Barriers.cpp - Where threads of a block wait for each other --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace isobath::simulator;

std::uint32_t Block::arriveAtBarrier(Thread &thread, std::uint32_t site,
                                     std::uint32_t id, std::uint32_t count,
                                     BarrierKind kind, bool predicate) {
  if (id >= std::size(barriers)) {
    launch.find(FindingKind::BarrierDivergence, thread, site,
                ("barrier " + llvm::Twine(id) + ", expected one from 0 to " +
                 llvm::Twine(std::size(barriers) - 1))
                    .str());
    launch.stop();
  }
  if (count % warpSize != 0 || count > threads.size()) {
    launch.find(FindingKind::BarrierDivergence, thread, site,
                ("a barrier of " + llvm::Twine(count) +
                 " threads, expected whole warps of a block of " +
                 llvm::Twine(threads.size()))
                    .str());
    launch.stop();
  }
  Barrier &barrier = barriers[id];
  std::uint32_t expected = count == 0 ? threads.size() : count;
  if (barrier.arrived > 0 && barrier.expected != expected) {
    launch.find(FindingKind::BarrierDivergence, thread, site,
                ("a barrier of " + llvm::Twine(expected) +
                 " threads, where others came for " +
                 llvm::Twine(barrier.expected))
                    .str());
    launch.stop();
  }
  // In one warp, an aligned barrier is one instruction.
  std::uint32_t &warpSite = barrier.sites[thread.warp];
  if (launch.sites[site].aligned && barrier.arrivedWarps >> thread.warp & 1 &&
      warpSite != site) {
    launch.find(FindingKind::BarrierDivergence, thread, site,
                "threads of one warp come to a barrier at different places",
                {"the other place is " + launch.sites[warpSite].location});
    launch.stop();
  }
  warpSite = site;
  barrier.expected = expected;
  ++barrier.arrived;
  barrier.arrivedWarps |= 1u << thread.warp;
  barrier.trueCount += predicate;
  thread.site = site;
  thread.barrier = id;
  if (kind != BarrierKind::Arrive)
    barrier.waiting.push_back(thread.index);
  bool isLast = barrier.arrived == barrier.expected;
  if (isLast)
    completeBarrier(id, kind);
  else if (kind != BarrierKind::Arrive)
    wait(thread, Thread::Status::AtBarrier);
  return thread.barrierResult;
}

void Block::completeBarrier(std::uint32_t id, BarrierKind kind) {
  Barrier done = std::exchange(barriers[id], Barrier());
  std::uint32_t result = done.trueCount;
  if (kind == BarrierKind::AllPredicates)
    result = done.trueCount == done.expected;
  else if (kind == BarrierKind::AnyPredicate)
    result = done.trueCount != 0;
  std::uint32_t waitingWarps = 0;
  for (std::uint32_t index : done.waiting) {
    Thread &thread = threads[index];
    thread.barrierResult = result;
    waitingWarps |= 1u << thread.warp;
    // The last one, which runs, does not wait.
    if (thread.status == Thread::Status::AtBarrier)
      makeReady(thread);
  }
  ++launch.report.counts.barriers;
  launch.clocks.synchronize(done.arrivedWarps, waitingWarps);
  for (std::uint32_t warp = 0; warp < allLanes.size(); ++warp)
    if (done.arrived == threads.size() && done.waiting.size() == threads.size())
      launch.requests.meet(warp);
}
