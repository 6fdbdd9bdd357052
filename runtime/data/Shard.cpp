//===- Shard.cpp - Files of token ids -------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shards are read where the file is mapped; nothing is copied or converted.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/shard.h"

#include "isobath/runtime/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace isobath::runtime {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
              "shards are little-endian and read in place");

namespace {
struct Format {
  std::int32_t magic;
  std::int32_t version;
  unsigned idBytes;
};
} // namespace

static constexpr Format narrowFormat = {20240520, 1, 2};
static constexpr Format wideFormat = {20240801, 7, 4};

using Header = std::array<std::int32_t, 256>;
static constexpr std::uint64_t headerBytes = sizeof(Header);

static void checkVocabulary(const std::string &name, std::uint64_t vocabulary) {
  if (vocabulary == 0 || vocabulary > maximumVocabulary)
    fail(name, ": vocabulary: given ", vocabulary, ", expected 1 to ",
         maximumVocabulary);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Shard::Shard(const fs::path &path, std::uint64_t vocabulary)
    : file(std::in_place, path), bytes(file->bytes()), label(printable(path)) {
  check(vocabulary);
}

Shard::Shard(std::span<const std::byte> bytes, std::string name,
             std::uint64_t vocabulary)
    : bytes(bytes), label(std::move(name)) {
  check(vocabulary);
}

/// The ids behind the header, which are aligned: a shard starts at a multiple
/// of 4 bytes and its header is a multiple of 4 long.
template <typename Id>
static std::span<const Id> idsOf(std::span<const std::byte> bytes) {
  const std::span<const std::byte> data = bytes.subspan(headerBytes);
  return {reinterpret_cast<const Id *>(data.data()), data.size() / sizeof(Id)};
}

template <typename Id>
static void checkIds(const std::string &name, std::span<const Id> ids,
                     std::uint64_t vocabulary) {
  // The maximum first, which vectorises; the place only when it is needed.
  Id largest = 0;
  for (const Id id : ids)
    largest = std::max(largest, id);
  if (largest < vocabulary)
    return;
  const auto bad = std::find_if(ids.begin(), ids.end(),
                                [&](Id id) { return id >= vocabulary; });
  const std::uint64_t index = static_cast<std::uint64_t>(bad - ids.begin());
  fail(name, ": byte ", headerBytes + index * sizeof(Id), ": id: given ", *bad,
       ", expected less than the vocabulary ", vocabulary);
}

void Shard::check(std::uint64_t vocabulary) {
  checkVocabulary(label, vocabulary);
  if (bytes.size() < headerBytes)
    fail(label, ": byte 0: header of a token shard: given ", bytes.size(),
         " bytes, expected ", headerBytes);
  Header header;
  std::memcpy(header.data(), bytes.data(), headerBytes);
  const auto [magic, version, stated] =
      std::array{header[0], header[1], header[2]};
  if (magic != narrowFormat.magic && magic != wideFormat.magic)
    fail(label, ": byte 0: magic of a token shard: given ", magic,
         ", expected ", narrowFormat.magic, " (16-bit ids) or ",
         wideFormat.magic, " (32-bit ids)");
  const Format &format =
      magic == narrowFormat.magic ? narrowFormat : wideFormat;
  if (version != format.version)
    fail(label, ": byte 4: version: given ", version, ", expected ",
         format.version, " with magic ", magic);
  if (stated < 0)
    fail(label, ": byte 8: count of ids: given ", stated,
         ", expected 0 or more");
  count = static_cast<std::uint64_t>(stated);
  idBytes = format.idBytes;
  const std::uint64_t expectedBytes = headerBytes + count * idBytes;
  if (bytes.size() != expectedBytes)
    fail(label, ": byte 8: count of ids: given ", count, ", which makes ",
         expectedBytes, " bytes, expected a count that makes the file's ",
         bytes.size());
  if (idBytes == 2)
    checkIds(label, idsOf<std::uint16_t>(bytes), vocabulary);
  else
    checkIds(label, idsOf<std::uint32_t>(bytes), vocabulary);
}

std::uint32_t Shard::operator[](std::uint64_t index) const {
  return idBytes == 2 ? idsOf<std::uint16_t>(bytes)[index]
                      : idsOf<std::uint32_t>(bytes)[index];
}

void Shard::copy(std::uint64_t first, std::span<std::int32_t> out) const {
  if (idBytes == 2)
    std::ranges::copy(idsOf<std::uint16_t>(bytes).subspan(first, out.size()),
                      out.begin());
  else
    std::ranges::copy(idsOf<std::uint32_t>(bytes).subspan(first, out.size()),
                      out.begin());
}

std::uint64_t Shard::fingerprint() const {
  // FNV-1a over ids instead of bytes.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < count; ++i)
    hash = (hash ^ (*this)[i]) * 0x100000001b3;
  return (hash ^ count) * 0x100000001b3;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void writeShard(const fs::path &path, std::span<const std::uint32_t> ids,
                std::uint64_t vocabulary) {
  const std::string name = printable(path);
  checkVocabulary(name, vocabulary);
  if (ids.size() > maximumIdsInShard)
    fail(name, ": ids in one shard: given ", ids.size(), ", expected at most ",
         maximumIdsInShard);
  const auto bad = std::ranges::find_if(
      ids, [&](std::uint32_t id) { return id >= vocabulary; });
  if (bad != ids.end())
    fail(name, ": id number ", bad - ids.begin(), ": given ", *bad,
         ", expected less than the vocabulary ", vocabulary);

  const Format &format = vocabulary <= 65536 ? narrowFormat : wideFormat;
  Header header = {format.magic, format.version,
                   static_cast<std::int32_t>(ids.size())};
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(header)));
  if (format.idBytes == 4) {
    file.write(std::as_bytes(ids));
  } else {
    const std::vector<std::uint16_t> narrow(ids.begin(), ids.end());
    file.write(std::as_bytes(std::span(narrow)));
  }
  file.commit();
}

//===----------------------------------------------------------------------===//
// Folders of shards
//===----------------------------------------------------------------------===//

std::vector<fs::path> findShards(const fs::path &folder,
                                 std::string_view prefix) {
  std::vector<fs::path> found = listFolder(folder);
  std::erase_if(found, [&](const fs::path &path) {
    const std::string name = path.filename();
    return !name.starts_with(concat(prefix, "_")) || !name.ends_with(".bin");
  });
  if (found.empty())
    fail(printable(folder), ": no files ", prefix,
         "_*.bin; `isobath prepare` makes them");
  return found;
}

std::vector<fs::path> findEvaluationShards(const fs::path &path) {
  std::error_code ignored; // what is wrong with a file is said on opening it
  if (fs::is_directory(path, ignored))
    return findShards(path, "valid");
  return {path};
}

std::vector<Shard> openShards(std::span<const fs::path> paths,
                              std::uint64_t vocabulary) {
  std::vector<Shard> shards;
  for (const fs::path &path : paths)
    shards.emplace_back(path, vocabulary);
  return shards;
}

} // namespace isobath::runtime
