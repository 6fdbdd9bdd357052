//===- run_folder.h - The folder of a training run ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     model.yaml or model.mlir     the model, as given to the first command
//     metrics.jsonl                a line a step
//     checkpoint-00000200 …        where the run can be continued
//     final.safetensors            the weights after the last step
//
// Here it is decided whether a command may start or continue a run in a folder.
// The folder is locked while it is open: two processes never train in one.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_RUN_FOLDER_H
#define ISOBATH_RUNTIME_RUN_FOLDER_H

#include "isobath/runtime/checkpoint.h"
#include "isobath/runtime/manifest.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace isobath::runtime {

/// Keeps other processes out of a folder for as long as it lives.
class FolderLock {
public:
  FolderLock() = default;
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  /// Throws Error if another process holds the lock. Does nothing if this
  /// object holds it.
  void take(const std::filesystem::path &folder);

private:
  int descriptor = -1;
};

class RunFolder {
public:
  /// Looks at the folder and changes nothing but what a killed process left
  /// behind. Throws Error if a run is there and `resume` is false, if it
  /// belongs to another model, or if another process trains in it.
  RunFolder(const std::filesystem::path &path, const Manifest &manifest,
            bool resume);
  const std::filesystem::path &path() const { return folder; }
  std::filesystem::path metrics() const { return folder / "metrics.jsonl"; }
  std::filesystem::path final() const { return folder / "final.safetensors"; }

  /// Whether no run has begun here.
  bool isNew() const { return fresh; }
  /// The newest checkpoint, if there is one.
  std::optional<std::uint64_t> lastCheckpoint() const;

  /// Begins a new run: makes the folder, calls `fill` (which may add a
  /// checkpoint), and writes the model last, which is what makes it a run.
  void begin(const Manifest &manifest, const std::function<void()> &fill);

private:
  std::filesystem::path folder;
  bool fresh = true;
  FolderLock lock;
};

/// Throws Error that shows both values when the run that `saved` belongs to is
/// not the one that `current` describes: other settings, element type or data.
void checkSameRun(const RunState &saved, const RunState &current);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_RUN_FOLDER_H
