//===- RunFixture.h - Whole training runs in a temporary folder -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trains the bigram model and compares what two runs left behind.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_RUNTIME_TRAINING_RUNFIXTURE_H
#define ISOBATH_TEST_UNIT_RUNTIME_TRAINING_RUNFIXTURE_H

#include "BigramUnit.h"
#include "TestFiles.h"
#include "isobath/runtime/training.h"

#include <optional>
#include <sstream>

namespace isobath::runtime::test {

class RunFixture : public testing::Test {
protected:
  RunFixture() { putBigramData(data()); }

  std::filesystem::path data() const { return folder / "data"; }
  std::filesystem::path run(const std::string &name) const {
    return folder / name;
  }

  TrainSummary train(const std::string &name,
                     std::optional<std::uint64_t> steps = {},
                     bool resume = false) {
    TrainOptions options;
    options.data = data();
    options.output = run(name);
    options.steps = steps;
    options.resume = resume;
    return trainWith(options);
  }
  TrainSummary trainWith(const TrainOptions &options) {
    messages.str("");
    Progress progress(messages, /*terminal=*/false);
    return runtime::train(*bigram.load(), options, progress);
  }

  /// metrics.jsonl without its times.
  std::string metrics(const std::string &name) const {
    std::istringstream lines(getFile(run(name) / "metrics.jsonl"));
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      auto object = nlohmann::ordered_json::parse(line);
      object.erase("seconds");
      result += object.dump() + "\n";
    }
    return result;
  }

  /// Both runs left the same bytes, older checkpoints and times aside.
  void expectSameResult(const std::string &first, const std::string &second,
                        const std::string &lastCheckpoint) const {
    for (const std::string &file :
         {std::string("final.safetensors"), std::string("model.yaml"),
          lastCheckpoint + "/weights.safetensors",
          lastCheckpoint + "/optimizer.safetensors",
          lastCheckpoint + "/state.json"}) {
      ASSERT_TRUE(std::filesystem::exists(run(first) / file)) << file;
      EXPECT_EQ(getFile(run(first) / file), getFile(run(second) / file))
          << file;
    }
    EXPECT_EQ(metrics(first), metrics(second));
  }

  static Names namesIn(const std::filesystem::path &path) {
    Names names;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder;
  BigramUnit bigram;
  std::ostringstream messages; // of the last run
};

} // namespace isobath::runtime::test

#endif // ISOBATH_TEST_UNIT_RUNTIME_TRAINING_RUNFIXTURE_H
