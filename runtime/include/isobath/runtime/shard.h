//===- shard.h - Files of token ids ---------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes llm.c's token shards: a header of 256 little-endian int32
// (magic, version, count, the rest ignored), then `count` ids.
//
//     magic 20240520, version 1: uint16 ids, for vocabularies up to 65,536
//     magic 20240801, version 7: uint32 ids, for larger ones
//
// What the ids mean is the tokenizer's business (tokenizer.h); how they are cut
// into samples is windows.h's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_SHARD_H
#define ISOBATH_RUNTIME_SHARD_H

#include "isobath/runtime/files.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// The most ids that the 32-bit count of a shard can state.
inline constexpr std::uint64_t maximumIdsInShard = INT32_MAX;

/// The largest vocabulary: ids are int32 inside a compiled program.
inline constexpr std::uint64_t maximumVocabulary = std::uint64_t(1) << 31;

/// One shard, memory-mapped and checked: magic, version, the file's size
/// against its count, and every id against the vocabulary. An Error names the
/// file, the byte offset, the value there and the values allowed.
class Shard {
public:
  Shard(const std::filesystem::path &path, std::uint64_t vocabulary);
  /// A shard in memory that outlives this object, at an address that is a
  /// multiple of 4; `name` stands in messages where a path would.
  Shard(std::span<const std::byte> bytes, std::string name,
        std::uint64_t vocabulary);

  const std::string &name() const { return label; }
  /// The number of ids.
  std::uint64_t size() const { return count; }
  /// Bytes of one id: 2 or 4.
  unsigned width() const { return idBytes; }
  std::uint32_t operator[](std::uint64_t index) const;
  /// Copies the ids first … first + out.size() − 1, which must exist.
  void copy(std::uint64_t first, std::span<std::int32_t> out) const;
  /// A 64-bit hash of the ids and their number, the same for both widths.
  std::uint64_t fingerprint() const;

private:
  void check(std::uint64_t vocabulary);

  std::optional<MappedFile> file;
  std::span<const std::byte> bytes; // the whole file
  std::string label;
  std::uint64_t count = 0;
  unsigned idBytes = 2;
};

/// Writes a shard atomically, with 16-bit ids if the vocabulary has at most
/// 65,536. An Error if an id is not in the vocabulary or there are more than
/// maximumIdsInShard.
void writeShard(const std::filesystem::path &path,
                std::span<const std::uint32_t> ids, std::uint64_t vocabulary);

/// The files `PREFIX_*.bin` of a folder, sorted by name: `train` or `valid`. An
/// Error if there are none.
std::vector<std::filesystem::path>
findShards(const std::filesystem::path &folder, std::string_view prefix);

/// What a command evaluates: `path` itself, or the `valid_*.bin` of a folder.
std::vector<std::filesystem::path>
findEvaluationShards(const std::filesystem::path &path);

/// Opens each of the files as a Shard.
std::vector<Shard> openShards(std::span<const std::filesystem::path> paths,
                              std::uint64_t vocabulary);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_SHARD_H
