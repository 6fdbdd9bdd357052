//===- Derivatives.h - Adjoints against central differences ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_COMPILER_DERIVATIVES_H
#define ISOBATH_TEST_UNIT_COMPILER_DERIVATIVES_H

#include "CompiledModule.h"

namespace isobath::test {

/// What a check of derivatives saw, for further checks.
struct Derivative {
  Tensors resultGradients; // one for each result
  Tensors gradients;       // one for each floating-point argument
};

/// Differentiates `@loss`, a function over f64 tensors in `text`, and expects
/// the gradient of Σ_i c_i·y_i, for its results y and random constants c, to
/// agree with central differences at random arguments: for each argument
/// |g − g*| ≤ 1e-8 · max(|g*|, 1). With steps of 1e-5 and arguments and
/// derivatives of size 1, truncation and rounding stay below 1e-9.
///
/// `ids` are the elements of the i32 arguments, one list for each.
Derivative expectDerivative(const std::string &text,
                            const std::vector<std::vector<double>> &ids = {});

} // namespace isobath::test

#endif // ISOBATH_TEST_UNIT_COMPILER_DERIVATIVES_H
