//===- Trainer.cpp - One optimiser step -----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first micro-step writes its gradient straight into `total`; further ones
// write into `gradients` and are added in their order. Without accumulation
// there is one gradient buffer.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/trainer.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/evaluate.h"
#include "isobath/runtime/schedule.h"
#include "isobath/runtime/tensors.h"
#include "isobath/runtime/windows.h"

#include <cmath>

namespace isobath::runtime {

Trainer::Trainer(const Unit &unit, Buffers &buffers)
    : unit(unit), buffers(buffers),
      firstGradient(
          buffers.plan(unit.entry("gradient"), {{"gradients", "total"}})),
      norm(buffers.plan(unit.entry("norm"), {{"gradients", "total"}})),
      updateParameters(
          buffers.plan(unit.entry("update"), {{"gradients", "total"}})) {
  if (unit.manifest().train.accumulate > 1) {
    furtherGradient = buffers.plan(unit.entry("gradient"));
    accumulate = buffers.plan(unit.entry("accumulate"));
  }
}

std::uint64_t Trainer::fillMicroStep(std::uint64_t step, std::uint64_t micro,
                                     const FillBatch &fill) {
  const std::uint64_t batch = firstGradient.signature().batch;
  const std::uint64_t positions = batch * unit.manifest().context;
  const std::uint64_t sample =
      ((step - 1) * unit.manifest().train.accumulate + micro) * batch;
  auto targets = buffers.write<std::int32_t>("targets").first(positions);
  fill(sample, buffers.write<std::int32_t>("tokens").first(positions), targets);
  std::uint64_t counted = 0;
  for (std::int32_t target : targets)
    counted += target != ignoredTarget;
  return counted;
}

/// Writes into a buffer of the model's element type.
static void writeReals(const Unit &unit, const Buffers &buffers,
                       std::string_view name,
                       std::initializer_list<double> values) {
  withElementType(unit.manifest().elementType, [&](auto zero) {
    using Real = decltype(zero);
    Real *target = buffers.write<Real>(name).data();
    for (double value : values)
      *target++ = static_cast<Real>(value);
  });
}

double Trainer::computeGradient(std::uint64_t step, std::uint64_t counted,
                                const FillBatch &fill) {
  const double scale = 1 / static_cast<double>(counted);
  writeReals(unit, buffers, "scale", {scale});
  double sum = 0;
  for (std::uint64_t m = 0; m < unit.manifest().train.accumulate; ++m) {
    fillMicroStep(step, m, fill);
    if (m == 0) {
      firstGradient.run();
    } else {
      furtherGradient->run();
      accumulate->run();
    }
    sum += sumLosses(unit, buffers, firstGradient.signature().batch);
  }
  return sum / static_cast<double>(counted);
}

double Trainer::computeNorm(std::uint64_t step) {
  norm.run();
  const double length = std::sqrt(buffers.read<double>("norm")[0]);
  if (std::isfinite(length))
    return length;
  const auto bad = firstNonFinite(unit.manifest(), buffers, "total");
  fail("step ", step, ": given a gradient whose norm is ",
       std::isnan(length) ? "nan" : "infinite", ", expected a finite one; ",
       bad ? "the first tensor with bad values is " + *bad
           : "every value is finite, the sum of their squares is not");
}

void Trainer::update(std::uint64_t step, double gradientNorm) {
  const UpdateScalars scalars =
      updateScalars(unit.manifest().train, step, gradientNorm);
  writeReals(unit, buffers, "scalars",
             {scalars.learningRate, scalars.gradientFactor,
              scalars.firstCorrection, scalars.secondCorrection});
  updateParameters.run();
}

StepResult Trainer::step(std::uint64_t step, const FillBatch &fill) {
  StepResult result;
  result.learningRate = learningRate(unit.manifest().train, step);
  // The scale of every micro-step depends on the targets of all of them.
  for (std::uint64_t m = 0; m < unit.manifest().train.accumulate; ++m)
    result.counted += fillMicroStep(step, m, fill);
  if (result.counted == 0)
    return result;
  result.loss = computeGradient(step, result.counted, fill);
  result.gradientNorm = computeNorm(step);
  update(step, result.gradientNorm);
  return result;
}

} // namespace isobath::runtime
