//===- schedule.h - Learning rate, clipping and bias correction -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of one optimiser step that do not depend on the parameters, in
// double. The compiled entry `update` does the rest.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_SCHEDULE_H
#define ISOBATH_RUNTIME_SCHEDULE_H

#include "isobath/runtime/settings.h"

#include <cstdint>

namespace isobath::runtime {

/// The learning rate at step 1 … settings.steps.
double learningRate(const TrainSettings &settings, std::uint64_t step);

/// The buffer `scalars` of the entry `update`, in its order.
struct UpdateScalars {
  double learningRate;
  double gradientFactor;   // clip / norm where the norm is larger, else 1
  double firstCorrection;  // 1 − β₁ⁿ at step n
  double secondCorrection; // 1 − β₂ⁿ
};

/// `gradientNorm` is the Euclidean norm over all parameters, finite.
UpdateScalars updateScalars(const TrainSettings &settings, std::uint64_t step,
                            double gradientNorm);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_SCHEDULE_H
