//===- RunFolder.cpp - The folder of a training run -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file with the model is written last when a run begins. A folder without
// it, which a kill in that moment leaves, is begun again.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/run_folder.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "isobath/runtime/json_value.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

namespace isobath::runtime {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Comparing a run with what a command asks for
//===----------------------------------------------------------------------===//

static constexpr std::string_view asBegun = " as when the run began";

/// Takes the first line off a text.
static std::string_view takeLine(std::string_view &text) {
  const std::size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size()
                                                       : newline + 1);
  return line;
}

/// The part of `line` around `place`, fit for a message.
static std::string excerpt(std::string_view line, std::size_t place) {
  constexpr std::size_t before = 60, after = 100;
  const std::size_t begin = place > before ? place - before : 0;
  const std::string_view part = line.substr(begin, before + after);
  return concat(begin ? "..." : "", printable(part),
                begin + part.size() < line.size() ? "..." : "");
}

static void checkSameModel(const fs::path &path, std::string_view saved,
                           std::string_view current) {
  for (int number = 1; !saved.empty() || !current.empty(); ++number) {
    const std::string_view before = takeLine(saved);
    const std::string_view now = takeLine(current);
    if (before == now)
      continue;
    const auto place = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), now.begin(), now.end())
            .first -
        before.begin());
    fail(printable(path), ": line ", number, ": given '", excerpt(now, place),
         "', expected '", excerpt(before, place), "'", asBegun);
  }
}

static void checkSameShards(std::string_view kind,
                            const std::vector<ShardIdentity> &saved,
                            const std::vector<ShardIdentity> &current) {
  if (saved.size() != current.size())
    fail("data: given ", current.size(), " ", kind, " shards, expected ",
         saved.size(), asBegun);
  const auto describe = [](const ShardIdentity &shard) {
    return concat(printable(shard.name), " with ", shard.ids,
                  " ids and fingerprint ", printable(shard.fingerprint));
  };
  for (std::size_t i = 0; i < saved.size(); ++i)
    if (saved[i] != current[i])
      fail("data: given ", describe(current[i]), ", expected ",
           describe(saved[i]), asBegun);
}

void checkSameRun(const RunState &saved, const RunState &current) {
  if (saved.elementType != current.elementType)
    fail("element type: given ", current.elementType, ", expected ",
         printable(saved.elementType), asBegun);
  const auto before = toJson(saved.train);
  const auto now = toJson(current.train);
  for (const auto &[key, value] : before.items())
    if (value != now[key])
      fail("train.", key, ": given ", now[key].dump(), ", expected ",
           value.dump(), asBegun);
  checkSameShards("train", saved.trainShards, current.trainShards);
  checkSameShards("validation", saved.validationShards,
                  current.validationShards);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

static fs::path modelPath(const fs::path &folder, const std::string &format) {
  return folder / ("model." + format);
}

/// Something in the folder that a run's beginning, cut short, would not leave.
static std::optional<fs::path> fileOfNoBeginning(const fs::path &folder) {
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    fs::path name = entry.path().filename();
    if (name != checkpointPath(folder, 0).filename() &&
        name.native().find(".tmp-") == std::string::npos)
      return name;
  }
  return std::nullopt;
}

RunFolder::RunFolder(const fs::path &path, const Manifest &manifest,
                     bool resume)
    : folder(path) {
  if (!fs::exists(folder))
    return;
  if (!fs::is_directory(folder))
    fail(printable(folder), ": given a file, expected a run's folder; weights "
                            "start a new run with --weights FILE -o NEW-RUN");
  if (fs::is_empty(folder))
    return;
  if (!resume)
    fail(printable(folder), ": given a folder that exists, expected a new "
                            "one; --resume continues the run in it");
  lock.take(folder);
  removeAbandoned(folder);
  const fs::path model = modelPath(folder, manifest.source.format);
  const auto last = lastCheckpoint();
  if (fs::exists(model)) {
    fresh = false;
    if (!last && fs::exists(final()))
      fail(printable(folder),
           ": given final.safetensors but no checkpoint, "
           "so the optimiser's state is missing; to start a new run from the "
           "weights: --weights ",
           printable(final()), " -o NEW-RUN");
    checkSameModel(model, readFile(model), manifest.source.text);
  } else if (const auto other = fileOfNoBeginning(folder)) {
    fail(printable(folder), ": given no ", model.filename().string(),
         " beside ", printable(*other), ", expected a run's folder");
  }
}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void FolderLock::take(const fs::path &folder) {
  if (descriptor >= 0)
    return;
  descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    failSystemCall(folder, "open", errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return;
  // Some network file systems have no locks; a run there goes unguarded.
  if (errno == EWOULDBLOCK)
    fail(printable(folder), ": given a run that another process trains, "
                            "expected one that is at rest");
}

std::optional<std::uint64_t> RunFolder::lastCheckpoint() const {
  if (!fs::exists(folder))
    return std::nullopt;
  const std::vector<std::uint64_t> steps = findCheckpoints(folder);
  return steps.empty() ? std::nullopt : std::optional(steps.back());
}

void RunFolder::begin(const Manifest &manifest,
                      const std::function<void()> &fill) {
  std::error_code failure;
  fs::create_directory(folder, failure);
  if (failure)
    failSystemCall(folder, "create", failure.value());
  lock.take(folder);
  removeOldCheckpoints(folder, 0); // of a command killed at this point
  fill();
  writeFile(modelPath(folder, manifest.source.format), manifest.source.text);
  fresh = false;
}

} // namespace isobath::runtime
