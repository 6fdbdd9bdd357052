//===- run_data.h - The data that a command works on ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds and opens the shards of a data folder for one model. The order of
// samples is windows.h's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_RUN_DATA_H
#define ISOBATH_RUNTIME_RUN_DATA_H

#include "isobath/runtime/checkpoint.h"
#include "isobath/runtime/manifest.h"
#include "isobath/runtime/windows.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace isobath::runtime {

/// The data of a training run.
struct RunData {
  TrainingData train;
  std::optional<EvaluationData> validation; // absent: no valid_*.bin
  std::vector<ShardIdentity> trainShards, validationShards;
};

/// Opens the train_*.bin and valid_*.bin of a folder, with train.eval_tokens
/// and train.seed of the manifest. Throws Error if the folder's tokenizer.json
/// has another vocabulary than the model.
RunData openRunData(const std::filesystem::path &folder,
                    const Manifest &manifest);

/// Opens what a command evaluates: a shard, or the valid_*.bin of a folder.
EvaluationData openEvaluationData(const std::filesystem::path &path,
                                  const Manifest &manifest);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_RUN_DATA_H
