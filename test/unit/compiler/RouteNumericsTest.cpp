//===- RouteNumericsTest.cpp - What a route does to extreme sources -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"
#include "DepthPrograms.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

static void scale(Tensor &tensor, double factor) {
  for (double &value : tensor.values)
    value *= factor;
}

static void expectFinite(const Tensors &tensors) {
  for (const Tensor &tensor : tensors)
    for (double value : tensor.values)
      EXPECT_TRUE(std::isfinite(value));
}

static RouteShape smallEpsilon(const std::string &type) {
  return {.queries = 2,
          .closed = 2,
          .hasPartial = true,
          .heads = 2,
          .type = type,
          .epsilon = 1e-6};
}

/// A route with its gradients, and arguments for them: queries, closed sources,
/// partial, gradients of the mixes.
struct RouteWithGradients {
  explicit RouteWithGradients(const std::string &type)
      : module(routeFunction("loss", smallEpsilon(type)) +
                   routeFunction("weights", smallEpsilon(type),
                                 /*withWeights=*/true),
               "isobath-differentiate"),
        arguments(module.arguments("gradient")) {
    RandomNumbers(/*seed=*/5).fill(arguments);
  }
  Tensors run() const { return module.call("gradient", arguments); }
  Tensor weights() const {
    Tensors given(arguments.begin(), arguments.begin() + 5);
    return module.call("weights", given).back();
  }

  CompiledModule module;
  Tensors arguments;
};

class RouteNumerics : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Types, RouteNumerics, testing::Values("f32", "f64"),
                         [](const auto &info) { return info.param; });

TEST_P(RouteNumerics, ZeroRowsAreFinite) {
  RouteWithGradients route(GetParam());
  scale(route.arguments[2], 0.0);
  expectFinite(route.run());
  scale(route.arguments[4], 0.0);
  expectFinite(route.run());
}

TEST_P(RouteNumerics, AllRowsZeroGiveTheMean) {
  RouteWithGradients route(GetParam());
  for (int source : {2, 3, 4})
    scale(route.arguments[source], 0.0);
  Tensors results = route.run();
  expectFinite(results);
  for (double value : results[0].values)
    EXPECT_EQ(value, 0.0);
  for (double weight : route.weights().values)
    EXPECT_NEAR(weight, 1.0 / 3.0, 1e-7);
}

TEST_P(RouteNumerics, TinyRowsAreFinite) {
  RouteWithGradients route(GetParam());
  scale(route.arguments[2], 1e-4);
  expectFinite(route.run());
  scale(route.arguments[3], 1e-4);
  scale(route.arguments[4], 1e-4);
  expectFinite(route.run());
}

TEST_P(RouteNumerics, LargeLogitsAreFinite) {
  RouteWithGradients route(GetParam());
  scale(route.arguments[0], 1e3);
  scale(route.arguments[2], 1e6);
  expectFinite(route.run());
}

// A query of zeros gives the mean.
TEST_P(RouteNumerics, ZeroQueryGivesTheMean) {
  RouteWithGradients route(GetParam());
  scale(route.arguments[0], 0.0);
  Tensors results = route.run();
  for (size_t i = 0; i < results[0].values.size(); ++i) {
    double sum = 0;
    for (int source : {2, 3, 4})
      sum += route.arguments[source].values[i];
    EXPECT_NEAR(results[0].values[i], sum / 3.0, 1e-6);
  }
}

/// Gives every row of 8 channels the mean of squares `mean`.
static void normaliseRows(Tensor &tensor, double mean) {
  for (size_t row = 0; row < tensor.values.size(); row += 8) {
    double squares = 0;
    for (size_t c = row; c < row + 8; ++c)
      squares += tensor.values[c] * tensor.values[c];
    for (size_t c = row; c < row + 8; ++c)
      tensor.values[c] *= std::sqrt(8 * mean / squares);
  }
}

// Keys are normalised: where mean(s²) ≥ 1e4·epsilon, a factor on a source
// changes its logit by at most a part in 2e4, which is what epsilon does to
// rstd there, and a weight by at most a quarter of that change. A logit is at
// most |w|·sqrt(D).
TEST_P(RouteNumerics, ScalingASourceLeavesTheWeights) {
  RouteWithGradients route(GetParam());
  Tensor &source = route.arguments[2];
  normaliseRows(source, 1e-2);
  Tensor before = route.weights();
  double logit = std::sqrt(8.0) *
                 std::fmax(norm(route.arguments[0]), norm(route.arguments[1]));
  for (int times = 0; times < 2; ++times) {
    scale(source, 64.0);
    Tensor after = route.weights();
    for (size_t i = 0; i < after.values.size(); ++i)
      EXPECT_NEAR(after.values[i], before.values[i], logit / 2e4 / 4);
  }
  // Not so for a factor that turns the source round.
  scale(source, -1.0);
  EXPECT_GT(distance(route.weights(), before), 1e-2);
}
