//===- RandomTest.cpp - Counter-based random numbers ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Known answers first, statistics second.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace isobath::runtime;

// The known answers that Random123 publishes for philox4x32-10.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The known answers of the FNV reference implementation.
TEST(Random, HashIsFnv1a) {
  EXPECT_EQ(hashName(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hashName("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hashName("foobar"), 0x85944171f73967e8u);
  EXPECT_NE(hashName("\xff"), hashName("\x7f"));
}

TEST(Random, UniformNumbersAreTheWordsOfTheirBlock) {
  const std::uint64_t hash = hashName("x");
  const PhiloxCounter words = philox({3, 0, static_cast<std::uint32_t>(hash),
                                      static_cast<std::uint32_t>(hash >> 32)},
                                     {5, 9});
  const std::uint64_t seed = 5 + (std::uint64_t(9) << 32);
  const auto uniform = [](std::uint64_t low, std::uint64_t high) {
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
  };
  EXPECT_EQ(uniformNumber(seed, "x", 6), uniform(words[0], words[1]));
  EXPECT_EQ(uniformNumber(seed, "x", 7), uniform(words[2], words[3]));
}

TEST(Random, NormalNumbersAreBoxMullersOfTheirBlock) {
  std::vector<double> values(5);
  fillNormal(1, "embed.weight", 2.0, std::span(values));
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const double u = uniformNumber(1, "embed.weight", i / 2 * 2);
    const double v = uniformNumber(1, "embed.weight", i / 2 * 2 + 1);
    const double radius = std::sqrt(-2 * std::log(1 - u));
    const double angle = 2 * M_PI * v;
    // The two ways of writing it round differently in the last place.
    EXPECT_NEAR(values[i],
                2 * radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle)),
                1e-14);
  }
}

// Every model's initial weights are these numbers: they may never change. They
// come from an implementation in another language; the tolerance is that of
// another C library.
TEST(Random, NormalNumbersAreFixed) {
  std::vector<double> values(3);
  fillNormal(1, "embed.weight", 1.0, std::span(values));
  EXPECT_NEAR(values[0], -0x1.ace6196334a8ep-1, 1e-15);
  EXPECT_NEAR(values[1], 0x1.d80b93d6208c7p+0, 1e-15);
  EXPECT_NEAR(values[2], 0x1.c3ef18ce1a9cfp-2, 1e-15);
}

TEST(Random, ValuesDoNotDependOnHowManyAreFilled) {
  std::vector<double> longer(101), shorter(50);
  fillNormal(1, "a", 0.02, std::span(longer));
  fillNormal(1, "a", 0.02, std::span(shorter));
  for (std::size_t i = 0; i < shorter.size(); ++i)
    EXPECT_EQ(shorter[i], longer[i]);
}

TEST(Random, FloatsAreTheDoublesRounded) {
  std::vector<double> doubles(1000);
  std::vector<float> floats(1000);
  fillNormal(1, "a", 0.02, std::span(doubles));
  fillNormal(1, "a", 0.02, std::span(floats));
  for (std::size_t i = 0; i < floats.size(); ++i)
    EXPECT_EQ(floats[i], static_cast<float>(doubles[i]));
}

TEST(Random, SeedsAndNamesGiveOtherValues) {
  const auto first = [](std::uint64_t seed, std::string_view name) {
    double value = 0;
    fillNormal(seed, name, 1, std::span(&value, 1));
    return value;
  };
  EXPECT_NE(first(1, "a"), first(2, "a"));
  EXPECT_NE(first(1, "a"), first(1 + (std::uint64_t(1) << 32), "a"));
  EXPECT_NE(first(1, "a"), first(1, "b"));
}

// Moments of 200,000 numbers, within 5 standard deviations of their own:
// sqrt(1/n), sqrt(2/n), sqrt(96/n); and the correlation within pairs.
TEST(Random, NormalNumbersAreNormal) {
  constexpr std::size_t n = 200'000;
  std::vector<double> z(n);
  fillNormal(3, "moments", 1, std::span(z));
  double mean = 0, square = 0, fourth = 0, pairs = 0, furthest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    mean += z[i] / n;
    square += z[i] * z[i] / n;
    fourth += z[i] * z[i] * z[i] * z[i] / n;
    if (i % 2 == 0)
      pairs += z[i] * z[i + 1] / (n / 2);
    furthest = std::max(furthest, std::fabs(z[i]));
  }
  EXPECT_NEAR(mean, 0, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0 / n));
  EXPECT_NEAR(pairs, 0, 5 * std::sqrt(2.0 / n));
  EXPECT_GT(furthest, 4);
  EXPECT_LT(furthest, 7);
}
