//===- MeasureTest.cpp - Losses and gradients of given weights ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluation over batches that do not divide the data, and the gradient file.
//
//===----------------------------------------------------------------------===//

#include "BigramUnit.h"
#include "TestFiles.h"
#include "isobath/runtime/evaluate.h"
#include "isobath/runtime/gradients.h"
#include "isobath/runtime/run_data.h"
#include "isobath/runtime/tensors.h"

#include <cmath>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
constexpr auto V = BigramUnit::vocabulary;

class MeasureTest : public testing::Test {
protected:
  /// Weights of which bias[v] = v / 10 and all others are 0.
  void putWeights(const std::filesystem::path &path, ElementType type) {
    const std::vector<float> matrix(V * V);
    std::vector<float> bias;
    for (std::uint64_t v = 0; v < V; ++v)
      bias.push_back(static_cast<float>(v) / 10);
    writeSafetensors(
        path, {{"embed.weight", {V, V}, type, std::span<const float>(matrix)},
               {"bias", {V}, type, std::span<const float>(bias)}});
  }
  /// The cross-entropy of a target under those weights.
  static double lossOf(std::uint32_t target) {
    double sum = 0;
    for (std::uint64_t v = 0; v < V; ++v)
      sum += std::exp(static_cast<double>(v) / 10);
    return std::log(sum) - target / 10.0;
  }
  Evaluation evaluate(const std::filesystem::path &path) {
    const auto unit = bigram.load();
    const EvaluationData data = openEvaluationData(path, unit->manifest());
    Buffers buffers;
    const Evaluator evaluator(*unit, buffers);
    buffers.allocate();
    putWeights(folder / "w", ElementType::f32);
    readTensors(folder / "w", unit->manifest(), buffers, weightTensors);
    return evaluator.evaluate(data);
  }

  TemporaryFolder folder;
  BigramUnit bigram;
};
} // namespace

TEST_F(MeasureTest, EveryTokenCountsOnceWhateverTheBatch) {
  // One full window, one short: 6 targets where a batch holds 12.
  const std::vector<std::uint32_t> ids = {0, 1, 2, 3, 4, 5, 6};
  writeShard(folder / "a.bin", ids, V);
  double sum = 0;
  for (std::size_t i = 1; i < ids.size(); ++i)
    sum += lossOf(ids[i]);
  const Evaluation evaluation = evaluate(folder / "a.bin");
  EXPECT_EQ(evaluation.tokens, 6u);
  EXPECT_NEAR(evaluation.loss, sum / 6, 1e-6);
  EXPECT_DOUBLE_EQ(evaluation.perplexity, std::exp(evaluation.loss));
}

TEST_F(MeasureTest, FilesAreWeightedByTheirTokens) {
  // 17 targets 6 and 1 target 0: six windows, two batches.
  writeShard(folder / "valid_0.bin", std::vector<std::uint32_t>(18, 6), V);
  writeShard(folder / "valid_1.bin", std::vector<std::uint32_t>{0, 0}, V);
  const Evaluation evaluation = evaluate(folder.path());
  EXPECT_EQ(evaluation.tokens, 18u);
  EXPECT_NEAR(evaluation.loss, (17 * lossOf(6) + lossOf(0)) / 18, 1e-6);
}

TEST_F(MeasureTest, GradientsAreOfTheMeanLossOfOneBatch) {
  for (const std::string type : {"f32", "f64"}) {
    bigram = BigramUnit(type);
    // B·T = 8 targets, all 2; the ninth and later ids are ignored.
    std::vector<std::uint32_t> ids(9, 2);
    ids.push_back(5);
    writeShard(folder / "shard.bin", ids, V);
    putWeights(folder / "w", ElementType::f32);
    const GradientSummary summary =
        writeGradients(*bigram.load(), folder / "w", folder / "shard.bin",
                       folder / "g.safetensors");
    EXPECT_EQ(summary.tokens, 8u);
    EXPECT_NEAR(summary.loss, lossOf(2), 1e-6);

    const SafetensorsFile file(folder / "g.safetensors");
    ASSERT_EQ(file.tensors().size(), 2u);
    const TensorEntry &bias = *file.find("bias");
    EXPECT_EQ(nameOf(bias.type), type == "f32" ? "F32" : "F64");
    std::vector<double> values(V);
    file.read(bias, values);
    for (std::uint64_t v = 0; v < V; ++v)
      EXPECT_NEAR(values[v],
                  std::exp(-lossOf(static_cast<std::uint32_t>(v))) - (v == 2),
                  1e-6);
    EXPECT_EQ(file.find("embed.weight")->shape, (Shape{V, V}));
  }
}

TEST_F(MeasureTest, GradientsNeedAFullBatch) {
  writeShard(folder / "shard.bin", std::vector<std::uint32_t>(8, 2), V);
  putWeights(folder / "w", ElementType::f32);
  const std::string message = messageOf([&] {
    writeGradients(*bigram.load(), folder / "w", folder / "shard.bin",
                   folder / "g");
  });
  EXPECT_NE(message.find("8"), std::string::npos) << message;
  EXPECT_NE(message.find("9"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder / "g"));
}

TEST_F(MeasureTest, WeightsMayBeNarrowerButNotWider) {
  const auto read = [&](const std::string &model, ElementType type) {
    bigram = BigramUnit(model);
    const auto unit = bigram.load();
    Buffers buffers;
    buffers.reserve("parameters", BigramUnit::elements * 8);
    buffers.allocate();
    putWeights(folder / "w", type);
    return messageOf([&] {
      readTensors(folder / "w", unit->manifest(), buffers, weightTensors);
    });
  };
  EXPECT_EQ(read("f32", ElementType::bf16), "no error");
  EXPECT_EQ(read("f64", ElementType::bf16), "no error");
  EXPECT_EQ(read("f64", ElementType::f32), "no error");
  EXPECT_EQ(read("f64", ElementType::f64), "no error");
  EXPECT_EQ(read("f32", ElementType::f64),
            (folder / "w").string() +
                ": tensor embed.weight: given F64, expected F32 or BF16 for a "
                "model in f32");
}

TEST_F(MeasureTest, InitialValuesLeaveThePaddingZero) {
  const auto unit = bigram.load();
  Buffers buffers;
  buffers.reserve("parameters", BigramUnit::elements * 4);
  buffers.allocate();
  initialiseParameters(unit->manifest(), 1, buffers);
  const auto values = buffers.read<float>("parameters");
  EXPECT_NE(values[0], 0);
  EXPECT_NE(values[V * V - 1], 0);
  for (std::uint64_t i = V * V; i < BigramUnit::elements; ++i)
    EXPECT_EQ(values[i], 0) << i;
}
