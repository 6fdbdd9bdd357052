//===- FuzzShard.cpp - Token shards of any contents -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is the first three numbers of a header, then what follows the
// header; shorter files are the unit tests' matter. A shard either is refused
// with an Error or keeps its promises.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/error.h"
#include "isobath/runtime/shard.h"
#include "isobath/runtime/windows.h"

#include <algorithm>
#include <cstdlib>

using namespace isobath::runtime;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

static void checkShard(std::span<const std::byte> bytes,
                       std::uint64_t vocabulary) {
  const Shard shard(bytes, "shard", vocabulary);
  require(1024 + shard.size() * shard.width() == bytes.size());
  std::vector<std::int32_t> ids(shard.size());
  shard.copy(0, ids);
  for (std::uint64_t i = 0; i < shard.size(); ++i)
    require(ids[i] >= 0 && std::uint64_t(ids[i]) < vocabulary &&
            std::uint32_t(ids[i]) == shard[i]);

  std::vector<Shard> shards;
  shards.emplace_back(bytes, "shard", vocabulary);
  const EvaluationData data(std::move(shards), 5);
  std::uint64_t counted = 0;
  for (std::uint64_t i = 0; i < data.batches(3); ++i) {
    std::vector<std::int32_t> tokens(15), targets(15);
    counted += data.fill(i, tokens, targets);
  }
  require(counted == shard.size() - 1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  constexpr std::size_t fields = 12, header = 1024;
  if (size < fields)
    return 0;
  std::vector<std::byte> bytes(header + size - fields);
  const auto *input = reinterpret_cast<const std::byte *>(data);
  std::copy_n(input, fields, bytes.begin());
  std::copy(input + fields, input + size, bytes.begin() + header);
  for (const std::uint64_t vocabulary :
       {std::uint64_t(256), std::uint64_t(65536), maximumVocabulary}) {
    try {
      checkShard(bytes, vocabulary);
    } catch (const Error &) {
      // Refused, as most inputs must be.
    }
  }
  return 0;
}
