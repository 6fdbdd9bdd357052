//===- prepare.h - Text files to a folder of token shards -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of `isobath prepare`. It holds the ids of one split in memory, four
// bytes each.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_PREPARE_H
#define ISOBATH_RUNTIME_PREPARE_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isobath::runtime {

struct PrepareOptions {
  /// Read in this order and joined without anything between them.
  std::vector<std::filesystem::path> texts;
  /// The validation text. If empty, the end of `texts` is taken instead.
  std::vector<std::filesystem::path> validTexts;
  /// Made if absent; refused if it holds shards or a tokenizer.json already.
  std::filesystem::path output;
  std::string tokenizer = "bytes";
  /// Without validTexts: the last round(validFraction · ids) ids of the joined
  /// texts are for validation, the ones before for training. In (0, 1).
  double validFraction = 0.1;
  /// A split with more ids is cut into the fewest shards of at most so many,
  /// as equal in size as they can be. At least 3.
  std::uint64_t idsPerShard = 100'000'000;
};

struct PreparedShard {
  std::filesystem::path path;
  std::uint64_t ids;
};

struct PrepareSummary {
  std::vector<PreparedShard> train, valid;
  std::uint64_t vocabulary;
};

/// Writes train_000000.bin …, valid_000000.bin … and tokenizer.json. On failure
/// nothing is left behind. Each split must have at least 2 ids, each text at
/// least one byte.
PrepareSummary prepare(const PrepareOptions &options);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_PREPARE_H
