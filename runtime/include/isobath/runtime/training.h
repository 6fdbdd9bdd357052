//===- training.h - A training run from its first step to its last --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of `isobath train`. After each step, in this order: the update, its
// line in metrics.jsonl, an evaluation if the step is a multiple of eval_every,
// a checkpoint if one is due or the step is the last, and only then an
// evaluation that is due because the step is the last. So what stands before a
// checkpoint in metrics.jsonl does not depend on where a command stopped, and a
// resumed run writes what an uninterrupted one writes.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_TRAINING_H
#define ISOBATH_RUNTIME_TRAINING_H

#include "isobath/runtime/progress.h"
#include "isobath/runtime/unit.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace isobath::runtime {

struct TrainOptions {
  std::filesystem::path data;   // a folder with train_*.bin and valid_*.bin
  std::filesystem::path output; // RUN
  /// Start from these weights instead of initial values. New runs only.
  std::optional<std::filesystem::path> weights;
  /// Stop after this step; the schedule keeps the length of train.steps.
  std::optional<std::uint64_t> steps;
  /// Continue the run in `output`, or start it if there is none.
  bool resume = false;
};

struct TrainSummary {
  std::uint64_t steps = 0;               // taken since step 1
  std::optional<double> loss;            // of the last step
  std::optional<double> validationLoss;  // after the last step
  std::optional<double> tokensPerSecond; // if this process took a step
  std::uint64_t plannedBytes = 0;
  std::uint64_t parameters = 0;
  bool stopped = false; // by a signal, before the last step
};

/// Trains. Messages and the bar go to `progress`. Throws Error when anything
/// about the input or the run fails; what earlier checkpoints hold stays.
TrainSummary train(const Unit &unit, const TrainOptions &options,
                   Progress &progress);

/// {"steps", "loss", "valid_loss", "tokens_per_second", "planned_bytes", …}.
nlohmann::ordered_json toJson(const TrainSummary &summary);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_TRAINING_H
