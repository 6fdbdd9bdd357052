//===- RunData.cpp - The data that a command works on ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder without tokenizer.json is taken as it is: shards come from other
// tools as well, and every id is checked against the vocabulary anyway.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/run_data.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/json_value.h"

#include <algorithm>

namespace isobath::runtime {

namespace fs = std::filesystem;

static void checkTokenizer(const fs::path &folder, const Manifest &manifest) {
  const fs::path path = folder / "tokenizer.json";
  if (!fs::exists(path))
    return;
  const std::string where = printable(path);
  const auto object = parseJson(readFile(path), where);
  const JsonValue tokenizer(object, where);
  if (tokenizer["vocabulary"].count(1) != manifest.vocabulary)
    tokenizer["vocabulary"].fail(concat(manifest.vocabulary,
                                        ", the vocabulary of the model ",
                                        printable(manifest.name)));
}

static bool hasValidationShards(const fs::path &folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry &entry) {
                       const fs::path name = entry.path().filename();
                       return name.extension() == ".bin" &&
                              name.native().starts_with("valid_");
                     });
}

RunData openRunData(const fs::path &folder, const Manifest &manifest) {
  // findShards() says it when the folder is none.
  std::vector<Shard> train =
      openShards(findShards(folder, "train"), manifest.vocabulary);
  checkTokenizer(folder, manifest);
  std::vector<Shard> valid;
  if (hasValidationShards(folder))
    valid = openShards(findShards(folder, "valid"), manifest.vocabulary);
  std::vector<ShardIdentity> trainShards = identify(train);
  std::vector<ShardIdentity> validationShards = identify(valid);
  std::optional<EvaluationData> validation;
  if (!valid.empty())
    validation.emplace(std::move(valid), manifest.context,
                       manifest.train.evalTokens);
  return {TrainingData(std::move(train), manifest.context, manifest.train.seed),
          std::move(validation), std::move(trainShards),
          std::move(validationShards)};
}

EvaluationData openEvaluationData(const fs::path &path,
                                  const Manifest &manifest) {
  const std::vector<fs::path> files = findEvaluationShards(path);
  if (fs::is_directory(path))
    checkTokenizer(path, manifest);
  return EvaluationData(openShards(files, manifest.vocabulary),
                        manifest.context);
}

} // namespace isobath::runtime
