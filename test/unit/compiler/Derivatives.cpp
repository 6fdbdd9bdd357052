//===- Derivatives.cpp - Adjoints against central differences -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derivatives.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

static constexpr double step = 1e-5;
static constexpr double tolerance = 1e-8;

/// Σ_i c_i·y_i
static double weightedSum(const Tensors &constants, const Tensors &results) {
  double total = 0;
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < results[i].values.size(); ++j)
      total += constants[i].values[j] * results[i].values[j];
  return total;
}

/// The derivative by every element of argument number `index`.
static Tensor centralDifferences(const CompiledModule &module,
                                 Tensors arguments, size_t index,
                                 const Tensors &constants) {
  Tensor gradient = arguments[index];
  for (size_t j = 0; j < gradient.values.size(); ++j) {
    double &value = arguments[index].values[j];
    double middle = value;
    value = middle + step;
    double above = weightedSum(constants, module.call("loss", arguments));
    value = middle - step;
    double below = weightedSum(constants, module.call("loss", arguments));
    value = middle;
    gradient.values[j] = (above - below) / (2 * step);
  }
  return gradient;
}

Derivative
isobath::test::expectDerivative(const std::string &text,
                                const std::vector<std::vector<double>> &ids) {
  CompiledModule module(text, "isobath-differentiate");
  Tensors arguments = module.arguments("loss");
  RandomNumbers random(/*seed=*/1);
  random.fill(arguments);
  auto nextIds = ids.begin();
  for (Tensor &argument : arguments)
    if (argument.type == "i32")
      argument.values = *nextIds++;

  // g(x…, ∂y…) -> (y…, ∂x…)
  Tensors all = module.arguments("gradient");
  Derivative derivative;
  derivative.resultGradients.assign(all.begin() + arguments.size(), all.end());
  random.fill(derivative.resultGradients);
  Tensors given = arguments;
  given.insert(given.end(), derivative.resultGradients.begin(),
               derivative.resultGradients.end());
  Tensors results = module.call("gradient", given);
  derivative.gradients.assign(
      results.begin() + derivative.resultGradients.size(), results.end());

  auto gradient = derivative.gradients.begin();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type == "i32")
      continue;
    Tensor expected =
        centralDifferences(module, arguments, i, derivative.resultGradients);
    EXPECT_LE(distance(*gradient++, expected),
              tolerance * std::fmax(norm(expected), 1.0))
        << "argument " << i;
  }
  EXPECT_EQ(gradient, derivative.gradients.end());
  return derivative;
}
