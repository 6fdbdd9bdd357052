//===- WindowsTest.cpp - Which tokens a batch holds -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of samples as a property, and a few orders written out.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/windows.h"

#include "TestFiles.h"

#include <map>
#include <numeric>
#include <set>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

using Row = std::vector<std::int32_t>;

static std::vector<std::uint64_t>
orderOf(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) {
  const Permutation permutation(size, seed, epoch);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < size; ++i)
    order.push_back(permutation(i));
  return order;
}

TEST(Permutation, VisitsEachElementOnce) {
  std::vector<std::uint64_t> sizes(70);
  std::iota(sizes.begin(), sizes.end(), std::uint64_t(1));
  for (const unsigned size : {255u, 256u, 257u, 1000u, 4096u, 4097u, 65537u})
    sizes.push_back(size);
  for (const std::uint64_t size : sizes) {
    std::vector<std::uint64_t> sorted = orderOf(size, 7, 3);
    std::sort(sorted.begin(), sorted.end());
    for (std::uint64_t i = 0; i < size; ++i)
      ASSERT_EQ(sorted[i], i) << "of " << size;
  }
}

TEST(Permutation, EpochsAndSeedsDiffer) {
  const auto order = orderOf(1000, 1, 0);
  EXPECT_EQ(order, orderOf(1000, 1, 0));
  EXPECT_NE(order, orderOf(1000, 1, 1));
  EXPECT_NE(order, orderOf(1000, 2, 0));
  EXPECT_NE(order, orderOf(1000, 1, std::uint64_t(1) << 32));
  EXPECT_NE(order, orderOf(1000, 1 + (std::uint64_t(1) << 32), 0));
}

// Runs are resumed by these numbers: they may never change. They come from an
// implementation in another language.
TEST(Permutation, IsFixed) {
  EXPECT_EQ(orderOf(8, 1, 0),
            (std::vector<std::uint64_t>{6, 5, 0, 7, 2, 4, 1, 3}));
  EXPECT_EQ(orderOf(11, 2, 5),
            (std::vector<std::uint64_t>{2, 4, 10, 8, 1, 3, 9, 7, 5, 0, 6}));
}

// All six orders of three elements occur, each about equally often: of 6000
// draws within 5 standard deviations (29) of 1000.
TEST(Permutation, SmallOrdersAreEquallyLikely) {
  std::map<std::vector<std::uint64_t>, int> seen;
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch)
    ++seen[orderOf(3, 5, epoch)];
  ASSERT_EQ(seen.size(), 6u);
  for (const auto &[order, times] : seen)
    EXPECT_NEAR(times, 1000, 5 * 29);
}

// Where an element goes says nothing about where its neighbour goes: the
// difference of neighbours is about uniform. 4096 differences in 16 bins of
// 256: within 5 standard deviations (15.5).
TEST(Permutation, NeighboursAreScattered) {
  const auto order = orderOf(4096, 11, 2);
  std::vector<int> bins(16);
  for (std::size_t i = 0; i < 4096; ++i)
    ++bins[(order[(i + 1) % 4096] - order[i]) % 4096 / 256];
  for (const int count : bins)
    EXPECT_NEAR(count, 256, 5 * 15.5);
}

TEST(Permutation, HandlesTheLargestSizes) {
  for (const std::uint64_t size :
       {(std::uint64_t(1) << 32) + 1, (std::uint64_t(1) << 62) + 12345,
        UINT64_MAX}) {
    const Permutation permutation(size, 3, 4);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_LT(permutation(i), size);
      seen.insert(permutation(i));
      seen.insert(permutation(size - 1 - i));
    }
    EXPECT_EQ(seen.size(), 200u);
  }
}

TEST(SampleOrder, CountsFullWindowsOfEachShard) {
  const auto windows = [](std::vector<std::uint64_t> ids) {
    return SampleOrder(ids, 4, 1).windows();
  };
  EXPECT_EQ(windows({}), 0u);
  EXPECT_EQ(windows({0, 1, 4}), 0u);
  EXPECT_EQ(windows({5}), 1u);
  EXPECT_EQ(windows({8}), 1u);
  EXPECT_EQ(windows({9}), 2u);
  EXPECT_EQ(windows({9, 3, 13}), 5u);
}

TEST(SampleOrder, EveryEpochVisitsEveryWindowOnce) {
  const std::uint64_t ids[] = {9, 0, 4, 14, 5}; // 2, 0, 0, 3, 1 windows
  const std::set<std::pair<std::uint64_t, std::uint64_t>> all = {
      {0, 0}, {0, 4}, {3, 0}, {3, 4}, {3, 8}, {4, 0}};
  const SampleOrder order(ids, 4, 9);
  ASSERT_EQ(order.windows(), 6u);
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    std::vector<std::uint64_t> visited;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const SampleOrder::Window window = order(epoch * 6 + i);
      seen.insert({window.shard, window.offset});
      visited.push_back(window.shard * 100 + window.offset);
    }
    EXPECT_EQ(seen, all);
    orders.insert(visited);
  }
  // 20 draws from 720 orders collide now and then, but do not repeat.
  EXPECT_GT(orders.size(), 15u);
}

TEST(SampleOrder, OneWindowIsEverySample) {
  const std::uint64_t ids[] = {5};
  const SampleOrder order(ids, 4, 9);
  for (std::uint64_t sample = 0; sample < 5; ++sample)
    EXPECT_EQ(order(sample), (SampleOrder::Window{0, 0}));
}

namespace {
/// Shards of 0, 1, 2, … whose values go on from one shard to the next.
class WindowsTest : public testing::Test {
protected:
  std::vector<Shard> makeShards(std::vector<std::uint64_t> sizes) {
    std::vector<std::filesystem::path> paths;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::uint32_t> ids(sizes[i]);
      std::iota(ids.begin(), ids.end(), next);
      next += static_cast<std::uint32_t>(sizes[i]);
      paths.push_back(folder / ("shard" + std::to_string(i)));
      writeShard(paths.back(), ids, 1000);
    }
    return openShards(paths, 1000);
  }

  TemporaryFolder folder;
};

using TrainingDataTest = WindowsTest;
using EvaluationDataTest = WindowsTest;
using FirstBatchTest = WindowsTest;
} // namespace

TEST_F(TrainingDataTest, TargetsAreTheNextTokens) {
  const TrainingData data(makeShards({9, 14}), 4, 1);
  ASSERT_EQ(data.windows(), 5u);
  EXPECT_EQ(data.ids(), 23u);
  std::multiset<std::int32_t> firsts;
  Row tokens(5 * 4), targets(5 * 4);
  data.fill(0, tokens, targets);
  for (std::size_t b = 0; b < 5; ++b) {
    firsts.insert(tokens[b * 4]);
    for (std::size_t t = 0; t < 4; ++t) {
      EXPECT_EQ(tokens[b * 4 + t], tokens[b * 4] + static_cast<int>(t));
      EXPECT_EQ(targets[b * 4 + t], tokens[b * 4 + t] + 1);
    }
  }
  EXPECT_EQ(firsts, (std::multiset<std::int32_t>{0, 4, 9, 13, 17}));
}

// A resume once applied its offset again at each epoch: a row may depend on
// nothing but its number, whatever batch it is in and whoever asks.
TEST_F(TrainingDataTest, RowsDependOnlyOnTheirNumberAcrossEpochs) {
  const TrainingData data(makeShards({9, 14}), 4, 1);
  Row all(40 * 4), allTargets(40 * 4); // 8 epochs of 5 windows
  data.fill(0, all, allTargets);
  const TrainingData resumed(makeShards({9, 14}), 4, 1);
  for (std::uint64_t first = 0; first + 3 <= 40; ++first) {
    Row tokens(3 * 4), targets(3 * 4);
    resumed.fill(first, tokens, targets);
    EXPECT_TRUE(
        std::equal(tokens.begin(), tokens.end(),
                   all.begin() + static_cast<std::ptrdiff_t>(first * 4)));
    EXPECT_TRUE(std::equal(targets.begin(), targets.end(),
                           allTargets.begin() +
                               static_cast<std::ptrdiff_t>(first * 4)));
  }
}

TEST_F(TrainingDataTest, OtherSeedsGiveOtherOrders) {
  Row a(64 * 4), b(64 * 4), targets(64 * 4);
  TrainingData(makeShards({257}), 4, 1).fill(0, a, targets);
  TrainingData(makeShards({257}), 4, 2).fill(0, b, targets);
  EXPECT_NE(a, b);
}

TEST_F(TrainingDataTest, FingerprintFollowsIdsAndShards) {
  const auto fingerprint = [&](std::vector<std::uint64_t> sizes) {
    return TrainingData(makeShards(std::move(sizes)), 4, 1).fingerprint();
  };
  EXPECT_EQ(fingerprint({9, 14}), fingerprint({9, 14}));
  EXPECT_NE(fingerprint({9, 14}), fingerprint({14, 9}));
  EXPECT_NE(fingerprint({9, 14}), fingerprint({23}));
}

TEST_F(TrainingDataTest, WithoutAFullWindowIsAnError) {
  EXPECT_EQ(messageOf([&] { TrainingData(makeShards({3, 256}), 256, 1); }),
            (folder / "shard1").string() +
                ": training ids: given 256 in the longest shard, expected at "
                "least 257 for one window of context 256");
  EXPECT_EQ(messageOf([] { TrainingData({}, 4, 1); }),
            "training data: no shards, expected at least one");
}

TEST_F(EvaluationDataTest, ScoresEveryNextTokenOfEachFileOnce) {
  // 5, 1 and 8 targets: windows of 4 + 1, 1, 4 + 4.
  const EvaluationData data(makeShards({6, 2, 9}), 4);
  EXPECT_EQ(data.targets(), 14u);
  EXPECT_EQ(data.batches(1), 5u);
  EXPECT_EQ(data.batches(2), 3u);
  EXPECT_EQ(data.batches(5), 1u);
  EXPECT_EQ(data.batches(9), 1u);

  Row tokens(6 * 4), targets(6 * 4);
  EXPECT_EQ(data.fill(0, tokens, targets), 14u);
  EXPECT_EQ(tokens, (Row{0, 1, 2,  3,  4,  0,  0,  0,  6, 0, 0, 0,
                         8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0}));
  EXPECT_EQ(targets, (Row{1, 2,  3,  4,  5,  -1, -1, -1, 7,  -1, -1, -1,
                          9, 10, 11, 12, 13, 14, 15, 16, -1, -1, -1, -1}));
}

TEST_F(EvaluationDataTest, BatchesOfAnySizeHoldTheSameRows) {
  const EvaluationData data(makeShards({6, 2, 9}), 4);
  for (std::uint64_t batch = 1; batch < 8; ++batch) {
    std::multiset<std::int32_t> scored;
    std::uint64_t counted = 0;
    for (std::uint64_t i = 0; i < data.batches(batch); ++i) {
      Row tokens(batch * 4, 99), targets(batch * 4, 99);
      counted += data.fill(i, tokens, targets);
      for (const std::int32_t target : targets)
        if (target != ignoredTarget)
          scored.insert(target);
    }
    EXPECT_EQ(counted, 14u);
    EXPECT_EQ(scored, (std::multiset<std::int32_t>{1, 2, 3, 4, 5, 7, 9, 10, 11,
                                                   12, 13, 14, 15, 16}));
  }
}

TEST_F(EvaluationDataTest, LimitCountsExactly) {
  for (std::uint64_t limit = 1; limit <= 16; ++limit) {
    const EvaluationData data(makeShards({6, 2, 9}), 4, limit);
    EXPECT_EQ(data.targets(), std::min<std::uint64_t>(limit, 14));
    std::uint64_t counted = 0;
    for (std::uint64_t i = 0; i < data.batches(2); ++i) {
      Row tokens(8), targets(8);
      const std::uint64_t filled = data.fill(i, tokens, targets);
      EXPECT_EQ(filled, 8u - static_cast<std::uint64_t>(std::count(
                                 targets.begin(), targets.end(), -1)));
      EXPECT_GT(filled, 0u);
      counted += filled;
    }
    EXPECT_EQ(counted, data.targets());
  }
}

TEST_F(EvaluationDataTest, TooFewIdsAreAnErrorThatNamesTheFile) {
  EXPECT_EQ(messageOf([&] { EvaluationData(makeShards({6, 1}), 4, 1); }),
            (folder / "shard1").string() +
                ": ids to evaluate: given 1, expected at least 2");
  EXPECT_EQ(messageOf([] { EvaluationData({}, 4); }),
            "evaluation data: no shards, expected at least one");
}

TEST_F(FirstBatchTest, TakesConsecutiveRowsAndIgnoresTheRest) {
  Row tokens(2 * 3), targets(2 * 3);
  fillFirstBatch(makeShards({9})[0], 3, tokens, targets);
  EXPECT_EQ(tokens, (Row{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(targets, (Row{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(messageOf([&] {
              fillFirstBatch(makeShards({6})[0], 3, tokens, targets);
            }),
            (folder / "shard0").string() +
                ": ids for one batch: given 6, expected at least 7 (2 "
                "sequences of 3, and one)");
}
