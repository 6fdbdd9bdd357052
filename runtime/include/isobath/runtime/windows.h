//===- windows.h - Which tokens a batch of training or evaluation holds ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is T inputs and the T ids that follow each of them: T + 1
// consecutive ids of one shard. Consecutive windows share one id, the last
// target of one being the first input of the next. Nothing here has state that
// moves: a batch is a function of its number.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_WINDOWS_H
#define ISOBATH_RUNTIME_WINDOWS_H

#include "isobath/runtime/shard.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace isobath::runtime {

/// The target of a position that does not count.
inline constexpr std::int32_t ignoredTarget = -1;

/// A permutation of 0 … size − 1 that is a function of (size, seed, epoch) and
/// takes no memory: a Feistel network of 8 rounds over the smallest power of
/// four that is at least `size`, repeated until it lands below `size`.
class Permutation {
public:
  /// `size` is at least 1.
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);
  std::uint64_t operator()(std::uint64_t index) const;

private:
  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t size;
  unsigned halfBits;                 // the network's domain has 2·halfBits bits
  std::array<std::uint32_t, 4> keys; // of (seed, epoch)
};

/// The order in which training visits the windows of its shards. Shard i has
/// ⌊(ids_i − 1)/T⌋ windows, at the offsets 0, T, 2T, …; epoch e visits the
/// windows of all shards in the order of Permutation(windows, seed, e), and
/// sample number n is number n mod windows of epoch n div windows.
class SampleOrder {
public:
  struct Window {
    std::uint64_t shard;
    std::uint64_t offset; // of its first id
    bool operator==(const Window &) const = default;
  };

  SampleOrder(std::span<const std::uint64_t> idsOfShards, std::uint64_t context,
              std::uint64_t seed);

  /// In one epoch. May be 0: then there are no samples.
  std::uint64_t windows() const { return ends.empty() ? 0 : ends.back(); }
  Window operator()(std::uint64_t sample) const;

private:
  std::vector<std::uint64_t> ends; // windows in the shards up to this one
  std::uint64_t context;
  std::uint64_t seed;
};

/// The train shards in the order of SampleOrder.
class TrainingData {
public:
  /// An Error, naming T and the ids there are, if no shard has a full window.
  TrainingData(std::vector<Shard> shards, std::uint64_t context,
               std::uint64_t seed);

  /// Windows in one epoch.
  std::uint64_t windows() const { return order.windows(); }
  std::uint64_t ids() const;
  /// A hash of all ids and of where the shards end. Reads every id.
  std::uint64_t fingerprint() const;
  /// Fills row b with sample number firstSample + b.
  void fill(std::uint64_t firstSample,
            std::span<std::int32_t> tokens,         // [B, T]
            std::span<std::int32_t> targets) const; // [B, T]

private:
  std::vector<Shard> shards;
  std::uint64_t context;
  SampleOrder order;
};

/// Every next token of each shard, once, in consecutive windows of T. A window
/// cut short by its shard's end (or by the limit) is filled up with tokens 0
/// and ignored targets, and so are the rows that the last batch has too many.
class EvaluationData {
public:
  /// `limit`: only so many targets count, the first ones; 0: all. An Error
  /// naming the file if a shard has fewer than 2 ids, or if there is no shard.
  EvaluationData(std::vector<Shard> shards, std::uint64_t context,
                 std::uint64_t limit = 0);

  /// The targets that count, in all.
  std::uint64_t targets() const { return counted; }
  /// How many batches of B windows hold them.
  std::uint64_t batches(std::uint64_t batch) const;
  /// Fills batch number `index` of B = tokens.size() / T rows and returns how
  /// many of its targets count.
  std::uint64_t fill(std::uint64_t index,
                     std::span<std::int32_t> tokens,         // [B, T]
                     std::span<std::int32_t> targets) const; // [B, T]

private:
  struct Piece {
    std::uint64_t firstWindow; // of this shard, among all
    std::uint64_t targets;     // that count in this shard
  };

  std::vector<Shard> shards;
  std::vector<Piece> pieces; // of each shard that has targets that count
  std::uint64_t context;
  std::uint64_t counted = 0;
};

/// The batch of `isobath grad`: row b has the inputs ids[bT … bT + T − 1] and
/// the targets one further. An Error, naming the file, if the shard has fewer
/// than B·T + 1 ids; more are ignored.
void fillFirstBatch(const Shard &shard, std::uint64_t context,
                    std::span<std::int32_t> tokens,   // [B, T]
                    std::span<std::int32_t> targets); // [B, T]

/// Samples of no text, for runs in which it does not matter what tokens are:
/// each position has a token that is a function of its number, and the next
/// one's as its target.
void fillArbitrary(std::uint64_t firstSample, std::uint64_t context,
                   std::uint64_t vocabulary,
                   std::span<std::int32_t> tokens,   // [B, T]
                   std::span<std::int32_t> targets); // [B, T]

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_WINDOWS_H
