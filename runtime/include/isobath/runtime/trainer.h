//===- trainer.h - One optimiser step -------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the entries gradient, accumulate, norm and update in their order. Where
// batches come from, when to evaluate and what to save are training.h's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_TRAINER_H
#define ISOBATH_RUNTIME_TRAINER_H

#include "isobath/runtime/buffers.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace isobath::runtime {

/// Fills a micro-batch: row b is sample number firstSample + b.
using FillBatch = std::function<void(std::uint64_t firstSample,
                                     std::span<std::int32_t> tokens,    // [B,T]
                                     std::span<std::int32_t> targets)>; // [B,T]

/// What a step did.
struct StepResult {
  double loss = 0; // mean over the targets that count; 0 if none does
  double learningRate = 0;
  double gradientNorm = 0;   // before clipping
  std::uint64_t counted = 0; // targets that count, in all micro-steps
};

class Trainer {
public:
  /// Plans the buffers of the training entries. The unit and the buffers
  /// outlive the trainer.
  Trainer(const Unit &unit, Buffers &buffers);

  /// Takes step number 1 … settings.steps. A step in which no target counts
  /// leaves parameters and moments as they are. Throws Error, before the
  /// update, when the gradient's norm is not finite; the message names the
  /// first bad tensor.
  StepResult step(std::uint64_t step, const FillBatch &fill);

private:
  /// Fills micro-step `micro` of `step`; returns how many targets count.
  std::uint64_t fillMicroStep(std::uint64_t step, std::uint64_t micro,
                              const FillBatch &fill);
  /// The gradient of the mean loss, in the buffer `total`; returns that loss.
  double computeGradient(std::uint64_t step, std::uint64_t counted,
                         const FillBatch &fill);
  double computeNorm(std::uint64_t step);
  void update(std::uint64_t step, double gradientNorm);

  const Unit &unit;
  Buffers &buffers;
  Buffers::Call firstGradient; // into `total`
  std::optional<Buffers::Call> furtherGradient, accumulate;
  Buffers::Call norm, updateParameters;
};

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_TRAINER_H
