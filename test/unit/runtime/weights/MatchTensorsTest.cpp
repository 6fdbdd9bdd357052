//===- MatchTensorsTest.cpp - The tensors of a file and those of a model --===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and shapes of small files against those of small models.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/safetensors.h"

#include "TestFiles.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;

/// A file in which each of the tensors has the shape [1].
static SafetensorsFile makeFile(const TemporaryFolder &folder,
                                const Names &names) {
  static const float value = 1;
  std::vector<TensorToWrite> tensors;
  for (const std::string &name : names)
    tensors.push_back({name, {1}, ElementType::f32, std::span(&value, 1)});
  writeSafetensors(folder / "w", tensors);
  return SafetensorsFile(folder / "w");
}

TEST(MatchTensors, AcceptsWhatFits) {
  const TemporaryFolder folder;
  const SafetensorsFile file = makeFile(folder, {"a", "b"});
  const std::vector<ExpectedTensor> expected = {{"b", {1}}, {"a", {1}}};
  const MatchResult result = matchTensors(file, expected);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(result.extra.empty());
}

TEST(MatchTensors, ListsEverythingInOneLine) {
  const TemporaryFolder folder;
  const SafetensorsFile file = makeFile(folder, {"a", "b", "x\n", "y"});
  const std::vector<ExpectedTensor> expected = {
      {"a", {1}}, {"b", {2, 3}}, {"c", {1}}, {"d", {1}}};
  EXPECT_EQ(messageOf([&] { matchTensors(file, expected); }),
            file.name() + ": tensors do not fit the model: missing c, d; extra "
                          "x\\x0a, y; wrong shape b (given [1], expected [2, "
                          "3])");
}

TEST(MatchTensors, CountsWhatIsTooManyToList) {
  const TemporaryFolder folder;
  const SafetensorsFile file = makeFile(folder, {});
  std::vector<ExpectedTensor> expected;
  for (int i = 0; i < 30; ++i)
    expected.push_back({std::to_string(i), {1}});
  EXPECT_EQ(messageOf([&] { matchTensors(file, expected); }),
            file.name() + ": tensors do not fit the model: missing 0, 1, 2, 3, "
                          "4, 5, 6, 7 and 22 more");
}

TEST(MatchTensors, PatternsAllowMissingAndExtra) {
  const TemporaryFolder folder;
  const SafetensorsFile file =
      makeFile(folder, {"a", "layers.0.attn.route.v.query", "head.weight"});
  const std::vector<ExpectedTensor> expected = {
      {"a", {1}}, {"layers.0.gain", {1}}, {"layers.10.gain", {1}}};
  const MatchResult result = matchTensors(
      file, expected, {{"layers.*.gain"}, {"head.weight", "*.v.query"}});
  EXPECT_EQ(result.missing, (Names{"layers.0.gain", "layers.10.gain"}));
  EXPECT_EQ(result.extra,
            (Names{"head.weight", "layers.0.attn.route.v.query"}));
  EXPECT_EQ(messageOf([&] {
              matchTensors(file, expected, {{"layers.0.gain"}, {"head.*"}});
            }),
            file.name() + ": tensors do not fit the model: missing "
                          "layers.10.gain; extra layers.0.attn.route.v.query");
}

TEST(MatchTensors, AShapeIsNeverAllowedToDiffer) {
  const TemporaryFolder folder;
  const SafetensorsFile file = makeFile(folder, {"a"});
  const std::vector<ExpectedTensor> expected = {{"a", {}}};
  EXPECT_EQ(messageOf([&] { matchTensors(file, expected, {{"*"}, {"*"}}); }),
            file.name() + ": tensors do not fit the model: wrong shape a "
                          "(given [1], expected [])");
}
