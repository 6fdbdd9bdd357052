//===- ScheduleTest.cpp - Learning rate, clipping and bias correction -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values worked out by hand.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/schedule.h"

#include <gtest/gtest.h>

using namespace isobath::runtime;

static TrainSettings settingsWith(Schedule schedule) {
  TrainSettings settings;
  settings.steps = 110;
  settings.warmup = 10;
  settings.learningRate = 2;
  settings.finalFraction = 0.25;
  settings.schedule = schedule;
  settings.beta1 = 0.9;
  settings.beta2 = 0.5;
  settings.clip = 3;
  return settings;
}

TEST(Schedule, WarmupIsLinearUpToThePeak) {
  for (const Schedule schedule :
       {Schedule::cosine, Schedule::linear, Schedule::constant}) {
    const TrainSettings settings = settingsWith(schedule);
    EXPECT_DOUBLE_EQ(learningRate(settings, 1), 0.2);
    EXPECT_DOUBLE_EQ(learningRate(settings, 5), 1);
    EXPECT_DOUBLE_EQ(learningRate(settings, 10), 2);
  }
}

TEST(Schedule, CosineFallsToTheFinalFraction) {
  const TrainSettings settings = settingsWith(Schedule::cosine);
  EXPECT_DOUBLE_EQ(learningRate(settings, 60), 2 * (0.25 + 0.375));
  // cos(pi/3) = 1/2 at a third of the way would not fall on a step; a quarter
  // of the way gives cos(pi/4).
  EXPECT_DOUBLE_EQ(learningRate(settings, 35),
                   2 * (0.25 + 0.375 * (1 + 0.70710678118654752)));
  EXPECT_DOUBLE_EQ(learningRate(settings, 110), 0.5);
}

TEST(Schedule, LinearFallsToTheFinalFraction) {
  const TrainSettings settings = settingsWith(Schedule::linear);
  EXPECT_DOUBLE_EQ(learningRate(settings, 11), 2 * (1 - 0.0075));
  EXPECT_DOUBLE_EQ(learningRate(settings, 60), 2 * 0.625);
  EXPECT_DOUBLE_EQ(learningRate(settings, 110), 0.5);
}

TEST(Schedule, ConstantStays) {
  const TrainSettings settings = settingsWith(Schedule::constant);
  EXPECT_DOUBLE_EQ(learningRate(settings, 11), 2);
  EXPECT_DOUBLE_EQ(learningRate(settings, 110), 2);
}

TEST(Schedule, WithoutWarmupTheFirstStepIsOnTheSchedule) {
  TrainSettings settings = settingsWith(Schedule::linear);
  settings.warmup = 0;
  settings.steps = 1;
  EXPECT_DOUBLE_EQ(learningRate(settings, 1), 0.5);
}

TEST(UpdateScalars, CorrectTheBiasOfTheMoments) {
  const TrainSettings settings = settingsWith(Schedule::constant);
  const UpdateScalars scalars = updateScalars(settings, 3, 1);
  EXPECT_DOUBLE_EQ(scalars.learningRate, 0.6);
  EXPECT_DOUBLE_EQ(scalars.firstCorrection, 1 - 0.729);
  EXPECT_DOUBLE_EQ(scalars.secondCorrection, 0.875);
}

TEST(UpdateScalars, ClipOnlyLargerNorms) {
  TrainSettings settings = settingsWith(Schedule::constant);
  EXPECT_EQ(updateScalars(settings, 1, 2.9).gradientFactor, 1);
  EXPECT_EQ(updateScalars(settings, 1, 3).gradientFactor, 1);
  EXPECT_DOUBLE_EQ(updateScalars(settings, 1, 12).gradientFactor, 0.25);
  settings.clip = 0; // off
  EXPECT_EQ(updateScalars(settings, 1, 12).gradientFactor, 1);
}
