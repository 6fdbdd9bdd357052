//===- RefusalTest.cpp - Runs that may not be started or resumed ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each refusal shows the value given and the value expected, and leaves the
// run as it was.
//
//===----------------------------------------------------------------------===//

#include "RunFixture.h"

#include "isobath/runtime/shard.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
class RefusalTest : public RunFixture {
protected:
  std::string resumeError(std::uint64_t steps = 20) {
    return messageOf([&] { train("run", steps, true); });
  }
  std::string where(const std::string &rest) const {
    return run("run").string() + rest;
  }
};
} // namespace

TEST_F(RefusalTest, ExistingRunNeedsResume) {
  train("run", 6);
  const std::string before = getFile(run("run") / "metrics.jsonl");
  EXPECT_EQ(messageOf([&] { train("run", 6); }),
            where(": given a folder that exists, expected a new one; --resume "
                  "continues the run in it"));
  EXPECT_EQ(getFile(run("run") / "metrics.jsonl"), before);
}

TEST_F(RefusalTest, EmptyFolderIsNoRun) {
  std::filesystem::create_directory(run("run"));
  EXPECT_EQ(train("run", 6).steps, 6u);
}

TEST_F(RefusalTest, ChangedModelShowsBothLines) {
  train("run", 6);
  bigram.manifest["source"]["text"] = "name: bigram\nwidth: 8\n";
  EXPECT_EQ(resumeError(), where("/model.yaml: line 2: given 'width: 8', "
                                 "expected 'width: 7' as when the run began"));
  bigram.manifest["source"]["text"] = "name: bigram\nwidth: 7\nlayers: 1\n";
  EXPECT_EQ(resumeError(), where("/model.yaml: line 3: given 'layers: 1', "
                                 "expected '' as when the run began"));
}

TEST_F(RefusalTest, ChangedSettingsShowBothValues) {
  train("run", 6);
  bigram.train()["seed"] = 2;
  EXPECT_EQ(resumeError(),
            "train.seed: given 2, expected 1 as when the run began");
  bigram.train()["seed"] = 1;
  bigram.train()["accumulate"] = 2;
  EXPECT_EQ(resumeError(),
            "train.accumulate: given 2, expected 1 as when the run began");
}

TEST_F(RefusalTest, ChangedElementTypeShowsBothValues) {
  train("run", 6);
  bigram = BigramUnit("f64");
  bigram.train()["precision"] = "f32";
  EXPECT_EQ(resumeError(),
            "element type: given f64, expected f32 as when the run began");
}

TEST_F(RefusalTest, ChangedDataShowsBothValues) {
  train("run", 6);
  const std::string shard = getFile(data() / "train_000001.bin");
  std::string changed = shard;
  char &id = changed[1024 + 6]; // of 16 bits; it stays in the vocabulary
  id = static_cast<char>((id + 1) % BigramUnit::vocabulary);
  putFile(data() / "train_000001.bin", changed);
  const std::string message = resumeError();
  EXPECT_EQ(message.find("data: given train_000001.bin with 17 ids and "
                         "fingerprint "),
            0u)
      << message;
  EXPECT_NE(message.find(", expected train_000001.bin with 17 ids and "
                         "fingerprint "),
            std::string::npos)
      << message;
  std::filesystem::remove(data() / "train_000001.bin");
  EXPECT_EQ(resumeError(), "data: given 1 train shards, expected 2 as when "
                           "the run began");
  putFile(data() / "train_000001.bin", shard);
  std::filesystem::remove(data() / "valid_000000.bin");
  EXPECT_EQ(resumeError(), "data: given 0 validation shards, expected 1 as "
                           "when the run began");
}

TEST_F(RefusalTest, MissingOptimizerSaysWhatHelps) {
  train("run", 6);
  std::filesystem::remove(run("run") /
                          "checkpoint-00000006/optimizer.safetensors");
  EXPECT_EQ(resumeError(),
            where("/checkpoint-00000006: given no optimizer.safetensors, "
                  "expected one, so the run cannot be resumed; to start a new "
                  "run with a fresh optimiser from given weights: --weights ") +
                where("/checkpoint-00000006/weights.safetensors -o NEW-RUN"));
}

TEST_F(RefusalTest, FinalWeightsAreNoCheckpoint) {
  train("run", 6);
  std::filesystem::remove_all(run("run") / "checkpoint-00000006");
  EXPECT_EQ(resumeError(),
            where(": given final.safetensors but no checkpoint, so the "
                  "optimiser's state is missing; to start a new run from the "
                  "weights: --weights ") +
                where("/final.safetensors -o NEW-RUN"));
}

TEST_F(RefusalTest, AFileIsNoRun) {
  putFile(run("run"), "text");
  EXPECT_EQ(resumeError(),
            where(": given a file, expected a run's folder; weights start a "
                  "new run with --weights FILE -o NEW-RUN"));
}

TEST_F(RefusalTest, MissingModelIsNotGuessed) {
  train("run", 6);
  std::filesystem::remove(run("run") / "model.yaml");
  std::filesystem::remove(run("run") / "metrics.jsonl");
  std::filesystem::remove(run("run") / "final.safetensors");
  EXPECT_EQ(resumeError(), where(": given no model.yaml beside "
                                 "checkpoint-00000006, expected a run's "
                                 "folder"));
}

TEST_F(RefusalTest, OtherFoldersAreNoRuns) {
  std::filesystem::create_directory(run("run"));
  putFile(run("run") / "letter.txt", "dear reader");
  EXPECT_EQ(resumeError(), where(": given no model.yaml beside letter.txt, "
                                 "expected a run's folder"));
}

TEST_F(RefusalTest, BeginningCutShortIsBegunAgain) {
  std::filesystem::create_directories(run("run") / "checkpoint-00000000");
  putFile(run("run") / "model.yaml.tmp-1-0", "half");
  EXPECT_EQ(train("run", 6, true).steps, 6u);
  EXPECT_FALSE(std::filesystem::exists(run("run") / "checkpoint-00000000"));
}

TEST_F(RefusalTest, WeightsAreForNewRuns) {
  train("run", 6);
  TrainOptions options;
  options.data = data();
  options.output = run("run");
  options.weights = run("run") / "final.safetensors";
  options.resume = true;
  EXPECT_EQ(messageOf([&] { trainWith(options); }),
            "--weights: given " + where("/final.safetensors") +
                " for the run that is in " + where("") +
                " already, expected a new one");
}

TEST_F(RefusalTest, BadWeightsLeaveNoRun) {
  putFile(run("weights"), "no safetensors");
  TrainOptions options;
  options.data = data();
  options.output = run("run");
  options.weights = run("weights");
  EXPECT_NE(messageOf([&] { trainWith(options); }), "no error");
  EXPECT_FALSE(std::filesystem::exists(run("run")));
}

TEST_F(RefusalTest, CutMetricsAreNoticed) {
  train("run", 6);
  putFile(run("run") / "metrics.jsonl", "");
  EXPECT_EQ(resumeError(),
            where("/metrics.jsonl: given 0 lines, expected at least the 6 "
                  "lines before the checkpoint"));
}

TEST_F(RefusalTest, DamagedStateNamesTheKey) {
  train("run", 6);
  putFile(run("run") / "checkpoint-00000006/state.json", "{\"format\": 2}");
  EXPECT_EQ(resumeError(),
            where("/checkpoint-00000006/state.json.format: given 2, expected "
                  "1, the format of this version"));
}

TEST_F(RefusalTest, TwoProcessesDoNotTrainInOneRun) {
  train("run", 6);
  // A second open file description, as another process would have.
  const int other = ::open(run("run").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(resumeError(), where(": given a run that another process trains, "
                                 "expected one that is at rest"));
  ::close(other);
  EXPECT_EQ(resumeError(), "no error");
}

TEST_F(RefusalTest, TokenizerOfAnotherVocabulary) {
  putFile(data() / "tokenizer.json", "{\"name\":\"bytes\",\"vocabulary\":256}");
  EXPECT_EQ(resumeError(),
            data().string() + "/tokenizer.json.vocabulary: given 256, "
                              "expected 7, the vocabulary of the model bigram");
  EXPECT_FALSE(std::filesystem::exists(run("run")));
}

TEST_F(RefusalTest, IdsBeyondTheVocabulary) {
  writeShard(data() / "train_000001.bin", std::vector<std::uint32_t>(9, 7), 8);
  EXPECT_NE(resumeError().find("train_000001.bin"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run("run")));
}
