//===- checkpoint.h - The state of a run on disk --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a folder RUN/checkpoint-00000200 that is complete or absent:
//
//     weights.safetensors     the parameters after step 200
//     optimizer.safetensors   the moments, NAME.first_moment and
//                             NAME.second_moment
//     state.json              everything else that the next step depends on
//
// It holds no times, so equal runs have equal checkpoints. Which checkpoint a
// run continues from, and whether it may, is run_folder.h's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_CHECKPOINT_H
#define ISOBATH_RUNTIME_CHECKPOINT_H

#include "isobath/runtime/buffers.h"
#include "isobath/runtime/shard.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isobath::runtime {

/// A token shard, by its name in its folder and its contents.
struct ShardIdentity {
  std::string name;
  std::uint64_t ids = 0;
  std::string fingerprint; // of all ids, as text
  bool operator==(const ShardIdentity &) const = default;
};

/// Reads every id.
std::vector<ShardIdentity> identify(const std::vector<Shard> &shards);

/// What state.json holds.
struct RunState {
  std::uint64_t step = 0;
  std::uint64_t tokens = 0;       // trained on
  std::uint64_t metricsLines = 0; // of metrics.jsonl before the checkpoint
  std::string elementType;
  TrainSettings train;
  std::vector<ShardIdentity> trainShards, validationShards;
};

/// RUN/checkpoint-00000200.
std::filesystem::path checkpointPath(const std::filesystem::path &run,
                                     std::uint64_t step);

/// The steps of the checkpoints of a run, ascending.
std::vector<std::uint64_t> findCheckpoints(const std::filesystem::path &run);

/// Writes a complete checkpoint. Throws Error if that step has one.
void writeCheckpoint(const std::filesystem::path &run, const RunState &state,
                     const Manifest &manifest, const Buffers &buffers);

/// Reads state.json. Throws Error that names what is missing in the checkpoint
/// and how its weights can start a new run, if anything is.
RunState readCheckpointState(const std::filesystem::path &checkpoint);

/// Reads parameters and moments.
void readCheckpointTensors(const std::filesystem::path &checkpoint,
                           const Manifest &manifest, const Buffers &buffers);

/// Removes all but the `keep` newest checkpoints.
void removeOldCheckpoints(const std::filesystem::path &run, std::uint64_t keep);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_CHECKPOINT_H
