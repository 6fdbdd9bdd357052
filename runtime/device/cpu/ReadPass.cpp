//===- ReadPass.cpp - How fast memory can be read -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/read_pass.h"

#include "Parallel.h"
#include "isobath/runtime/cpu_library.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isobath::runtime {

/// What one cache line holds; the compiler cuts it into the processor's
/// vectors.
typedef std::uint64_t Line __attribute__((vector_size(64)));

static Line loadLine(const std::byte *bytes) {
  Line line;
  std::memcpy(&line, bytes, sizeof line);
  return line;
}

/// Two lines in turn, so that no load waits for the one before.
static std::uint64_t readPart(std::span<const std::byte> bytes) {
  Line even{}, odd{};
  const std::byte *next = bytes.data();
  for (std::size_t pairs = bytes.size() / (2 * sizeof(Line)); pairs > 0;
       --pairs, next += 2 * sizeof(Line)) {
    even ^= loadLine(next);
    odd ^= loadLine(next + sizeof(Line));
  }
  const Line both = even ^ odd;
  std::uint64_t all = 0;
  for (std::size_t word = 0; word < sizeof(Line) / sizeof(all); ++word)
    all ^= both[word];
  return all;
}

// Many parts for each thread: one that something else holds up must not make
// the others wait.
static constexpr std::size_t partBytes = std::size_t(1) << 20;

std::uint64_t readPass(std::span<const std::span<const std::byte>> buffers) {
  std::vector<std::span<const std::byte>> parts;
  for (std::span<const std::byte> bytes : buffers)
    while (!bytes.empty()) {
      const std::size_t size = std::min(partBytes, bytes.size());
      parts.push_back(bytes.first(size));
      bytes = bytes.subspan(size);
    }
  std::vector<std::uint64_t> results(parts.size());
  parallelFor(static_cast<std::int64_t>(parts.size()), [&](std::int64_t part) {
    const auto i = static_cast<std::size_t>(part);
    results[i] = readPart(parts[i]);
  });
  std::uint64_t all = 0;
  for (const std::uint64_t result : results)
    all ^= result;
  return all;
}

} // namespace isobath::runtime
