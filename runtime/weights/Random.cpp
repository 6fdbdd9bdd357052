//===- Random.cpp - Counter-based random numbers --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheme is in random.h. Nothing here may change without changing every
// model's initial weights and the order of its data.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/random.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace isobath::runtime {

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t(0xD2511F53) * counter[0];
    const std::uint64_t right = std::uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<std::uint32_t>(right >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(right),
               static_cast<std::uint32_t>(left >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(left)};
    key[0] += 0x9E3779B9; // the golden ratio
    key[1] += 0xBB67AE85; // the square root of 3, less 1
  }
  return counter;
}

std::uint64_t hashName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : name)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

/// Both uniform numbers of a block.
static std::array<double, 2> uniformPair(std::uint64_t seed, std::uint64_t name,
                                         std::uint64_t block) {
  const PhiloxCounter words = philox({static_cast<std::uint32_t>(block),
                                      static_cast<std::uint32_t>(block >> 32),
                                      static_cast<std::uint32_t>(name),
                                      static_cast<std::uint32_t>(name >> 32)},
                                     {static_cast<std::uint32_t>(seed),
                                      static_cast<std::uint32_t>(seed >> 32)});
  const auto uniform = [](std::uint32_t low, std::uint32_t high) {
    const std::uint64_t word = std::uint64_t(high) << 32 | low;
    return static_cast<double>(word >> 11) * 0x1p-53;
  };
  return {uniform(words[0], words[1]), uniform(words[2], words[3])};
}

double uniformNumber(std::uint64_t seed, std::string_view name,
                     std::uint64_t index) {
  return uniformPair(seed, hashName(name), index / 2)[index % 2];
}

template <typename Value>
static void fillNormalOf(std::uint64_t seed, std::string_view name, double std,
                         std::span<Value> values) {
  const std::uint64_t hash = hashName(name);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const auto [u, v] = uniformPair(seed, hash, i / 2);
    // 1 − u is in (0, 1], so that the logarithm is finite.
    const double radius = std::sqrt(-2 * std::log(1 - u));
    const double angle = 2 * std::numbers::pi * v;
    values[i] = static_cast<Value>(std * (radius * std::cos(angle)));
    if (i + 1 < values.size())
      values[i + 1] = static_cast<Value>(std * (radius * std::sin(angle)));
  }
}

void fillNormal(std::uint64_t seed, std::string_view name, double std,
                std::span<float> values) {
  fillNormalOf(seed, name, std, values);
}

void fillNormal(std::uint64_t seed, std::string_view name, double std,
                std::span<double> values) {
  fillNormalOf(seed, name, std, values);
}

} // namespace isobath::runtime
