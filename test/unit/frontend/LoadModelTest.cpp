//===- LoadModelTest.cpp - Descriptions and modules as models -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/LoadModel.h"
#include "isobath/Frontend/CheckReport.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace isobath;

static constexpr llvm::StringLiteral description =
    "name: small\n"
    "model: {vocabulary: 7, width: 8, layers: 2, heads: 2, hidden: 5, context: "
    "3, residual: {kind: block, block: 3, routes: {qk: learned, v: repeat}}}\n"
    "train: {batch: 2, steps: 60}\n";

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

static LoadedModel load(MLIRContext &context, StringRef text, StringRef path,
                        const LoadOptions &options = {}) {
  llvm::Expected<LoadedModel> model =
      loadModelText(context, text, path, options);
  if (model)
    return std::move(*model);
  ADD_FAILURE() << llvm::toString(model.takeError());
  std::abort();
}

/// The error of a text; nothing may be printed besides.
static std::string errorOf(StringRef text, StringRef path = "m.mlir",
                           const LoadOptions &options = {}) {
  MLIRContext context;
  testing::internal::CaptureStderr();
  llvm::Expected<LoadedModel> model =
      loadModelText(context, text, path, options);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  if (model)
    return "no error";
  return llvm::toString(model.takeError());
}

/// The module of `description` as text, with `from` replaced by `to`.
static std::string moduleText(StringRef from = "", StringRef to = "") {
  MLIRContext context;
  std::string text = print(*load(context, description, "small.yaml").module);
  if (from.empty())
    return text;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  return text.replace(place, from.size(), to.str());
}

//===----------------------------------------------------------------------===//
// Good models
//===----------------------------------------------------------------------===//

TEST(LoadModel, ADescriptionAndItsModuleAreOneModel) {
  MLIRContext context;
  LoadedModel fromYaml = load(context, description, "small.yaml");
  EXPECT_EQ(fromYaml.sourceFormat, "yaml");
  EXPECT_EQ(fromYaml.name, "small");
  std::string text = print(*fromYaml.module);
  LoadedModel fromModule = load(context, text, "other.mlir");
  EXPECT_EQ(print(*fromModule.module), text);
  EXPECT_EQ(fromModule.name, "small");
  EXPECT_EQ(fromModule.sourceFormat, "mlir");
  EXPECT_EQ(fromModule.train, fromYaml.train);
}

TEST(LoadModel, SpecializingAModuleEqualsBuildingIt) {
  MLIRContext context;
  LoadOptions options;
  options.batch = 5;
  options.elementType = ElementType::f64;
  std::string built =
      print(*load(context, description, "small.yaml", options).module);
  LoadedModel specialized = load(context, moduleText(), "m.mlir", options);
  EXPECT_EQ(print(*specialized.module), built);
  EXPECT_NE(built.find("tensor<5x3x7xf64>"), std::string::npos);
  // The source is what was written, whatever it is compiled for.
  EXPECT_EQ(StringRef(specialized.sourceText).trim(), moduleText());
}

TEST(LoadModel, SettingsAndSeedReachTheSource) {
  MLIRContext context;
  LoadOptions options;
  options.overrides = {"train.steps=70", "train.batch=4"};
  options.seed = 9;
  for (auto [text, path] : {std::pair(description.str(), "m.yaml"),
                            std::pair(moduleText(), "m.mlir")}) {
    LoadedModel model = load(context, text, path, options);
    EXPECT_EQ(model.train.steps, 70);
    EXPECT_EQ(model.train.seed, 9);
    LoadedModel again = load(context, model.sourceText, path);
    EXPECT_EQ(again.train, model.train);
    EXPECT_EQ(print(*again.module), print(*model.module));
    EXPECT_NE(print(*again.module).find("tensor<4x3xi32>"), std::string::npos);
  }
}

TEST(LoadModel, ModulesMayLeaveOutSettings) {
  MLIRContext context;
  std::string text = moduleText();
  size_t begin = text.find(" attributes {net.train"), end = text.find("}}");
  text.erase(begin, end + 2 - begin);
  LoadedModel model = load(context, text, "m.mlir");
  TrainSection defaults;
  defaults.batch = 2; // that of the tokens
  EXPECT_EQ(model.train, defaults);
}

TEST(LoadModel, ContentTellsTheFormatOfOtherNames) {
  MLIRContext context;
  EXPECT_EQ(load(context, description, "model").sourceFormat, "yaml");
  EXPECT_EQ(load(context, moduleText(), "model").sourceFormat, "mlir");
}

TEST(LoadModel, EveryExampleIsAModel) {
  std::error_code code;
  int examples = 0;
  for (llvm::sys::fs::directory_iterator file(ISOBATH_EXAMPLES, code), end;
       file != end && !code; file.increment(code)) {
    if (!StringRef(file->path()).ends_with(".yaml"))
      continue;
    MLIRContext context;
    llvm::Expected<LoadedModel> model = loadModel(context, file->path());
    ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
    ++examples;
  }
  EXPECT_EQ(code.message(), std::error_code().message());
  EXPECT_GE(examples, 5);
}

//===----------------------------------------------------------------------===//
// Bad models
//===----------------------------------------------------------------------===//

TEST(LoadModel, BrokenText) {
  EXPECT_EQ(errorOf("module {", "a b.mlir"),
            "a b.mlir:1:7: expected operation name in quotes");
  EXPECT_EQ(errorOf(std::string("module {\0}", 10)),
            "m.mlir: expected text, got a zero byte at offset 8");
  EXPECT_EQ(errorOf("ML\xefRxyz"),
            "m.mlir: expected a module as text, got MLIR bytecode");
  EXPECT_EQ(errorOf("\n" + std::string(100000, '[')),
            "m.mlir:2: expected at most 64 nested brackets");
  EXPECT_EQ(errorOf(moduleText().substr(0, 200)).substr(0, 9), "m.mlir:1:");
}

TEST(LoadModel, TextEndsWhereItsReferenceEnds) {
  EXPECT_EQ(errorOf(StringRef("module {}@more").take_front(9)),
            "m.mlir:1:1: expected a function '@model', got none");
}

TEST(LoadModel, ModulesThatAreNoModels) {
  EXPECT_EQ(errorOf("module {}"),
            "m.mlir:1:1: expected a function '@model', got none");
  EXPECT_EQ(errorOf("module {\n  func.func @other() { return }\n}"),
            "m.mlir:2:3: expected '@model' as the only function of the module, "
            "got more or others");
  EXPECT_EQ(errorOf("module {\n  func.func private @model()\n}"),
            "m.mlir:2:3: 'func.func' op expected a body of one block");
  EXPECT_EQ(errorOf("module {\n  func.func @model() { return }\n}"),
            "m.mlir:2:3: 'func.func' op expected the type (tensor<BxTxi32>, "
            "parameters…) -> tensor<BxTxV…>, got '() -> ()'");
}

TEST(LoadModel, FormsThatCannotBeTrained) {
  static constexpr llvm::StringLiteral parts[] = {
      "module {\n  func.func @model(%t: tensor<1x2xi32>, %e: tensor<5x4xf32>",
      ") -> tensor<1x2x",
      "xf32> {\n    %0 = net.embedding %e, %t : "
      "(tensor<5x4xf32>, tensor<1x2xi32>) -> tensor<1x2x4xf32>\n    %1 = "
      "net.linear %0, %",
      " : (tensor<1x2x4xf32>, tensor<",
      "x4xf32>) -> "
      "tensor<1x2x",
      "xf32>\n    return %1 : tensor<1x2x",
      "xf32>\n  }\n}"};
  auto text = [](StringRef arguments, StringRef size, StringRef head) {
    return (parts[0] + arguments + parts[1] + size + parts[2] + head +
            parts[3] + size + parts[4] + size + parts[5] + size + parts[6])
        .str();
  };
  StringRef named = " {net.parameter = #net.parameter<name = \"e\", initial = "
                    "zeros>}";
  EXPECT_EQ(errorOf(text(named, "5", "e")), "no error");
  EXPECT_EQ(errorOf(text("", "5", "e")),
            "m.mlir:2:3: 'func.func' op expected 'net.parameter' on every "
            "argument but the tokens, got it on 0 of 1");
  std::string two = (named + ", %h: tensor<6x4xf32>" + named).str();
  EXPECT_EQ(errorOf(text(two, "6", "h")),
            "m.mlir:2:3: expected parameters of different names, got 'e' "
            "twice");
  size_t place = two.rfind("\"e\"");
  two.replace(place, 3, "\"h\"");
  EXPECT_EQ(errorOf(text(two, "6", "h")),
            "m.mlir:3:10: 'net.embedding' op expected 'table' with a row for "
            "each of the 6 ids of the logits, got 5");
}

TEST(LoadModel, BadSettingsOfAModule) {
  EXPECT_EQ(errorOf(moduleText("steps = 60", "steps = 50")),
            "m.mlir:1:1: train.warmup: given 50, expected fewer than "
            "train.steps, which is 50");
  EXPECT_EQ(errorOf(moduleText("steps = 60", "stops = 60")).substr(0, 63),
            "m.mlir:1:1: train.stops: given an unknown key, expected one of ");
  EXPECT_EQ(errorOf(moduleText("seed = 1 : i64", "seed = true")),
            "m.mlir:1:1: train.seed: given true, expected an integer of at "
            "least 0");
  LoadOptions options;
  options.overrides = {"model.width=16"};
  EXPECT_EQ(errorOf(moduleText(), "m.mlir", options),
            "--set model.width: model.width: given a setting of a model that "
            "is an MLIR module, expected a key of train, the only ones that "
            "can be set");
}

TEST(LoadModel, ABatchThatCannotBeHeld) {
  LoadOptions options;
  options.batch = int64_t(1) << 40;
  for (auto [text, path] : {std::pair(description.str(), "m.yaml"),
                            std::pair(moduleText(), "m.mlir")})
    EXPECT_NE(errorOf(text, path, options)
                  .find("expected sizes from 1 to 2147483647"),
              std::string::npos);
}

TEST(LoadModel, FilesThatCannotBeRead) {
  MLIRContext context;
  llvm::Expected<LoadedModel> model = loadModel(context, "no such.yaml");
  ASSERT_FALSE(bool(model));
  EXPECT_EQ(llvm::toString(model.takeError()),
            "no such.yaml: cannot be read: no such file or directory");
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

TEST(CheckReport, Text) {
  MLIRContext context;
  std::string text;
  llvm::raw_string_ostream os(text);
  printCheckReport(makeCheckReport(load(context, description, "s.yaml")), os);
  EXPECT_EQ(text, R"(small
sizes: vocabulary 7, context 3, batch 2, width 8, layers 2, heads 2, kv_heads 2, hidden 5
parameters: 888
  embed                  56     6.3 %  in 1 tensor
  norms                  40     4.5 %  in 5 tensors
  attention             512    57.7 %  in 8 tensors
  routes                 40     4.5 %  in 5 tensors
  mlp                   240    27.0 %  in 6 tensors
reads:
  layers.0.attn  qk learned, v repeat  embedding
  layers.0.mlp   mlp learned           embedding, partial
  layers.1.attn  qk learned, v repeat  embedding, partial
  layers.1.mlp   mlp learned           embedding, block 0
  final          final learned         embedding, block 0, partial
blocks:
  block 0: layers.0.attn + layers.0.mlp + layers.1.attn
  partial: layers.1.mlp
)");
}

TEST(CheckReport, JsonOfADescriptionAndOfItsModule) {
  MLIRContext context;
  llvm::json::Object fromYaml =
      toJson(makeCheckReport(load(context, description, "s.yaml")));
  llvm::json::Object fromModule =
      toJson(makeCheckReport(load(context, moduleText(), "s.mlir")));
  EXPECT_EQ(fromYaml, fromModule);
  EXPECT_EQ(fromYaml.getObject("parameters")->getInteger("total"), 888);
  EXPECT_EQ(fromYaml.getObject("sizes")->getInteger("width"), 8);
  EXPECT_EQ(fromYaml.getObject("train")->getNumber("learning_rate"), 3e-3);
  const llvm::json::Object &site =
      *fromYaml.getArray("sites")->back().getAsObject();
  EXPECT_EQ(site.getString("name"), "final");
  EXPECT_EQ(*site.getArray("sources"),
            (llvm::json::Array{"embedding", "block 0", "partial"}));
}

TEST(CheckReport, StandardReadsTheResidualStream) {
  MLIRContext context;
  LoadOptions options;
  options.overrides = {"model.residual={kind: standard}"};
  CheckReport report =
      makeCheckReport(load(context, description, "s.yaml", options));
  ASSERT_EQ(report.sites.size(), 5u);
  EXPECT_EQ(report.sites[0].name, "layers.0.attn");
  EXPECT_EQ(report.sites[0].sources, std::vector<std::string>{"residual"});
  EXPECT_TRUE(report.blocks.empty());
}
