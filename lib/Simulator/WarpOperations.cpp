//===- WarpOperations.cpp - What the lanes of a warp do as one ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last lane of a mask that comes to an operation does it for all. All come
// to the same place in the code: later GPUs would allow different ones, but a
// program does not mean that.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

using namespace isobath::simulator;

bool isobath::simulator::isShuffle(WarpOperation operation) {
  return operation <= WarpOperation::ShuffleIndex;
}

bool isobath::simulator::isMatrixOperation(WarpOperation operation) {
  return operation >= WarpOperation::LoadMatrix1;
}

//===----------------------------------------------------------------------===//
// Coming together
//===----------------------------------------------------------------------===//

static std::string toHexadecimal(std::uint32_t mask) {
  return "0x" + llvm::Twine::utohexstr(mask).str();
}

/// Ends the launch if other lanes of the mask cannot come to where `thread` is.
void Block::checkOperation(Thread &thread) {
  auto report = [&](std::string message, std::vector<std::string> notes = {}) {
    launch.find(FindingKind::WarpDivergence, thread, thread.site,
                std::move(message), std::move(notes));
  };
  bool failed = true;
  if (!(thread.mask & thread.laneMaskEqual)) {
    report("lane " + llvm::Twine(thread.lane).str() +
           " does not belong to its own mask " + toHexadecimal(thread.mask));
  } else if (isMatrixOperation(thread.operation) && ~allLanes[thread.warp]) {
    report("an operation on matrices in a warp of " +
           llvm::Twine(llvm::popcount(allLanes[thread.warp])).str() +
           " threads, expected 32");
  } else {
    failed = false;
    for (unsigned lane = 0; lane < warpSize && !failed; ++lane) {
      if (!(thread.mask & allLanes[thread.warp] & 1u << lane))
        continue;
      const Thread &other = getLane(thread.warp, lane);
      bool hasEnded = other.status == Thread::Status::Ended;
      bool isElsewhere =
          other.status == Thread::Status::AtWarp &&
          other.mask & thread.laneMaskEqual &&
          other.operation != WarpOperation::ActiveMask &&
          (other.site != thread.site || other.mask != thread.mask);
      if (!hasEnded && !isElsewhere)
        continue;
      report("not all lanes of the mask " + toHexadecimal(thread.mask) +
                 " reach an operation of their warp",
             {"lane " + llvm::Twine(lane).str() + ", " + describeState(other)});
      failed = true;
    }
  }
  if (failed)
    launch.stop();
}

void Block::operateWarp(Thread &thread, std::uint32_t site,
                        WarpOperation operation, std::uint32_t mask,
                        std::uint32_t *words) {
  thread.site = site;
  thread.operation = operation;
  thread.words = words;
  thread.mask =
      operation == WarpOperation::ActiveMask ? thread.laneMaskEqual : mask;
  if (operation == WarpOperation::ActiveMask) {
    wait(thread, Thread::Status::AtWarp);
    return;
  }
  checkOperation(thread);
  std::uint32_t expected = thread.mask & allLanes[thread.warp];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (expected & ~thread.laneMaskEqual & 1u << lane) {
      const Thread &other = getLane(thread.warp, lane);
      if (other.status != Thread::Status::AtWarp || other.mask != thread.mask ||
          other.site != site) {
        wait(thread, Thread::Status::AtWarp);
        return;
      }
    }
  completeOperation(thread.warp, thread.mask);
}

/// All lanes of `mask` that there are have come.
void Block::completeOperation(std::uint32_t warp, std::uint32_t mask) {
  std::uint32_t present = mask & allLanes[warp];
  Thread *lanes = &getLane(warp, 0);
  WarpOperation operation = getLane(warp, llvm::countr_zero(present)).operation;
  if (isMatrixOperation(operation))
    evaluateMatrixOperation(launch, lanes);
  else
    evaluateWarpOperation(launch, lanes, present, mask);
  LaunchCounts &counts = launch.report.counts;
  if (isShuffle(operation))
    ++counts.shuffles;
  else if (operation == WarpOperation::Synchronize)
    ++counts.warpBarriers;
  else if (isMatrixOperation(operation))
    ++counts.matrixOperations;
  else
    ++counts.votes;
  if (operation == WarpOperation::Synchronize)
    launch.clocks.synchronize(1u << warp, 1u << warp);
  if ((present & liveLanes[warp]) == liveLanes[warp])
    launch.requests.meet(warp);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (present >> lane & 1 && lanes[lane].status == Thread::Status::AtWarp)
      makeReady(lanes[lane]);
}

/// Nobody else can run: the lanes that wait at the same place are active.
bool Block::completeActiveMasks() {
  bool completed = false;
  for (Thread &thread : threads) {
    if (thread.status != Thread::Status::AtWarp ||
        thread.operation != WarpOperation::ActiveMask)
      continue;
    std::uint32_t mask = 0;
    auto isHere = [&](const Thread &other) {
      return other.status == Thread::Status::AtWarp &&
             other.warp == thread.warp && other.site == thread.site &&
             other.operation == WarpOperation::ActiveMask;
    };
    for (const Thread &other : threads)
      if (isHere(other))
        mask |= other.laneMaskEqual;
    for (Thread &other : threads)
      if (isHere(other)) {
        other.words[0] = mask;
        makeReady(other);
      }
    completed = true;
  }
  return completed;
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

namespace {
struct ShuffleSource {
  std::int64_t lane;
  bool valid; // the predicate
};
} // namespace

/// The pseudocode of `shfl.sync` in the manual of PTX.
static ShuffleSource getSource(const Thread &thread) {
  std::uint32_t operand = thread.words[1] & 31, control = thread.words[2];
  std::uint32_t clamp = control & 31, segment = control >> 8 & 31;
  std::int64_t lane = thread.lane;
  std::int64_t maxLane = (lane & segment) | (clamp & ~segment);
  std::int64_t minLane = lane & segment;
  std::int64_t source = lane;
  bool valid = false;
  switch (thread.operation) {
  case WarpOperation::ShuffleUp:
    source = lane - operand;
    valid = source >= maxLane;
    break;
  case WarpOperation::ShuffleDown:
    source = lane + operand;
    valid = source <= maxLane;
    break;
  case WarpOperation::ShuffleButterfly:
    source = lane ^ operand;
    valid = source <= maxLane;
    break;
  default:
    source = minLane | (operand & ~segment & 31);
    valid = source <= maxLane;
  }
  return {valid ? source : lane, valid};
}

static void shuffle(Launch &launch, Thread *lanes, std::uint32_t present,
                    std::uint32_t mask) {
  std::uint32_t values[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (present >> lane & 1)
      values[lane] = lanes[lane].words[0];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(present >> lane & 1))
      continue;
    Thread &thread = lanes[lane];
    ShuffleSource source = getSource(thread);
    if (!(present >> source.lane & 1)) {
      launch.find(FindingKind::WarpDivergence, thread, thread.site,
                  ("lane " + llvm::Twine(lane) + " reads from lane " +
                   llvm::Twine(source.lane) + ", which is not in its mask " +
                   toHexadecimal(mask) + " or not in the block")
                      .str());
      values[source.lane] = 0;
    }
    thread.words[0] = values[source.lane];
    thread.words[1] = source.valid;
  }
}

//===----------------------------------------------------------------------===//
// Votes, matches, reductions
//===----------------------------------------------------------------------===//

static std::uint64_t getLongOperand(const Thread &thread) {
  return thread.words[0] | std::uint64_t(thread.words[1]) << 32;
}

static std::uint32_t combine(WarpOperation operation, std::uint32_t a,
                             std::uint32_t b) {
  auto asSigned = [](std::uint32_t x) { return static_cast<std::int32_t>(x); };
  switch (operation) {
  case WarpOperation::ReduceAdd:
    return a + b;
  case WarpOperation::ReduceMin:
    return asSigned(a) < asSigned(b) ? a : b;
  case WarpOperation::ReduceMax:
    return asSigned(a) > asSigned(b) ? a : b;
  case WarpOperation::ReduceUnsignedMin:
    return std::min(a, b);
  case WarpOperation::ReduceUnsignedMax:
    return std::max(a, b);
  case WarpOperation::ReduceAnd:
    return a & b;
  case WarpOperation::ReduceOr:
    return a | b;
  case WarpOperation::ReduceXor:
    return a ^ b;
  default:
    llvm_unreachable("not a reduction");
  }
}

void isobath::simulator::evaluateWarpOperation(Launch &launch, Thread *lanes,
                                               std::uint32_t present,
                                               std::uint32_t mask) {
  std::uint32_t first = llvm::countr_zero(present);
  WarpOperation operation = lanes[first].operation;
  if (isShuffle(operation))
    return shuffle(launch, lanes, present, mask);
  if (operation == WarpOperation::Synchronize)
    return;
  std::uint32_t ballot = 0, reduced = lanes[first].words[0];
  std::uint64_t keys[warpSize];
  bool allMatch = true;
  for (unsigned lane = first; lane < warpSize; ++lane) {
    if (!(present >> lane & 1))
      continue;
    const Thread &thread = lanes[lane];
    keys[lane] = getLongOperand(thread);
    allMatch &= keys[lane] == keys[first];
    if (thread.words[0])
      ballot |= 1u << lane;
    if (lane != first && operation >= WarpOperation::ReduceAdd)
      reduced = combine(operation, reduced, thread.words[0]);
  }
  for (unsigned lane = first; lane < warpSize; ++lane) {
    if (!(present >> lane & 1))
      continue;
    std::uint32_t *words = lanes[lane].words;
    switch (operation) {
    case WarpOperation::VoteAll:
      words[0] = ballot == present;
      break;
    case WarpOperation::VoteAny:
      words[0] = ballot != 0;
      break;
    case WarpOperation::VoteUniform:
      words[0] = ballot == 0 || ballot == present;
      break;
    case WarpOperation::VoteBallot:
      words[0] = ballot;
      break;
    case WarpOperation::MatchAny: {
      std::uint32_t equal = 0;
      for (unsigned other = first; other < warpSize; ++other)
        if (present >> other & 1 && keys[other] == keys[lane])
          equal |= 1u << other;
      words[0] = equal;
      break;
    }
    case WarpOperation::MatchAll:
      words[0] = allMatch ? present : 0;
      words[1] = allMatch;
      break;
    case WarpOperation::Elect:
      words[0] = first;
      words[1] = lane == first;
      break;
    default:
      words[0] = reduced;
    }
  }
}
