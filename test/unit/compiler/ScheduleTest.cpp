//===- ScheduleTest.cpp - Which routes are batched ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Routing/Schedule.h"
#include "gtest/gtest.h"

using namespace isobath::routing;

static bool isForwardBatched(Schedule schedule, const RouteGroup &group,
                             const Machine &machine = {}) {
  return decideForward(schedule, group, machine).batched;
}

static bool isBackwardBatched(Schedule schedule, const RouteGroup &group,
                              const Machine &machine = {}) {
  return decideBackward(schedule, group, machine).batched;
}

/// The smallest number of sources from which on `routes` routes are batched, or
/// 0 where they never are.
template <typename Choose>
static int64_t crossover(Choose isBatched, int64_t routes, int64_t sourceBytes,
                         const Machine &machine = {}) {
  for (int64_t sources = 1; sources <= 64; ++sources)
    if (isBatched(Schedule::Auto, {sources, routes, sourceBytes}, machine))
      return sources;
  return 0;
}

// b sources are read once and not M times, M mixes are written, which costs two
// reads, and read: b (M − 1) > 3 M.
TEST(Schedule, ForwardIsBatchedWhereMixesCostLessThanSources) {
  EXPECT_EQ(crossover(isForwardBatched, 2, 4), 7);
  EXPECT_EQ(crossover(isForwardBatched, 4, 4), 5);
  EXPECT_EQ(crossover(isForwardBatched, 8, 4), 4);
  // A bf16 source costs half, a mix as much as before: b (M − 1) > 6 M.
  EXPECT_EQ(crossover(isForwardBatched, 4, 2), 9);
}

// Sources are read, and their gradients read and written: 4 b (M − 1) > 3 M.
TEST(Schedule, BackwardIsBatchedEarlier) {
  EXPECT_EQ(crossover(isBackwardBatched, 2, 4), 2);
  EXPECT_EQ(crossover(isBackwardBatched, 4, 4), 2);
}

// Where more routes than a kernel serves share sources, each batch reads them:
// with 16 routes, in two batches, b (16 − 2) > 3·16.
TEST(Schedule, EachBatchReadsTheSources) {
  EXPECT_EQ(crossover(isForwardBatched, 16, 4), 4);
  EXPECT_EQ(crossover(isForwardBatched, 16, 4, {1, 1, 4}), 3);
  EXPECT_EQ(crossover(isForwardBatched, 16, 4, {1, 1, 2}), 5);
}

TEST(Schedule, TheMachineIsAParameter) {
  // b (M − 1) > (1 + 1) M and (1 + 3) M where a write costs one and three
  // reads.
  EXPECT_EQ(crossover(isForwardBatched, 4, 4, {1, 1, 8}), 3);
  EXPECT_EQ(crossover(isForwardBatched, 4, 4, {1, 3, 8}), 6);
  // Where memory costs nothing, nothing is saved.
  EXPECT_EQ(crossover(isForwardBatched, 4, 4, {0, 0, 8}), 0);
}

TEST(Schedule, ASingleRouteIsNoBatch) {
  EXPECT_EQ(crossover(isForwardBatched, 1, 4), 0);
  EXPECT_FALSE(isForwardBatched(Schedule::Batched, {9, 1, 4}));
  EXPECT_FALSE(isBackwardBatched(Schedule::Batched, {9, 1, 4}));
}

TEST(Schedule, WhatIsForcedIsDone) {
  EXPECT_TRUE(isForwardBatched(Schedule::Batched, {1, 2, 4}));
  EXPECT_FALSE(isForwardBatched(Schedule::Each, {64, 8, 4}));
  EXPECT_TRUE(isBackwardBatched(Schedule::Batched, {1, 2, 4}));
  EXPECT_FALSE(isBackwardBatched(Schedule::Each, {64, 8, 4}));
}

// Four routes over nine sources: 3·9 vectors of them less, 8 of mixes more.
TEST(Schedule, ADecisionSaysWhatItCosts) {
  Decision decision = decideForward(Schedule::Each, {9, 4, 2}, {});
  EXPECT_TRUE(decision.isAskedFor);
  EXPECT_EQ(decision.saved.read, 3 * 9 * 2);
  EXPECT_EQ(decision.saved.written, 0);
  EXPECT_EQ(decision.added.read, 4 * 4);
  EXPECT_EQ(decision.added.written, 4 * 4);
  EXPECT_FALSE(decideForward(Schedule::Auto, {9, 4, 2}, {}).isAskedFor);
}

TEST(Schedule, BatchesAreOfAboutEqualSize) {
  const std::vector<int> routes = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<size_t> sizes;
  for (llvm::ArrayRef<int> batch : divide(llvm::ArrayRef(routes), 8))
    sizes.push_back(batch.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{5, 4}));
  sizes.clear();
  for (llvm::ArrayRef<int> batch : divideChain(llvm::ArrayRef(routes), 8))
    sizes.push_back(batch.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 3, 3}));
}
