//===- ParseModelDescriptionTest.cpp - What is read from good text --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ParseModelDescription.h"
#include "gtest/gtest.h"

using namespace isobath;

static constexpr llvm::StringLiteral smallModel = R"(
model:
  vocabulary: 256
  width: 64
  layers: 2
  heads: 4
  context: 32
  residual: {kind: block}
)";

static ModelDescription parse(llvm::StringRef text,
                              llvm::ArrayRef<std::string> overrides = {},
                              llvm::StringRef fileName = "dir/small.yaml") {
  llvm::Expected<ModelDescription> description =
      parseModelDescription(text, fileName, overrides);
  if (description)
    return *description;
  ADD_FAILURE() << llvm::toString(description.takeError());
  return {};
}

TEST(ParseModelDescription, FillsEveryDefault) {
  ModelDescription description = parse(smallModel);
  EXPECT_EQ(toCanonicalYaml(description), R"(name: "small"
model:
  vocabulary: 256
  width: 64
  layers: 2
  heads: 4
  kv_heads: 4
  hidden: 192
  context: 32
  norm_epsilon: 1e-06
  rope_base: 10000.0
  tied_head: true
  qk_norm: false
  residual:
    kind: block
    block: 4
    score: dot
    depth_heads: 1
    key_gain: false
    query_init: zero
    query_std: 0.02
    routes: {qkv: learned}
  controls:
    extra_vector: false
train:
  precision: f32
  batch: 8
  accumulate: 1
  steps: 1000
  learning_rate: 0.003
  warmup: 50
  schedule: cosine
  final_fraction: 0.1
  weight_decay: 0.1
  betas: [0.9, 0.95]
  adam_epsilon: 1e-08
  clip: 1.0
  seed: 1
  eval_every: 200
  eval_tokens: 0
  checkpoint_every: 200
  keep: 2
)");
}

TEST(ParseModelDescription, ReadsEveryKey) {
  ModelDescription description = parse(R"(
name: "every: key"
model:
  vocabulary: 50257
  width: 96
  layers: 3
  heads: 6
  kv_heads: 2
  hidden: 101
  context: 7
  norm_epsilon: 1e-5
  rope_base: 5.0e+5
  tied_head: false
  qk_norm: true
  residual:
    kind: block
    block: 5
    score: dot
    depth_heads: 3
    key_gain: true
    query_init: normal
    query_std: .5
    routes: {v: repeat, k: learned, q: learned}
  controls: {extra_vector: true}
train:
  precision: bf16
  batch: 2
  accumulate: 3
  steps: 40
  learning_rate: 1
  warmup: 0
  schedule: linear
  final_fraction: 0
  weight_decay: 0.0
  betas: [0, 0.999]
  adam_epsilon: 1e-10
  clip: 0
  seed: 9223372036854775807
  eval_every: 0
  eval_tokens: 128
  checkpoint_every: 5
  keep: 1
)");
  ModelDescription expected;
  expected.name = "every: key";
  expected.model = {50257, 96,  3,     6,    2,  101,   7,
                    1e-5,  5e5, false, true, {}, {true}};
  expected.model.residual = {ResidualKind::block,
                             5,
                             RouteScore::dot,
                             3,
                             true,
                             QueryInit::normal,
                             0.5,
                             {RoleGrouping::separate, RouteRule::repeat}};
  expected.train = {Precision::bf16,
                    2,
                    3,
                    40,
                    1.0,
                    0,
                    Schedule::linear,
                    0.0,
                    0.0,
                    {0.0, 0.999},
                    1e-10,
                    0.0,
                    INT64_MAX,
                    0,
                    128,
                    5,
                    1};
  EXPECT_EQ(description, expected);
}

TEST(ParseModelDescription, CanonicalTextComesBackExactly) {
  for (llvm::StringRef residual :
       {"{kind: standard}", "{kind: full, query_std: 0.1}",
        "{kind: block, block: 3, routes: {qk: learned, v: embedding}}",
        "{kind: full, score: static, routes: {qk: learned, v: uniform}}"}) {
    ModelDescription description =
        parse(smallModel, {"model.residual=" + residual.str(),
                           "train.learning_rate=0.30000000000000004",
                           "name='a \"b\" \\ ü'"});
    std::string text = toCanonicalYaml(description);
    EXPECT_EQ(parse(text, {}, "other.yaml"), description);
    EXPECT_EQ(toCanonicalYaml(parse(text)), text);
  }
}

TEST(ParseModelDescription, HiddenIsRoundedUpTo64) {
  EXPECT_EQ(defaultHidden(256), 704);
  EXPECT_EQ(defaultHidden(24), 64);
  EXPECT_EQ(defaultHidden(26), 128);
  EXPECT_EQ(defaultHidden(1024), 2752);
}

TEST(ParseModelDescription, NameIsTheFilesName) {
  EXPECT_EQ(parse(smallModel, {}, "a b/c.d.yaml").name, "c.d");
  EXPECT_EQ(parse(smallModel, {}, "plain").name, "plain");
  EXPECT_EQ(parse(smallModel, {}, "new\nline.yaml").name, "new_line");
}

TEST(ParseModelDescription, GroupsMayStandInAnyOrder) {
  for (llvm::StringRef routes :
       {"{qk: learned, v: newest}", "{v: newest, qk: learned}",
        "{v: newest, kq: learned}"})
    EXPECT_EQ(parse(smallModel, {"model.residual.routes=" + routes.str()})
                  .model.residual.routes,
              (RoutesTable{RoleGrouping::decoupledValue, RouteRule::newest}));
}

TEST(ParseModelDescription, LineEndsAndByteOrderMarkDoNotMatter) {
  std::string windows = "\xef\xbb\xbf";
  for (char c : smallModel)
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(parse(windows), parse(smallModel));
}

TEST(ParseModelDescription, OverridesReplaceAndAdd) {
  ModelDescription description =
      parse(smallModel,
            {"train.steps=7", "train.warmup = 2", "model.residual.block=1",
             "train.betas=[0.8, 0.9]", "name=other",
             "model.residual.routes={qk: "
             "learned, v: learned}",
             "model.residual.routes.v=uniform"});
  EXPECT_EQ(description.name, "other");
  EXPECT_EQ(description.train.steps, 7);
  EXPECT_EQ(description.train.warmup, 2);
  EXPECT_EQ(description.train.betas, (std::array<double, 2>{0.8, 0.9}));
  EXPECT_EQ(description.model.residual.block, 1);
  EXPECT_EQ(description.model.residual.routes.value, RouteRule::uniform);
}

TEST(ParseModelDescription, CountsParameters) {
  // embed 256·64; per layer 4·64² + 3·64·192 + two norms, queries; final two.
  int64_t layer = 4 * 64 * 64 + 3 * 64 * 192 + 2 * 64 + 2 * 64;
  int64_t tied = 256 * 64 + 2 * layer + 2 * 64;
  EXPECT_EQ(countParameters(parse(smallModel).model), tied);
  auto count = [](std::vector<std::string> overrides) {
    return countParameters(parse(smallModel, overrides).model);
  };
  EXPECT_EQ(count({"model.residual={kind: standard}"}), tied - 5 * 64);
  EXPECT_EQ(count({"model.residual.routes={qk: learned, v: learned}"}),
            tied + 2 * 64);
  EXPECT_EQ(
      count({"model.residual.routes={q: learned, k: learned, v: newest}"}),
      tied + 2 * 64);
  EXPECT_EQ(count({"model.residual.key_gain=true"}), tied + 5 * 64);
  EXPECT_EQ(count({"model.controls.extra_vector=true"}), tied + 2 * 64);
  EXPECT_EQ(count({"model.qk_norm=true"}), tied + 2 * 2 * 16);
  EXPECT_EQ(count({"model.tied_head=false"}), tied + 256 * 64);
  EXPECT_EQ(count({"model.kv_heads=1"}), tied - 2 * 2 * 48 * 64);
}
