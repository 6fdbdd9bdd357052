//===- SettingsTest.cpp - The settings of a training run ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Round trip and overrides.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/settings.h"

#include "BigramUnit.h"
#include "TestFiles.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;

static TrainSettings settingsOf(BigramUnit bigram) {
  return parseTrainSettings(JsonValue(bigram.train(), "train"));
}

static std::string overrideError(const std::string &text) {
  return messageOf([&] { applyOverrides(settingsOf(BigramUnit()), {text}); });
}

TEST(Settings, RoundTrip) {
  BigramUnit bigram;
  EXPECT_EQ(toJson(settingsOf(bigram)).dump(), bigram.train().dump());
}

TEST(Settings, OverridesApplyInOrder) {
  const TrainSettings settings = applyOverrides(
      settingsOf(BigramUnit()),
      {"steps=100", "learning_rate=1e-3", "schedule=linear", "train.steps=50",
       "warmup=49", "seed=18446744073709551615"});
  EXPECT_EQ(settings.steps, 50u);
  EXPECT_EQ(settings.warmup, 49u);
  EXPECT_EQ(settings.learningRate, 1e-3);
  EXPECT_EQ(settings.schedule, Schedule::linear);
  EXPECT_EQ(settings.seed, ~std::uint64_t(0));
}

TEST(Settings, OverridesOfCompiledValuesAreRefused) {
  for (const std::string key : {"precision", "batch", "weight_decay", "betas",
                                "adam_epsilon", "train.batch", "model.width"}) {
    const std::string message = overrideError(key + "=1");
    EXPECT_NE(message.find("fixed when this program was compiled"),
              std::string::npos)
        << key << ": " << message;
  }
}

TEST(Settings, WrongOverridesSayWhatIsExpected) {
  EXPECT_EQ(overrideError("steps"), "--set: given 'steps', expected KEY=VALUE");
  EXPECT_EQ(overrideError("step=3"),
            "--set: given unknown key step, expected one of accumulate, "
            "steps, learning_rate, warmup, schedule, final_fraction, clip, "
            "seed, eval_every, eval_tokens, checkpoint_every, keep");
  EXPECT_EQ(overrideError("steps=ten"),
            "train.steps: given \"ten\", expected a whole number of at least "
            "1");
  EXPECT_EQ(overrideError("steps=12"),
            "train.warmup: given 12, expected less than steps = 12");
  EXPECT_EQ(overrideError("learning_rate=-1"),
            "train.learning_rate: given -1, expected a finite number of at "
            "least 0.0");
  EXPECT_EQ(overrideError("keep=0"),
            "train.keep: given 0, expected a whole number of at least 1");
}
