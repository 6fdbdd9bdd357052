//===- Windows.cpp - Which tokens a batch of training or evaluation holds -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of training samples must never change: runs are resumed by it.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/windows.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/random.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace isobath::runtime {

static std::uint32_t lowWord(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
static std::uint32_t highWord(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

//===----------------------------------------------------------------------===//
// Permutation
//===----------------------------------------------------------------------===//

Permutation::Permutation(std::uint64_t size, std::uint64_t seed,
                         std::uint64_t epoch)
    : size(size),
      halfBits((static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2) {
  assert(size > 0 && "nothing to permute");
  // The name keeps these numbers apart from those of initial values.
  const std::uint64_t name = hashName("data order");
  keys =
      philox({lowWord(epoch), highWord(epoch), lowWord(name), highWord(name)},
             {lowWord(seed), highWord(seed)});
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t(1) << halfBits) - 1;
  std::uint64_t left = value >> halfBits, right = value & mask;
  for (std::uint32_t round = 0; round < 8; ++round) {
    const PhiloxCounter mixed =
        philox({lowWord(right), round, keys[2], keys[3]}, {keys[0], keys[1]});
    left = std::exchange(right, left ^ (mixed[0] & mask));
  }
  return left << halfBits | right;
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  assert(index < size && "no such element");
  // The walk returns below `size`: it follows a cycle of a permutation of the
  // network's domain, on which `index` itself lies.
  do
    index = encrypt(index);
  while (index >= size);
  return index;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

SampleOrder::SampleOrder(std::span<const std::uint64_t> idsOfShards,
                         std::uint64_t context, std::uint64_t seed)
    : context(context), seed(seed) {
  assert(context > 0 && "a window has at least one token");
  std::uint64_t total = 0;
  for (const std::uint64_t ids : idsOfShards) {
    total += ids == 0 ? 0 : (ids - 1) / context;
    ends.push_back(total);
  }
}

SampleOrder::Window SampleOrder::operator()(std::uint64_t sample) const {
  const Permutation permutation(windows(), seed, sample / windows());
  const std::uint64_t window = permutation(sample % windows());
  const auto end = std::ranges::upper_bound(ends, window);
  const std::uint64_t first = end == ends.begin() ? 0 : *std::prev(end);
  return {static_cast<std::uint64_t>(end - ends.begin()),
          (window - first) * context};
}

static std::vector<std::uint64_t> sizesOf(std::span<const Shard> shards) {
  std::vector<std::uint64_t> sizes;
  for (const Shard &shard : shards)
    sizes.push_back(shard.size());
  return sizes;
}

TrainingData::TrainingData(std::vector<Shard> given, std::uint64_t context,
                           std::uint64_t seed)
    : shards(std::move(given)), context(context),
      order(sizesOf(shards), context, seed) {
  if (windows() > 0)
    return;
  if (shards.empty())
    fail("training data: no shards, expected at least one");
  const Shard &longest = *std::ranges::max_element(
      shards, {}, [](const Shard &shard) { return shard.size(); });
  fail(longest.name(), ": training ids: given ", longest.size(),
       " in the longest shard, expected at least ", context + 1,
       " for one window of context ", context);
}

std::uint64_t TrainingData::ids() const {
  std::uint64_t total = 0;
  for (const Shard &shard : shards)
    total += shard.size();
  return total;
}

std::uint64_t TrainingData::fingerprint() const {
  std::uint64_t hash = hashName("training data");
  for (const Shard &shard : shards)
    hash = (hash ^ shard.fingerprint()) * 0x100000001b3;
  return hash;
}

/// Copies `count` inputs and their targets from `offset` on.
static void copyWindow(const Shard &shard, std::uint64_t offset,
                       std::uint64_t count, std::span<std::int32_t> tokens,
                       std::span<std::int32_t> targets) {
  shard.copy(offset, tokens.first(count));
  shard.copy(offset + 1, targets.first(count));
}

static void checkShape([[maybe_unused]] std::span<const std::int32_t> tokens,
                       [[maybe_unused]] std::span<const std::int32_t> targets,
                       [[maybe_unused]] std::uint64_t context) {
  assert(tokens.size() == targets.size() && tokens.size() % context == 0 &&
         "expected two arrays [B, T]");
}

void TrainingData::fill(std::uint64_t firstSample,
                        std::span<std::int32_t> tokens,
                        std::span<std::int32_t> targets) const {
  checkShape(tokens, targets, context);
  for (std::uint64_t b = 0; b < tokens.size() / context; ++b) {
    const SampleOrder::Window window = order(firstSample + b);
    copyWindow(shards[window.shard], window.offset, context,
               tokens.subspan(b * context, context),
               targets.subspan(b * context, context));
  }
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

EvaluationData::EvaluationData(std::vector<Shard> given, std::uint64_t context,
                               std::uint64_t limit)
    : shards(std::move(given)), context(context) {
  assert(context > 0 && "a window has at least one token");
  if (shards.empty())
    fail("evaluation data: no shards, expected at least one");
  std::uint64_t windows = 0;
  for (const Shard &shard : shards) {
    if (shard.size() < 2)
      fail(shard.name(), ": ids to evaluate: given ", shard.size(),
           ", expected at least 2");
    std::uint64_t targets = shard.size() - 1;
    if (limit > 0)
      targets = std::min(targets, limit - counted);
    if (targets == 0)
      continue;
    pieces.push_back({windows, targets});
    windows += (targets + context - 1) / context;
    counted += targets;
  }
}

std::uint64_t EvaluationData::batches(std::uint64_t batch) const {
  const Piece &last = pieces.back();
  const std::uint64_t windows =
      last.firstWindow + (last.targets + context - 1) / context;
  return (windows + batch - 1) / batch;
}

std::uint64_t EvaluationData::fill(std::uint64_t index,
                                   std::span<std::int32_t> tokens,
                                   std::span<std::int32_t> targets) const {
  checkShape(tokens, targets, context);
  std::ranges::fill(tokens, 0);
  std::ranges::fill(targets, ignoredTarget);
  const std::uint64_t batch = tokens.size() / context;
  std::uint64_t filled = 0;
  for (std::uint64_t b = 0; b < batch; ++b) {
    const std::uint64_t window = index * batch + b;
    // The last piece that does not start behind this window. Pieces are the
    // first shards, in order: the limit cuts off only the end.
    const auto piece = std::prev(std::ranges::upper_bound(
        pieces, window, {}, [](const Piece &p) { return p.firstWindow; }));
    const std::uint64_t offset = (window - piece->firstWindow) * context;
    if (offset >= piece->targets)
      break; // behind the last window
    const std::uint64_t count = std::min(context, piece->targets - offset);
    copyWindow(shards[static_cast<std::size_t>(piece - pieces.begin())], offset,
               count, tokens.subspan(b * context, context),
               targets.subspan(b * context, context));
    filled += count;
  }
  return filled;
}

void fillFirstBatch(const Shard &shard, std::uint64_t context,
                    std::span<std::int32_t> tokens,
                    std::span<std::int32_t> targets) {
  checkShape(tokens, targets, context);
  if (shard.size() < tokens.size() + 1)
    fail(shard.name(), ": ids for one batch: given ", shard.size(),
         ", expected at least ", tokens.size() + 1, " (",
         tokens.size() / context, " sequences of ", context, ", and one)");
  copyWindow(shard, 0, tokens.size(), tokens, targets);
}

void fillArbitrary(std::uint64_t firstSample, std::uint64_t context,
                   std::uint64_t vocabulary, std::span<std::int32_t> tokens,
                   std::span<std::int32_t> targets) {
  checkShape(tokens, targets, context);
  const auto id = [&](std::uint64_t position) {
    return static_cast<std::int32_t>((firstSample * context + position) *
                                     2654435761u % vocabulary);
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = id(i);
    targets[i] = id(i + 1);
  }
}

} // namespace isobath::runtime
