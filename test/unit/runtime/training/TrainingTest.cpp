//===- TrainingTest.cpp - A run from its first step to its last -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a run leaves behind, and that it leaves the same when it is interrupted.
//
//===----------------------------------------------------------------------===//

#include "RunFixture.h"

#include "isobath/runtime/checkpoint.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace isobath::runtime;
using namespace isobath::runtime::test;
using nlohmann::ordered_json;

namespace {
class TrainingTest : public RunFixture {};
} // namespace

TEST_F(TrainingTest, LeavesModelMetricsCheckpointsAndWeights) {
  const TrainSummary summary = train("run", 20);
  EXPECT_EQ(namesIn(run("run")),
            (Names{"checkpoint-00000018", "checkpoint-00000020",
                   "final.safetensors", "metrics.jsonl", "model.yaml"}));
  EXPECT_EQ(
      namesIn(run("run") / "checkpoint-00000020"),
      (Names{"optimizer.safetensors", "state.json", "weights.safetensors"}));
  EXPECT_EQ(getFile(run("run") / "model.yaml"), "name: bigram\nwidth: 7\n");
  EXPECT_EQ(getFile(run("run") / "final.safetensors"),
            getFile(run("run") / "checkpoint-00000020/weights.safetensors"));
  EXPECT_EQ(summary.steps, 20u);
  EXPECT_EQ(summary.parameters, 56u);
  EXPECT_FALSE(summary.stopped);
  EXPECT_GT(summary.tokensPerSecond.value_or(0), 0);
  EXPECT_LT(summary.validationLoss.value(), 1.94) << "log 7 = 1.9459";
  EXPECT_NE(messages.str().find("bigram: device reference (by hand), 56 "
                                "parameters in f32, "),
            std::string::npos)
      << messages.str();
}

TEST_F(TrainingTest, MetricsHaveALineForEachStepAndEvaluation) {
  const TrainSummary summary = train("run", 20);
  std::istringstream lines(getFile(run("run") / "metrics.jsonl"));
  Names kinds;
  ordered_json last;
  for (std::string line; std::getline(lines, line);) {
    const auto object = ordered_json::parse(line);
    if (object.contains("valid_loss")) {
      EXPECT_EQ(object.size(), 2u);
      kinds.push_back(object["step"].dump() + "v");
      continue;
    }
    Names keys;
    for (const auto &[key, value] : object.items())
      keys.push_back(key);
    EXPECT_EQ(keys,
              (Names{"step", "loss", "lr", "grad_norm", "tokens", "seconds"}));
    kinds.push_back(object["step"].dump());
    EXPECT_EQ(object["tokens"], object["step"].get<int>() * 8);
    last = object;
  }
  EXPECT_EQ(kinds, (Names{"1",  "2",  "3",  "4",  "5",  "6",  "7",  "7v",
                          "8",  "9",  "10", "11", "12", "13", "14", "14v",
                          "15", "16", "17", "18", "19", "20", "20v"}));
  EXPECT_EQ(last["loss"].get<double>(), summary.loss);
}

// The warm-up has 12 steps. An epoch has 9 windows, 2 a step: it ends within
// steps 5, 9, 14, 18.
TEST_F(TrainingTest, ResumedRunEqualsUninterruptedRun) {
  for (const std::uint64_t first : {1, 5, 7, 9, 13, 18, 19}) {
    const std::string name = "resumed " + std::to_string(first);
    const std::string whole = "whole " + std::to_string(first);
    train(whole, 20);
    train(name, first);
    const TrainSummary summary = train(name, 20, true);
    EXPECT_EQ(summary.steps, 20u);
    expectSameResult(whole, name, "checkpoint-00000020");
  }
}

TEST_F(TrainingTest, ResumedRunEqualsUninterruptedRunWithAccumulation) {
  bigram = BigramUnit("f64");
  bigram.train()["accumulate"] = 3;
  train("whole", 20);
  train("resumed", 3);
  train("resumed", 11, true);
  train("resumed", 20, true);
  expectSameResult("whole", "resumed", "checkpoint-00000020");
}

TEST_F(TrainingTest, ResumeOfAFinishedRunEndsAtOnceWithItsResult) {
  const TrainSummary first = train("run", 20);
  const std::string before = metrics("run");
  for (const std::uint64_t steps : {20, 10}) {
    const TrainSummary second = train("run", steps, true);
    EXPECT_EQ(second.steps, 20u);
    EXPECT_EQ(second.loss, first.loss);
    EXPECT_EQ(second.validationLoss, first.validationLoss);
    EXPECT_FALSE(second.tokensPerSecond);
    EXPECT_NE(messages.str().find("nothing left to train"), std::string::npos);
    EXPECT_EQ(metrics("run"), before);
  }
}

TEST_F(TrainingTest, ResumeWithoutARunStartsOne) {
  train("whole", 10);
  train("resumed", 10, true);
  expectSameResult("whole", "resumed", "checkpoint-00000010");
}

TEST_F(TrainingTest, ResumeBeforeTheFirstCheckpointStartsAgain) {
  train("whole", 10);
  // What a kill in the third step leaves behind, half a line included.
  std::filesystem::create_directory(run("killed"));
  putFile(run("killed") / "model.yaml", bigram.load()->manifest().source.text);
  putFile(run("killed") / "metrics.jsonl", "{\"step\":1}\n{\"step\":2}\n{\"st");
  train("killed", 10, true);
  EXPECT_NE(messages.str().find("starting again at step 0"), std::string::npos);
  expectSameResult("whole", "killed", "checkpoint-00000010");
}

TEST_F(TrainingTest, LeftoversOfAKilledProcessAreRemovedOnResume) {
  train("run", 6);
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child); // its number is free now
  const auto left =
      run("run") / ("checkpoint-00000012.tmp-" + std::to_string(child) + "-0");
  std::filesystem::create_directory(left);
  putFile(left / "weights.safetensors", "half");
  train("run", 7, true);
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(TrainingTest, GivenWeightsAreTheStart) {
  train("parent", 8);
  TrainOptions options;
  options.data = data();
  options.output = run("child");
  options.weights = run("parent") / "final.safetensors";
  options.steps = 4;
  const TrainSummary whole = trainWith(options);
  const auto firstLine = [](const std::string &text) {
    return text.substr(0, text.find('\n'));
  };
  EXPECT_NE(firstLine(metrics("child")), firstLine(metrics("parent")));
  // Interrupted at step 0, with the weights gone: they are in a checkpoint.
  options.output = run("again");
  BigramUnit::onGradient = [] { throw std::runtime_error("stop"); };
  EXPECT_THROW(trainWith(options), std::runtime_error);
  BigramUnit::onGradient = nullptr;
  EXPECT_EQ(getFile(run("again") / "checkpoint-00000000/weights.safetensors"),
            getFile(run("parent") / "final.safetensors"));
  std::filesystem::remove(run("parent") / "final.safetensors");
  const TrainSummary resumed = train("again", 4, true);
  EXPECT_EQ(resumed.loss, whole.loss);
  expectSameResult("child", "again", "checkpoint-00000004");
}

TEST_F(TrainingTest, BadGradientStopsAndLeavesTheLastGoodCheckpoint) {
  int calls = 0;
  BigramUnit::onGradient = [&] {
    if (++calls == 8)
      BigramUnit::poisoned = 5;
  };
  EXPECT_EQ(messageOf([&] { train("run", 20); }),
            "step 8: given a gradient whose norm is nan, expected a finite "
            "one; the first tensor with bad values is embed.weight");
  EXPECT_EQ(namesIn(run("run")),
            (Names{"checkpoint-00000006", "metrics.jsonl", "model.yaml"}));
  BigramUnit::onGradient = nullptr;
  BigramUnit::poisoned = -1;
  train("run", 20, true);
  train("whole", 20);
  expectSameResult("whole", "run", "checkpoint-00000020");
}

TEST_F(TrainingTest, EveryEvaluationAndCheckpointMayBeTurnedOff) {
  bigram.train()["eval_every"] = 0;
  bigram.train()["checkpoint_every"] = 0;
  bigram.train()["keep"] = 1;
  const TrainSummary summary = train("run", 20);
  EXPECT_TRUE(summary.validationLoss);
  EXPECT_EQ(namesIn(run("run")),
            (Names{"checkpoint-00000020", "final.safetensors", "metrics.jsonl",
                   "model.yaml"}));
}

TEST_F(TrainingTest, WithoutValidationDataNothingIsEvaluated) {
  std::filesystem::remove(data() / "valid_000000.bin");
  const TrainSummary summary = train("run", 8);
  EXPECT_FALSE(summary.validationLoss);
  EXPECT_EQ(toJson(summary)["valid_loss"], nullptr);
  EXPECT_NE(messages.str().find("no valid_*.bin"), std::string::npos);
}

TEST_F(TrainingTest, StepsBeyondTheScheduleAreRefused) {
  EXPECT_EQ(messageOf([&] { train("run", 41); }),
            "--steps: given 41, expected at most train.steps = 40, where the "
            "learning rate's schedule ends");
  EXPECT_FALSE(std::filesystem::exists(run("run")));
}

// Kills at random instants: whatever the process was writing, a later process
// continues to the same result.
TEST_F(TrainingTest, TwentyKillsLoseNothing) {
  bigram.train()["steps"] = 400;
  bigram.train()["checkpoint_every"] = 3;
  constexpr std::uint64_t steps = 120;
  train("whole", steps);
  std::uint32_t random = 12345;
  std::uint64_t reached = 0;
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        train("killed", steps, true);
        ::_exit(0);
      } catch (const std::exception &failure) {
        ::_exit(1);
      }
    }
    random = random * 1664525 + 1013904223;
    ::usleep(random >> 16); // up to 65 ms
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    if (!std::filesystem::exists(run("killed")))
      continue;
    // No checkpoint is lost or half there.
    const auto checkpoints = findCheckpoints(run("killed"));
    if (checkpoints.empty()) {
      EXPECT_EQ(reached, 0u);
      continue;
    }
    EXPECT_GE(checkpoints.back(), reached);
    reached = checkpoints.back();
    for (const std::uint64_t step : checkpoints)
      EXPECT_EQ(namesIn(checkpointPath(run("killed"), step)),
                (Names{"optimizer.safetensors", "state.json",
                       "weights.safetensors"}));
  }
  train("killed", steps, true);
  expectSameResult("whole", "killed", "checkpoint-00000120");
  EXPECT_EQ(namesIn(run("killed")), namesIn(run("whole")));
}
