//===- settings.h - The settings of a training run ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The section `train` of a model description as the runtime uses it. The
// defaults stand in the compiler's front end, not here: a manifest states every
// key.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_SETTINGS_H
#define ISOBATH_RUNTIME_SETTINGS_H

#include "isobath/runtime/json_value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace isobath::runtime {

/// The learning rate after the warm-up.
enum class Schedule { cosine, linear, constant };

struct TrainSettings {
  std::string precision;   // "f32", "f64" or "bf16": fixed when compiled
  std::uint64_t batch = 0; // sequences in one micro-step: fixed when compiled
  std::uint64_t accumulate = 0;
  std::uint64_t steps = 0;
  double learningRate = 0;
  std::uint64_t warmup = 0;
  Schedule schedule = Schedule::cosine;
  double finalFraction = 0;
  double weightDecay = 0;
  double beta1 = 0;
  double beta2 = 0;
  double adamEpsilon = 0;
  double clip = 0;
  std::uint64_t seed = 0;
  std::uint64_t evalEvery = 0;
  std::uint64_t evalTokens = 0;
  std::uint64_t checkpointEvery = 0;
  std::uint64_t keep = 0;
};

/// Reads the object `train` of a manifest or of a checkpoint.
TrainSettings parseTrainSettings(const JsonValue &train);

/// The same object again, its keys in the order of the description.
nlohmann::ordered_json toJson(const TrainSettings &settings);

/// Applies `key=value` texts to settings that a finished unit can still take.
/// Throws Error for an unknown key, for an impossible value, and for keys that
/// were fixed when the unit was compiled.
TrainSettings applyOverrides(const TrainSettings &settings,
                             const std::vector<std::string> &overrides);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_SETTINGS_H
