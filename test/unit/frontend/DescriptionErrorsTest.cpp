//===- DescriptionErrorsTest.cpp - The message for every kind of bad text -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case is a whole text or one override of a good one, with the exact
// message. Nothing may be printed besides.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ParseModelDescription.h"
#include "gtest/gtest.h"

using namespace isobath;

static std::string errorOf(llvm::StringRef text,
                           llvm::ArrayRef<std::string> overrides = {}) {
  testing::internal::CaptureStderr();
  llvm::Expected<ModelDescription> description =
      parseModelDescription(text, "m.yaml", overrides);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  if (description)
    return "no error";
  return llvm::toString(description.takeError());
}

namespace {
struct TextCase {
  llvm::StringLiteral text;
  llvm::StringLiteral message;
};
} // namespace

//===----------------------------------------------------------------------===//
// Text that is no YAML, or YAML that no description needs
//===----------------------------------------------------------------------===//

TEST(DescriptionErrors, Documents) {
  static constexpr TextCase cases[] = {
      {"", "m.yaml:1:1: document: given an empty text, expected a mapping with "
           "the keys name, model, train"},
      {"# nothing\n", "m.yaml:2:1: document: given an empty text, expected a "
                      "mapping with the keys name, model, train"},
      {"- a\n", "m.yaml:1:1: document: given a list, expected a mapping with "
                "the keys name, model, train"},
      {"model", "m.yaml:1:1: document: given model, expected a mapping with "
                "the keys name, model, train"},
      {"name: x\n---\nname: y\n", "m.yaml:3:1: document: given more text after "
                                  "the end, expected one document"},
      {"name: &a x\n", "m.yaml:1:7: name: given the anchor &a, expected a "
                       "value"},
      {"name: *a\n", "m.yaml:1:7: name: given the alias *a, expected a value"},
      {"name: !!str x\n", "m.yaml:1:13: name: given the tag !!str, expected a "
                          "value without a tag"},
      {"%YAML 1.2\n---\nname: x\n",
       "m.yaml:1:1: document: given a directive, expected none"},
      {"name: |\n  x\n", "m.yaml:2:1: name: given a block of text, expected a "
                         "value on one line"},
      {"model:\n\twidth: 3\n", "m.yaml:2:1: document: given a tab as "
                               "indentation, expected spaces"},
      {"? [a]\n: 3\n",
       "m.yaml:1:3: document: given a list as a key, expected a word"},
      {"name: \xff\n",
       "m.yaml:1:7: document: given the byte 0xff, expected UTF-8"},
      {"näme: \x01\n", "m.yaml:1:7: document: given the control character "
                       "0x01, expected text"},
      {"name: x\r\rmodel: 4\r",
       "m.yaml:3:8: model: given 4, expected a mapping"},
      {"name: x\r\nmodel: 4\r\n",
       "m.yaml:2:8: model: given 4, expected a mapping"},
      {"\xef\xbb\xbfmodel: 4",
       "m.yaml:1:8: model: given 4, expected a mapping"},
      {"[[[[[[[[[[[[[[[[[[[[[[", "m.yaml:1:18: [0][0][0][0][0][0][0][0][0][0]"
                                 "[0][0][0][0][0][0][0]: given a value nested "
                                 "too deeply, expected at most 16 levels"},
  };
  for (const TextCase &c : cases)
    EXPECT_EQ(errorOf(c.text), c.message) << c.text.str();
}

TEST(DescriptionErrors, ZeroBytesAreRefused) {
  EXPECT_EQ(errorOf(llvm::StringRef("name: a\0b", 9)),
            "m.yaml:1:8: document: given the control character 0x00, expected "
            "text");
}

TEST(DescriptionErrors, LongTextsAreRefused) {
  EXPECT_EQ(errorOf(std::string(70000, '#')),
            "m.yaml:1:1: document: given 70001 bytes, expected at most 65536");
}

TEST(DescriptionErrors, MalformedYaml) {
  static constexpr TextCase cases[] = {
      {"model: {width: 3", "m.yaml:1:17"},
      {"name: \"x\n", "m.yaml:2:1"},
      {"model:\n  width: 3\n   heads: 4\n", "m.yaml:3:9"},
      {"a: b: c\n", "m.yaml:1:5"},
      {"name: \"\\q\"\n", "m.yaml:1:9"},
      {"name: x\n]\n", "m.yaml:2:1"},
      {"@\n", "m.yaml:1:1"},
      {"\"\n", "m.yaml:2:1"},
  };
  for (const TextCase &c : cases) {
    std::string message = errorOf(c.text);
    EXPECT_EQ(llvm::StringRef(message).split(": ").first, c.message) << message;
    EXPECT_NE(message.find(": document: given malformed YAML ("),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST(DescriptionErrors, Keys) {
  static constexpr TextCase cases[] = {
      {"modle: {}\n", "m.yaml:1:1: modle: given an unknown key, expected one "
                      "of name, model, train; nearest is model"},
      {"width: 3\n", "m.yaml:1:1: width: given an unknown key, expected one "
                     "of name, model, train; nearest is model.width"},
      {"name: x\nname: y\n",
       "m.yaml:2:1: name: given a second time, expected one value"},
      {"model:\n  controls: {a: 1, a: 2}\n",
       "m.yaml:2:20: model.controls.a: given a second time, expected one "
       "value"},
      {"name: x\n",
       "m.yaml:1:1: model: given nothing, expected this required key"},
      {"name: x\nmodel:\n  width: 64\n", "m.yaml:3:3: model.vocabulary: given "
                                         "nothing, expected this required key"},
      {"name: x\nmodel: {width: 64}\n", "m.yaml:2:8: model.vocabulary: given "
                                        "nothing, expected this required key"},
      {"model:\n", "m.yaml:1:1: model: given null, expected a mapping"},
      {"model: [1]\n", "m.yaml:1:8: model: given a list, expected a mapping"},
      {"name: 7\nmodel: {}\n", "m.yaml:1:7: name: given 7, expected a string "
                               "(in quotes where it looks like something "
                               "else)"},
      {"name: ~\nmodel: {}\n", "m.yaml:1:7: name: given null, expected a "
                               "string (in quotes where it looks like "
                               "something else)"},
      {"name: \"a\\nb\"\n", "m.yaml:1:7: name: given \"a\\nb\", expected 1 to "
                            "255 bytes of UTF-8 without control characters"},
  };
  for (const TextCase &c : cases)
    EXPECT_EQ(errorOf(c.text), c.message) << c.text.str();
}

TEST(DescriptionErrors, PositionsInsideSections) {
  EXPECT_EQ(errorOf("model:\n  vocabulary: 256\n  width: 64\n  layers: 2\n"
                    "  heads: 5\n  context: 32\n  residual: {kind: full}\n"),
            "m.yaml:5:10: model.heads: given 5, expected a divisor of "
            "model.width, which is 64");
  EXPECT_EQ(errorOf("model:\n  vocabulary: 256\n  width: 64\n  layers: 2\n"
                    "  heads: 4\n  context: 32\n  residual:\n    block: 2\n"),
            "m.yaml:8:5: model.residual.kind: given nothing, expected this "
            "required key");
}

//===----------------------------------------------------------------------===//
// Values, each as an override of a good description
//===----------------------------------------------------------------------===//

namespace {
struct ValueCase {
  llvm::StringLiteral setting;
  llvm::StringLiteral key; // of the message
  llvm::StringLiteral rest;
};
} // namespace

static void checkValues(llvm::ArrayRef<ValueCase> cases) {
  static constexpr llvm::StringLiteral good =
      "model: {vocabulary: 256, width: 64, layers: 2, heads: 4, context: 32, "
      "residual: {kind: block}}";
  for (const ValueCase &c : cases) {
    llvm::StringRef key = c.setting.split('=').first;
    EXPECT_EQ(errorOf(good, {c.setting.str()}),
              ("--set " + key + ": " + c.key + ": given " + c.rest).str());
  }
}

TEST(DescriptionErrors, Types) {
  static constexpr ValueCase cases[] = {
      {"model.width=true", "model.width",
       "true, expected an integer from 1 to 2147483647"},
      {"model.width=\"64\"", "model.width",
       "\"64\", expected an integer from 1 to 2147483647"},
      {"model.width=64.0", "model.width",
       "64.0, expected an integer from 1 to 2147483647"},
      {"model.width=6e1", "model.width",
       "6e1, expected an integer from 1 to 2147483647"},
      {"model.width=0x40", "model.width",
       "0x40, expected an integer from 1 to 2147483647"},
      {"model.width=064", "model.width",
       "064, expected an integer from 1 to 2147483647"},
      {"model.width=[64]", "model.width",
       "a list, expected an integer from 1 to 2147483647"},
      {"model.width=", "model.width",
       "null, expected an integer from 1 to 2147483647"},
      {"model.tied_head=1", "model.tied_head", "1, expected true or false"},
      {"model.tied_head=yes", "model.tied_head", "yes, expected true or false"},
      {"model.tied_head=\"true\"", "model.tied_head",
       "\"true\", expected true or false"},
      {"model.rope_base=fast", "model.rope_base",
       "fast, expected a positive number that is finite and not zero in f32"},
      {"model.rope_base='1.0'", "model.rope_base",
       "\"1.0\", expected a positive number that is finite and not zero in "
       "f32"},
      {"train.schedule=true", "train.schedule",
       "true, expected one of cosine, linear, constant"},
      {"train.schedule=cosin", "train.schedule",
       "cosin, expected one of cosine, linear, constant; nearest is cosine"},
      {"train.betas=0.9", "train.betas", "0.9, expected a list of two numbers"},
      {"train.betas={a: 1}", "train.betas",
       "a mapping, expected a list of two numbers"},
      {"train.betas=[0.9]", "train.betas",
       "a list of 1 value, expected a list of two numbers"},
      {"train=3", "train", "3, expected a mapping"},
  };
  checkValues(cases);
}

TEST(DescriptionErrors, Bounds) {
  static constexpr ValueCase cases[] = {
      {"model.vocabulary=0", "model.vocabulary",
       "0, expected an integer from 1 to 2147483647"},
      {"model.vocabulary=2147483648", "model.vocabulary",
       "2147483648, expected an integer from 1 to 2147483647"},
      {"model.layers=0", "model.layers",
       "0, expected an integer from 1 to 4096"},
      {"model.layers=-1", "model.layers",
       "-1, expected an integer from 1 to 4096"},
      {"model.residual.block=0", "model.residual.block",
       "0, expected an integer of at least 1"},
      {"train.seed=99999999999999999999", "train.seed",
       "99999999999999999999, expected an integer from 0 to "
       "9223372036854775807"},
      {"train.seed=-1", "train.seed", "-1, expected an integer of at least 0"},
      {"train.steps=0", "train.steps", "0, expected an integer of at least 1"},
      {"train.keep=0", "train.keep", "0, expected an integer of at least 1"},
      {"train.checkpoint_every=0", "train.checkpoint_every",
       "0, expected an integer of at least 1"},
      {"model.norm_epsilon=0", "model.norm_epsilon",
       "0, expected a positive number that is finite and not zero in f32"},
      {"model.norm_epsilon=1e-60", "model.norm_epsilon",
       "1e-60, expected a positive number that is finite and not zero in f32"},
      {"train.learning_rate=-1e-3", "train.learning_rate",
       "-1e-3, expected a positive number that is finite and not zero in f32"},
      {"train.learning_rate=.inf", "train.learning_rate",
       ".inf, expected a positive number that is finite and not zero in f32"},
      {"train.learning_rate=.nan", "train.learning_rate",
       ".nan, expected a positive number that is finite and not zero in f32"},
      {"train.learning_rate=1e999", "train.learning_rate",
       "1e999, expected a positive number that is finite and not zero in f32"},
      {"train.clip=-1", "train.clip",
       "-1, expected a number of at least 0 that is finite in f32"},
      {"train.final_fraction=1.5", "train.final_fraction",
       "1.5, expected a number from 0 to 1"},
      {"train.betas=[0.9, 1]", "train.betas[1]",
       "1, expected a number of at least 0 and less than 1 in f32"},
      {"train.betas=[-0.1, 0.9]", "train.betas[0]",
       "-0.1, expected a number of at least 0 and less than 1 in f32"},
      {"train.betas=[0.9, 0.99999999999]", "train.betas[1]",
       "0.99999999999, expected a number of at least 0 and less than 1 in "
       "f32"},
  };
  checkValues(cases);
}

TEST(DescriptionErrors, RulesBetweenValues) {
  static constexpr ValueCase cases[] = {
      {"model.heads=3", "model.heads",
       "3, expected a divisor of model.width, which is 64"},
      {"model.heads=64", "model.heads",
       "64, expected an even model.width / model.heads, which is 64 / 64 = 1"},
      {"model.kv_heads=3", "model.kv_heads",
       "3, expected a divisor of model.heads, which is 4"},
      {"model.residual.depth_heads=5", "model.residual.depth_heads",
       "5, expected a divisor of model.width, which is 64"},
      {"model.residual={kind: full, block: 4}", "model.residual.block",
       "4, expected no such key when model.residual.kind is full"},
      {"model.residual={kind: standard, routes: {qkv: learned}}",
       "model.residual.routes",
       "a mapping, expected no such key when model.residual.kind is standard"},
      {"model.residual={kind: standard, query_std: 0.1}",
       "model.residual.query_std",
       "0.1, expected no such key when model.residual.kind is standard"},
      {"model.residual={kind: standard, score: dot}", "model.residual.score",
       "dot, expected no such key when model.residual.kind is standard"},
      {"model.residual={kind: full, score: static, key_gain: false}",
       "model.residual.key_gain",
       "false, expected no such key when model.residual.score is static"},
      {"model.residual={kind: full, score: static, routes: {qk: learned, v: "
       "repeat}}",
       "model.residual.routes",
       "v: repeat, expected learned, uniform, newest or embedding when "
       "model.residual.score is static"},
      {"model.residual={kind: full, score: dott}", "model.residual.score",
       "dott, expected one of dot, static; nearest is dot"},
      {"train.warmup=1000", "train.warmup",
       "1000, expected fewer than train.steps, which is 1000"},
      {"train.steps=50", "train.steps",
       "50, expected more than train.warmup, which is 50 by default"},
      {"train.steps=9223372036854775807", "train.steps",
       "9223372036854775807, expected steps · accumulate · batch below 2^63"},
      {"model.context=2147483647", "model.context",
       "2147483647, expected batch · context² · heads of at most 2^40 "
       "(train.batch is 8, model.heads is 4)"},
  };
  checkValues(cases);
}

TEST(DescriptionErrors, AbsurdSizes) {
  EXPECT_EQ(errorOf("model: {vocabulary: 2147483647, width: 2147483646, "
                    "layers: 4096, heads: 1, hidden: 2147483647, context: 1, "
                    "residual: {kind: full}}"),
            "m.yaml:1:8: model: given 9223372036854775807 parameters, expected "
            "at most 2^40");
}

TEST(DescriptionErrors, Routes) {
  static constexpr ValueCase cases[] = {
      {"model.residual.routes={}", "model.residual.routes",
       "the groups {}, expected each of q, k and v once: {qkv}, {qk, v} or "
       "{q, k, v}"},
      {"model.residual.routes={qk: learned}", "model.residual.routes",
       "the groups {qk}, expected each of q, k and v once: {qkv}, {qk, v} or "
       "{q, k, v}"},
      {"model.residual.routes={qkv: learned, v: learned}",
       "model.residual.routes",
       "the groups {qkv, v}, expected each of q, k and v once: {qkv}, {qk, v} "
       "or {q, k, v}"},
      {"model.residual.routes={q: learned, kv: learned}",
       "model.residual.routes.kv",
       "an unknown key, expected one of qkv, qk, q, k, v; nearest is qkv"},
      {"model.residual.routes={qkv: uniform}", "model.residual.routes.qkv",
       "uniform, expected learned"},
      {"model.residual.routes={q: learned, k: newest, v: learned}",
       "model.residual.routes.k", "newest, expected learned"},
      {"model.residual.routes={qk: learned, v: unifrom}",
       "model.residual.routes.v",
       "unifrom, expected one of learned, uniform, newest, embedding, repeat; "
       "nearest is uniform"},
      {"model.residual.routes=learned", "model.residual.routes",
       "learned, expected a mapping from groups of roles to rules"},
  };
  checkValues(cases);
}

TEST(DescriptionErrors, Overrides) {
  static constexpr ValueCase cases[] = {
      {"train.steps", "train.steps", "no value, expected key=value"},
      {"train..steps=3", "train..steps",
       "this key, expected words joined by points, as in train.steps"},
      {"model.width.x=3", "model.width.x",
       "a key inside model.width, which is 64, expected a mapping there"},
      {"train.step=3", "train.step",
       "an unknown key, expected one of precision, batch, accumulate, steps, "
       "learning_rate, warmup, schedule, final_fraction, weight_decay, betas, "
       "adam_epsilon, clip, seed, eval_every, eval_tokens, checkpoint_every, "
       "keep; nearest is steps"},
      {"depth_heads=3", "depth_heads",
       "an unknown key, expected one of name, model, train; nearest is "
       "model.residual.depth_heads"},
      {"train.betas=[0.9", "train.betas",
       "malformed YAML (could not find closing ]!), expected well-formed "
       "YAML"},
  };
  checkValues(cases);
  EXPECT_EQ(errorOf("name: x", {"train.steps=3", "train.steps=4"}),
            "--set train.steps: train.steps: given a second time, expected "
            "one value");
  EXPECT_EQ(errorOf("name: x", {"=3"}),
            "--set : key: given this key, expected words joined by points, as "
            "in train.steps");
}
