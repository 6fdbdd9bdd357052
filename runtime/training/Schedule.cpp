//===- Schedule.cpp - Learning rate, clipping and bias correction ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is a function of the step, so a resumed run needs no saved
// state to continue it.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/schedule.h"

#include <cassert>
#include <cmath>
#include <numbers>

namespace isobath::runtime {

double learningRate(const TrainSettings &settings, std::uint64_t step) {
  assert(step >= 1 && step <= settings.steps && "steps are counted from 1");
  const double peak = settings.learningRate;
  const double warmup = static_cast<double>(settings.warmup);
  const double position = static_cast<double>(step);
  if (step <= settings.warmup)
    return peak * position / warmup;
  const double progress =
      (position - warmup) / (static_cast<double>(settings.steps) - warmup);
  const double last = settings.finalFraction;
  switch (settings.schedule) {
  case Schedule::cosine:
    return peak * (last + (1 - last) *
                              (1 + std::cos(std::numbers::pi * progress)) / 2);
  case Schedule::linear:
    return peak * (1 - (1 - last) * progress);
  case Schedule::constant:
    return peak;
  }
  return peak;
}

UpdateScalars updateScalars(const TrainSettings &settings, std::uint64_t step,
                            double gradientNorm) {
  const double n = static_cast<double>(step);
  const bool clips = settings.clip > 0 && gradientNorm > settings.clip;
  return {learningRate(settings, step),
          clips ? settings.clip / gradientNorm : 1,
          1 - std::pow(settings.beta1, n), 1 - std::pow(settings.beta2, n)};
}

} // namespace isobath::runtime
