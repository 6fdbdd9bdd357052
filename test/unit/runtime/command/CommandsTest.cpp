//===- CommandsTest.cpp - The verbs of the command line -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A whole training binary in this process: arguments in, exit status and output
// out. Signals are tried in child processes.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/commands.h"

#include "BigramUnit.h"
#include "TestFiles.h"
#include "isobath/runtime/checkpoint.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace isobath::runtime;
using namespace isobath::runtime::test;
using nlohmann::ordered_json;

namespace {

struct Outcome {
  int status = 0;
  std::string output, errors;
};

/// A source that takes a MODEL argument and is stopped while it compiles.
class SlowSource : public LinkedProgramSource {
public:
  using LinkedProgramSource::LinkedProgramSource;
  void addOptions(CLI::App &command) override {
    command.add_option("MODEL", model, "The model")->required();
  }
  std::shared_ptr<Unit> load(const ProgramRequest &request) override {
    ::raise(SIGTERM);
    return LinkedProgramSource::load(request);
  }
  std::string model;
};

class CommandsTest : public testing::Test {
protected:
  CommandsTest() { putBigramData(folder / "data"); }

  int runHere(const std::vector<std::string> &arguments) {
    LinkedProgramSource source(bigram.unit());
    CLI::App application("A bigram model");
    addModelCommands(application, source);
    addPrepareCommand(application);
    std::vector<const char *> pointers = {"bigram"};
    for (const std::string &argument : arguments)
      pointers.push_back(argument.c_str());
    return runApplication(application, static_cast<int>(pointers.size()),
                          pointers.data());
  }
  Outcome run(const std::vector<std::string> &arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.status = runHere(arguments);
    outcome.output = testing::internal::GetCapturedStdout();
    outcome.errors = testing::internal::GetCapturedStderr();
    return outcome;
  }
  /// The status of a child that runs the arguments, as a shell shows it.
  int statusOfChild(const std::function<int()> &action) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(action());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string path(const std::string &name) { return folder / name; }
  std::vector<std::string> train(const std::string &name) {
    return {"train", "--data", path("data"), "-o", path(name)};
  }

  TemporaryFolder folder;
  BigramUnit bigram;
};

std::vector<std::string> operator+(std::vector<std::string> first,
                                   const std::vector<std::string> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

} // namespace

TEST_F(CommandsTest, TrainPrintsOneJsonObject) {
  const Outcome outcome = run(train("run") + Names{"--steps", "8", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["steps"], 8);
  EXPECT_TRUE(object["loss"].is_number_float());
  EXPECT_TRUE(object["valid_loss"].is_number_float());
  EXPECT_TRUE(object["tokens_per_second"].is_number_float());
  EXPECT_GT(object["planned_bytes"], 0);
  EXPECT_NE(outcome.errors.find("bytes planned"), std::string::npos);
}

TEST_F(CommandsTest, TrainPrintsASummaryForPeople) {
  const Outcome outcome = run(train("run") + Names{"--steps", "8"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find("finished after 8 steps\ntraining loss"), 0u)
      << outcome.output;
  EXPECT_NE(outcome.output.find("final.safetensors\n"), std::string::npos);
}

TEST_F(CommandsTest, SetAndSeedChangeTheSettings) {
  const Outcome outcome =
      run(train("run") + Names{"--set", "steps=14", "--set", "warmup=3",
                               "--seed", "5", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(ordered_json::parse(outcome.output)["steps"], 14);
  const auto state = ordered_json::parse(
      getFile(folder / "run/checkpoint-00000014/state.json"));
  EXPECT_EQ(state["train"]["warmup"], 3);
  EXPECT_EQ(state["train"]["seed"], 5);
  const Outcome refused = run(train("other") + Names{"--set", "batch=4"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.errors.find("error: --set: given batch, which was fixed"),
            0u)
      << refused.errors;
}

TEST_F(CommandsTest, InitWritesWhatTrainStartsFrom) {
  ASSERT_EQ(run({"init", "--seed", "3", "-o", path("w")}).status, 0);
  // Zero-length training: with a learning rate of 0 nothing moves.
  ASSERT_EQ(run(train("run") + Names{"--seed", "3", "--steps", "1", "--set",
                                     "learning_rate=0"})
                .status,
            0);
  EXPECT_EQ(getFile(folder / "w"), getFile(folder / "run/final.safetensors"));
  ASSERT_EQ(run({"init", "-o", path("default")}).status, 0);
  EXPECT_NE(getFile(folder / "w"), getFile(folder / "default"));
}

TEST_F(CommandsTest, EvalGradAndRoutesPrintTheDocumentedJson) {
  ASSERT_EQ(run({"init", "-o", path("w")}).status, 0);
  const std::string shard = path("data/train_000000.bin");
  Outcome outcome =
      run({"eval", "--weights", path("w"), "--data", path("data"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  auto object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["tokens"], 18);
  EXPECT_NEAR(object["perplexity"], 7, 0.3);
  outcome = run({"grad", "--weights", path("w"), "--data", shard, "--batch",
                 "2", "-o", path("g"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["tokens"], 8);
  EXPECT_NEAR(object["loss"], 1.9459, 0.05);
  outcome =
      run({"routes", "--weights", path("w"), "--data", path("data"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["sites"].size(), 3u);
  EXPECT_EQ(object["js"].size(), 1u);
}

TEST_F(CommandsTest, GradOfAnotherBatchIsRefusedByALinkedProgram) {
  const Outcome outcome = run({"grad", "--weights", path("w"), "--data",
                               path("s"), "--batch", "4", "-o", path("g")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.errors, "error: --batch: given 4, expected 2, for which "
                            "this program was compiled\n");
}

TEST_F(CommandsTest, InfoListsEntriesAndSettings) {
  const Outcome outcome = run({"info", "--json"});
  ASSERT_EQ(outcome.status, 0);
  const auto object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["name"], "bigram");
  EXPECT_EQ(object["parameters"], 56);
  EXPECT_EQ(object["entries"][3]["batch"], nullptr);
  EXPECT_EQ(object["entries"][3]["planned_bytes"], 384);
  EXPECT_EQ(object["train"]["warmup"], 12);
  const Outcome text = run({"info"});
  EXPECT_EQ(text.output.find("model       bigram\n"), 0u);
}

TEST_F(CommandsTest, PrepareMakesData) {
  putFile(folder / "a.txt", std::string(100, 'a'));
  putFile(folder / "b.txt", std::string(50, 'b'));
  const Outcome outcome = run({"prepare", path("a.txt"), path("b.txt"), "-o",
                               path("prepared"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto object = ordered_json::parse(outcome.output);
  EXPECT_EQ(object["train"][0]["ids"], 135);
  EXPECT_EQ(object["valid"][0]["ids"], 15);
  EXPECT_EQ(object["vocabulary"], 256);
}

TEST_F(CommandsTest, WrongUsageIsStatus2AndOneLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"fly"},
      {"train"},
      {"train", "--data", "d"},
      {"eval", "--weights", "w", "--data", "d", "--what"},
      train("run") + Names{"--steps", "0"},
      train("run") + Names{"--steps", "-1"},
      train("run") + Names{"--steps", "many"},
      train("run") + Names{"--set"},
      train("run") + Names{"--seed", "1.5"},
      train("run") + Names{"extra"}};
  for (const auto &arguments : wrong) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors.find("error: "), 0u);
    EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1);
  }
}

TEST_F(CommandsTest, UnknownVerbListsTheKnownOnes) {
  EXPECT_EQ(run({"fly"}).errors,
            "error: command: given fly, expected one of train, eval, grad, "
            "routes, init, info, prepare\n");
}

TEST_F(CommandsTest, FailuresAreStatus1AndOneLine) {
  const Outcome outcome =
      run({"train", "--data", path("nowhere"), "-o", path("run"), "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors.find("error: "), 0u) << outcome.errors;
  EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1);
}

TEST_F(CommandsTest, HelpIsStatus0) {
  for (const char *verb :
       {"train", "eval", "grad", "routes", "init", "info", "prepare"}) {
    const Outcome outcome = run({verb, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("--json"), std::string::npos) << verb;
    EXPECT_EQ(outcome.errors, "");
  }
}

TEST_F(CommandsTest, SignalSavesTheRunAndEndsWithStatus0) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string name = "run " + std::to_string(signal);
    int steps = 0;
    BigramUnit::onGradient = [&] {
      if (++steps == 4)
        ::raise(signal);
    };
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(statusOfChild([&] { return runHere(train(name)); }), 0);
    const std::string errors = testing::internal::GetCapturedStderr();
    const std::string output = testing::internal::GetCapturedStdout();
    EXPECT_EQ(output.find("stopped after 4 steps\n"), 0u) << output;
    EXPECT_NE(errors.find(signal == SIGINT ? "stopped by SIGINT after step 4"
                                           : "stopped by SIGTERM after step "
                                             "4"),
              std::string::npos)
        << errors;
    EXPECT_NE(errors.find("--resume"), std::string::npos);
    EXPECT_EQ(findCheckpoints(path(name)), (std::vector<std::uint64_t>{4}));
    EXPECT_FALSE(std::filesystem::exists(path(name) + "/final.safetensors"));
    // It continues as if nothing had happened.
    BigramUnit::onGradient = nullptr;
    ASSERT_EQ(run(train(name) + Names{"--resume"}).status, 0);
    ASSERT_EQ(run(train("whole " + name)).status, 0);
    EXPECT_EQ(getFile(path(name) + "/final.safetensors"),
              getFile(path("whole " + name) + "/final.safetensors"));
  }
}

TEST_F(CommandsTest, SecondSignalEndsAtOnce) {
  BigramUnit::onGradient = [] {
    ::raise(SIGTERM);
    ::raise(SIGINT);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(statusOfChild([&] { return runHere(train("run")); }), 130);
  testing::internal::GetCapturedStderr();
}

TEST_F(CommandsTest, SignalBeforeAnythingIsSavedEndsAtOnce) {
  EXPECT_EQ(statusOfChild([&] {
              SlowSource source(bigram.unit());
              CLI::App application;
              addModelCommands(application, source);
              const std::string data = path("data"), output = path("run");
              const char *arguments[] = {
                  "isobath",    "train", "model.yaml",  "--data",
                  data.c_str(), "-o",    output.c_str()};
              return runApplication(application, 7, arguments);
            }),
            143);
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}
