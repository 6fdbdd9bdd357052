//===- TrainerTest.cpp - One optimiser step -------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of the bigram model against the formulas, written down a second time.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/trainer.h"

#include "BigramUnit.h"
#include "TestFiles.h"
#include "isobath/runtime/tensors.h"

#include <cmath>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {

constexpr auto V = BigramUnit::vocabulary;
constexpr auto T = BigramUnit::context;
using Ids = std::span<std::int32_t>;

/// Sample n holds the tokens n, n + 1, … and targets three further, of which
/// those of odd samples count only at the first position.
void fillCounting(std::uint64_t firstSample, Ids tokens, Ids targets) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::uint64_t sample = firstSample + i / T, position = i % T;
    tokens[i] = static_cast<std::int32_t>((sample + position) % V);
    const bool counts = sample % 2 == 0 || position == 0;
    targets[i] =
        counts ? static_cast<std::int32_t>((sample + position + 3) % V) : -1;
  }
}

/// A unit, its trainer and its memory.
struct Rig {
  explicit Rig(BigramUnit &bigram)
      : unit(bigram.load()), trainer(*unit, buffers) {
    buffers.allocate();
    initialiseParameters(unit->manifest(), 1, buffers);
  }
  template <typename Real> std::vector<Real> copy(const char *buffer) {
    const auto values = buffers.read<Real>(buffer);
    return {values.begin(), values.end()};
  }
  std::shared_ptr<Unit> unit;
  Buffers buffers;
  Trainer trainer;
};

/// Mean loss and its gradient over samples first … first + count − 1.
struct Reference {
  double loss = 0;
  std::uint64_t counted = 0;
  std::vector<double> gradient = std::vector<double>(BigramUnit::elements);

  Reference(const std::vector<double> &parameters, std::uint64_t first,
            std::uint64_t count) {
    std::vector<std::int32_t> tokens(count * T), targets(count * T);
    fillCounting(first, tokens, targets);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (targets[i] >= 0)
        add(parameters, tokens[i], targets[i]);
    loss /= static_cast<double>(counted);
    for (double &value : gradient)
      value /= static_cast<double>(counted);
  }
  void add(const std::vector<double> &parameters, std::int32_t token,
           std::int32_t target) {
    const auto logit = [&](std::uint64_t v) {
      return parameters[token * V + v] + parameters[BigramUnit::biasOffset + v];
    };
    double sum = 0;
    for (std::uint64_t v = 0; v < V; ++v)
      sum += std::exp(logit(v));
    for (std::uint64_t v = 0; v < V; ++v) {
      const double slope =
          std::exp(logit(v)) / sum - (v == static_cast<std::uint64_t>(target));
      gradient[token * V + v] += slope;
      gradient[BigramUnit::biasOffset + v] += slope;
    }
    loss += std::log(sum) - logit(target);
    ++counted;
  }
  double norm() const {
    double sum = 0;
    for (const double value : gradient)
      sum += value * value;
    return std::sqrt(sum);
  }
};

} // namespace

TEST(Trainer, FirstStepFollowsTheFormulas) {
  for (const int accumulate : {1, 3}) {
    BigramUnit bigram("f64");
    bigram.train()["accumulate"] = accumulate;
    bigram.train()["clip"] = 0.1;
    Rig rig(bigram);
    const auto before = rig.copy<double>("parameters");
    const Reference expected(before, 0, 2 * accumulate);
    const StepResult result = rig.trainer.step(1, fillCounting);

    // 2 samples: 4 + 1 targets that count.
    EXPECT_EQ(result.counted, 5u * accumulate);
    EXPECT_EQ(result.counted, expected.counted);
    EXPECT_NEAR(result.loss, expected.loss, 1e-14);
    EXPECT_NEAR(result.gradientNorm, expected.norm(), 1e-14);
    EXPECT_GT(result.gradientNorm, 0.1) << "the test wants a clipped step";
    EXPECT_DOUBLE_EQ(result.learningRate, 0.05 / 12);

    const auto after = rig.copy<double>("parameters");
    const double factor = 0.1 / expected.norm();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double g = expected.gradient[i] * factor;
      const double decay = i < BigramUnit::biasOffset ? 0.1 : 0;
      // After one step the corrected moments are g and g².
      EXPECT_NEAR(after[i],
                  before[i] -
                      0.05 / 12 *
                          (g / (std::abs(g) + 1e-8) + decay * before[i]),
                  1e-12)
          << "element " << i;
    }
  }
}

TEST(Trainer, SampleNumbersFollowTheStep) {
  BigramUnit bigram;
  bigram.train()["accumulate"] = 3;
  Rig rig(bigram);
  std::vector<std::uint64_t> samples;
  rig.trainer.step(5, [&](std::uint64_t first, Ids tokens, Ids targets) {
    EXPECT_EQ(tokens.size(), 2 * T);
    EXPECT_EQ(targets.size(), 2 * T);
    samples.push_back(first);
    fillCounting(first, tokens, targets);
  });
  // ((s - 1) * accumulate + m) * B, once to count and once to compute.
  EXPECT_EQ(samples, (std::vector<std::uint64_t>{24, 26, 28, 24, 26, 28}));
}

TEST(Trainer, StepWithoutTargetsChangesNothing) {
  BigramUnit bigram;
  Rig rig(bigram);
  rig.trainer.step(1, fillCounting);
  const auto parameters = rig.copy<float>("parameters");
  const auto moment = rig.copy<float>("first_moment");
  const StepResult result =
      rig.trainer.step(2, [](std::uint64_t, Ids tokens, Ids targets) {
        std::fill(tokens.begin(), tokens.end(), 0);
        std::fill(targets.begin(), targets.end(), -1);
      });
  EXPECT_EQ(result.counted, 0u);
  EXPECT_EQ(result.loss, 0);
  EXPECT_EQ(result.gradientNorm, 0);
  EXPECT_EQ(rig.copy<float>("parameters"), parameters);
  EXPECT_EQ(rig.copy<float>("first_moment"), moment);
}

TEST(Trainer, BadGradientNamesTheTensorAndIsNotApplied) {
  BigramUnit bigram;
  Rig rig(bigram);
  rig.trainer.step(1, fillCounting);
  const auto parameters = rig.copy<float>("parameters");
  BigramUnit::poisoned = BigramUnit::biasOffset + 2;
  EXPECT_EQ(messageOf([&] { rig.trainer.step(2, fillCounting); }),
            "step 2: given a gradient whose norm is nan, expected a finite "
            "one; the first tensor with bad values is bias");
  EXPECT_EQ(rig.copy<float>("parameters"), parameters);
  BigramUnit::poisoned = 3;
  EXPECT_NE(messageOf([&] {
              rig.trainer.step(2, fillCounting);
            }).find("is embed.weight"),
            std::string::npos);
}

TEST(Trainer, AccumulationNeedsItsEntry) {
  BigramUnit bigram;
  bigram.train()["accumulate"] = 2;
  bigram.manifest["entries"].erase(2);
  EXPECT_EQ(messageOf([&] { Rig rig(bigram); }),
            "compiled unit: given no entry accumulate, expected one of loss, "
            "gradient, norm, update, routes");
}
