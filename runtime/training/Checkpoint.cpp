//===- Checkpoint.cpp - The state of a run on disk ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint appears by renaming a finished folder. It disappears by being
// moved into a folder with a temporary name first: a kill while its files are
// removed leaves nothing that looks like a checkpoint.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/checkpoint.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "isobath/runtime/json_value.h"
#include "isobath/runtime/tensors.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

using nlohmann::ordered_json;

namespace isobath::runtime {

namespace fs = std::filesystem;

static constexpr std::string_view checkpointPrefix = "checkpoint-";
static constexpr const char *weightsName = "weights.safetensors";
static constexpr const char *optimizerName = "optimizer.safetensors";
static constexpr const char *stateName = "state.json";

std::vector<ShardIdentity> identify(const std::vector<Shard> &shards) {
  std::vector<ShardIdentity> result;
  for (const Shard &shard : shards) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(shard.fingerprint()));
    result.push_back(
        {fs::path(shard.name()).filename().string(), shard.size(), text});
  }
  return result;
}

fs::path checkpointPath(const fs::path &run, std::uint64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "checkpoint-%08llu",
                static_cast<unsigned long long>(step));
  return run / name;
}

std::vector<std::uint64_t> findCheckpoints(const fs::path &run) {
  std::vector<std::uint64_t> steps;
  for (const fs::directory_entry &entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(checkpointPrefix) || !entry.is_directory())
      continue;
    std::uint64_t step = 0;
    const char *end = name.data() + name.size();
    const auto [stop, failure] =
        std::from_chars(name.data() + checkpointPrefix.size(), end, step);
    // Only the one spelling that checkpointPath() gives, no temporary names.
    if (failure == std::errc() && stop == end &&
        checkpointPath(run, step).filename() == name)
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

//===----------------------------------------------------------------------===//
// state.json
//===----------------------------------------------------------------------===//

static ordered_json toJson(const std::vector<ShardIdentity> &shards) {
  ordered_json list = ordered_json::array();
  for (const ShardIdentity &shard : shards)
    list.push_back({{"name", shard.name},
                    {"ids", shard.ids},
                    {"fingerprint", shard.fingerprint}});
  return list;
}

static std::vector<ShardIdentity> parseShards(const JsonValue &list) {
  std::vector<ShardIdentity> shards;
  for (const JsonValue &shard : list.elements())
    shards.push_back({shard["name"].text(), shard["ids"].count(0),
                      shard["fingerprint"].text()});
  return shards;
}

static ordered_json toJson(const RunState &state) {
  return {{"format", 1},
          {"step", state.step},
          {"tokens", state.tokens},
          {"metrics_lines", state.metricsLines},
          {"element_type", state.elementType},
          {"train", toJson(state.train)},
          {"train_shards", toJson(state.trainShards)},
          {"validation_shards", toJson(state.validationShards)}};
}

RunState readCheckpointState(const fs::path &checkpoint) {
  for (const char *name : {weightsName, optimizerName, stateName})
    if (!fs::exists(checkpoint / name))
      fail(printable(checkpoint), ": given no ", name,
           ", expected one, so the run cannot be resumed; to start a new run "
           "with a fresh optimiser from given weights: --weights ",
           printable(checkpoint / weightsName), " -o NEW-RUN");
  const std::string where = printable(checkpoint / stateName);
  const ordered_json object =
      parseJson(readFile(checkpoint / stateName), where);
  const JsonValue value(object, where);
  if (value["format"].count(0) != 1)
    value["format"].fail("1, the format of this version");
  RunState state;
  state.step = value["step"].count(0);
  state.tokens = value["tokens"].count(0);
  state.metricsLines = value["metrics_lines"].count(0);
  state.elementType = value["element_type"].text();
  state.train = parseTrainSettings(value["train"]);
  state.trainShards = parseShards(value["train_shards"]);
  state.validationShards = parseShards(value["validation_shards"]);
  return state;
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Moves checkpoints out of sight, then removes them.
static void discard(const fs::path &run,
                    const std::vector<std::uint64_t> &steps) {
  if (steps.empty())
    return;
  const AtomicDirectory bin(run / "discarded"); // never published
  for (std::uint64_t step : steps) {
    const fs::path path = checkpointPath(run, step);
    std::error_code failure;
    fs::rename(path, bin.folder() / path.filename(), failure);
    if (failure)
      failSystemCall(path, "remove", failure.value());
  }
}

void writeCheckpoint(const fs::path &run, const RunState &state,
                     const Manifest &manifest, const Buffers &buffers) {
  AtomicDirectory checkpoint(checkpointPath(run, state.step));
  writeTensors(checkpoint.folder() / weightsName, manifest, buffers,
               weightTensors);
  writeTensors(checkpoint.folder() / optimizerName, manifest, buffers,
               optimizerTensors);
  writeFile(checkpoint.folder() / stateName, toJson(state).dump(1) + "\n");
  checkpoint.publish();
}

void readCheckpointTensors(const fs::path &checkpoint, const Manifest &manifest,
                           const Buffers &buffers) {
  readTensors(checkpoint / weightsName, manifest, buffers, weightTensors);
  readTensors(checkpoint / optimizerName, manifest, buffers, optimizerTensors);
}

void removeOldCheckpoints(const fs::path &run, std::uint64_t keep) {
  std::vector<std::uint64_t> steps = findCheckpoints(run);
  steps.resize(steps.size() - std::min<std::size_t>(steps.size(), keep));
  discard(run, steps);
}

} // namespace isobath::runtime
