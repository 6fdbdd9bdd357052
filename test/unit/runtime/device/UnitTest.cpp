//===- UnitTest.cpp - A compiled unit, checked and typed ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is checked when a unit is loaded, and the order of the checks.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/unit.h"

#include "BigramUnit.h"
#include "TestFiles.h"
#include "isobath/runtime/cpu.h"

#include <cmath>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

TEST(Unit, RunsAnEntryThatItHas) {
  BigramUnit bigram;
  const auto unit = bigram.load();
  EXPECT_TRUE(unit->hasEntry("norm"));
  EXPECT_FALSE(unit->hasEntry("logits"));
  std::vector<float> gradients(BigramUnit::elements, 2);
  double norm = 0;
  void *buffers[] = {gradients.data(), &norm};
  unit->entry("norm").run(buffers);
  EXPECT_EQ(norm, 4.0 * BigramUnit::elements);
}

TEST(Unit, WrongMagicGivesBothValues) {
  BigramUnit bigram;
  IsobathUnit unit = *bigram.unit();
  unit.magic = 0xabc;
  unit.version = 99; // not looked at
  unit.manifest = nullptr;
  EXPECT_EQ(messageOf([&] { Unit loaded(&unit); }),
            "compiled unit: given magic 0xabc, expected 0x485441424f5349");
}

TEST(Unit, WrongVersionGivesBothValues) {
  BigramUnit bigram;
  IsobathUnit unit = *bigram.unit();
  unit.version = 99;
  unit.manifest = nullptr; // not looked at
  EXPECT_EQ(messageOf([&] { Unit loaded(&unit); }),
            "compiled unit: given version 99, expected version 2; compile the "
            "model again");
}

TEST(Unit, KernelsOfAGpuAreNotForTheHost) {
  BigramUnit bigram;
  IsobathUnit unit = *bigram.unit();
  unit.deviceCode = "code";
  unit.deviceCodeSize = 4;
  EXPECT_EQ(messageOf([&] { Unit loaded(&unit); }),
            "compiled unit: given kernels of a GPU, expected code for this "
            "CPU");
}

TEST(Unit, NeedsASymbol) {
  EXPECT_EQ(messageOf([] { Unit loaded(nullptr); }),
            "compiled unit: given none, expected the symbol isobath_unit");
}

TEST(Unit, NeedsCodeForEveryEntryOfTheManifest) {
  BigramUnit bigram;
  IsobathUnit unit = *bigram.unit();
  --unit.entryCount;
  EXPECT_EQ(messageOf([&] { Unit loaded(&unit); }),
            "compiled unit: given no code for the entry routes of its "
            "manifest, expected one");
}

TEST(Unit, RunsWhereItsInstructionsAre) {
  BigramUnit bigram;
  bigram.manifest["cpu"] = {{"name", "this"}, {"features", Names{}}};
  for (std::string_view feature : knownCpuFeatures())
    if (cpuHas(feature))
      bigram.manifest["cpu"]["features"].push_back(feature);
  EXPECT_EQ(bigram.load()->manifest().cpu.name, "this");
}

TEST(Unit, NamesTheInstructionsThatAreMissing) {
  BigramUnit bigram;
  bigram.manifest["cpu"] = {{"name", "other"},
                            {"features", {"levitation", "telepathy"}}};
  EXPECT_EQ(messageOf([&] { bigram.load(); }),
            "cpu: given a machine without levitation, telepathy, expected one "
            "that runs code for other; compile the model for this machine "
            "(--cpu)");
}

TEST(Unit, UnknownEntryListsTheKnownOnes) {
  BigramUnit bigram;
  EXPECT_EQ(messageOf([&] { bigram.load()->entry("logits"); }),
            "compiled unit: given no entry logits, expected one of loss, "
            "gradient, accumulate, norm, update, routes");
}

TEST(Unit, KeepsItsOwner) {
  BigramUnit bigram;
  auto owner = std::make_shared<int>(1);
  {
    Unit unit(bigram.unit(), owner);
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}
