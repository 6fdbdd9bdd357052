//===- BuildModelTest.cpp - The module of a description -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/BuildModel.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "isobath/Frontend/DepthPlan.h"
#include "isobath/Frontend/ModelSchema.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace isobath;

namespace {
/// A description of a small model and its function.
class BuiltModel {
public:
  explicit BuiltModel(std::vector<std::string> overrides,
                      BuildOptions options = {}) {
    llvm::Expected<ModelDescription> parsed = parseModelDescription(
        "model: {vocabulary: 7, width: 8, layers: 2, heads: 2, hidden: 5, "
        "context: 3, residual: {kind: block}}",
        "small.yaml", overrides);
    if (!parsed) {
      ADD_FAILURE() << llvm::toString(parsed.takeError());
      std::abort();
    }
    description = *parsed;
    module = buildModel(context, description, options);
    function = module->lookupSymbol<func::FuncOp>("model");
  }

  template <typename Op> SmallVector<Op> all() {
    SmallVector<Op> ops;
    function.walk([&](Op op) { ops.push_back(op); });
    return ops;
  }

  net::ParameterAttr parameter(StringRef name) {
    for (unsigned i = 1; i < function.getNumArguments(); ++i) {
      auto parameter = parameterOf(function.getArgument(i));
      if (parameter.getName() == name)
        return parameter;
    }
    ADD_FAILURE() << "no parameter " << name.str();
    return {};
  }

  net::ParameterAttr parameterOf(Value argument) {
    return function.getArgAttrOfType<net::ParameterAttr>(
        cast<BlockArgument>(argument).getArgNumber(), net::parameterAttrName);
  }

  /// `name shape` of every parameter, in order.
  std::vector<std::string> parameters() {
    std::vector<std::string> lines;
    for (BlockArgument argument : function.getArguments().drop_front()) {
      std::string line = parameterOf(argument).getName().str();
      for (int64_t size : cast<RankedTensorType>(argument.getType()).getShape())
        line += " " + std::to_string(size);
      lines.push_back(line);
    }
    return lines;
  }

  MLIRContext context;
  ModelDescription description;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

TEST(BuildModel, ParametersInTheOrderOfTheirUse) {
  BuiltModel model(
      {"model.layers=1", "model.kv_heads=1", "model.qk_norm=true",
       "model.tied_head=false", "model.controls.extra_vector=true",
       "model.residual={kind: full, key_gain: true, routes: {q: learned, k: "
       "learned, v: learned}}"});
  std::vector<std::string> expected = {
      "embed.weight 7 8",
      "layers.0.attn.norm.weight 8",
      "layers.0.attn.q.weight 8 8",
      "layers.0.attn.k.weight 4 8",
      "layers.0.attn.v.weight 4 8",
      "layers.0.attn.o.weight 8 8",
      "layers.0.attn.q_norm.weight 4",
      "layers.0.attn.k_norm.weight 4",
      "layers.0.attn.route.q.query 8",
      "layers.0.attn.route.k.query 8",
      "layers.0.attn.route.v.query 8",
      "layers.0.attn.route.gain 8",
      "layers.0.attn.extra.weight 8",
      "layers.0.mlp.norm.weight 8",
      "layers.0.mlp.gate.weight 5 8",
      "layers.0.mlp.up.weight 5 8",
      "layers.0.mlp.down.weight 8 5",
      "layers.0.mlp.route.query 8",
      "layers.0.mlp.route.gain 8",
      "final.norm.weight 8",
      "final.route.query 8",
      "final.route.gain 8",
      "head.weight 7 8",
  };
  EXPECT_EQ(model.parameters(), expected);
}

TEST(BuildModel, CountsAgreeWithTheModule) {
  for (const char *residual :
       {"{kind: standard}", "{kind: full, key_gain: true}",
        "{kind: block, routes: {qk: learned, v: learned}}",
        "{kind: block, routes: {qk: learned, v: repeat}}",
        "{kind: block, routes: {q: learned, k: learned, v: uniform}}",
        "{kind: block, routes: {q: learned, k: learned, v: learned}}"}) {
    BuiltModel model({"model.residual=" + std::string(residual),
                      "model.qk_norm=true", "model.kv_heads=1",
                      "model.controls.extra_vector=true"});
    int64_t elements = 0;
    for (Type type : model.function.getArgumentTypes().drop_front())
      elements += cast<RankedTensorType>(type).getNumElements();
    EXPECT_EQ(countParameters(model.description.model), elements) << residual;
  }
}

TEST(BuildModel, InitialValues) {
  BuiltModel model({"model.controls.extra_vector=true",
                    "model.residual={kind: block, key_gain: true, query_init: "
                    "normal, query_std: 0.5, routes: {qk: learned, v: "
                    "learned}}"});
  auto expectNormal = [&](StringRef name, double std, StringRef key) {
    net::ParameterAttr parameter = model.parameter(name);
    EXPECT_EQ(parameter.getInitial(), net::Initial::Normal) << name.str();
    EXPECT_DOUBLE_EQ(parameter.getStd().getValueAsDouble(), std) << name.str();
    StringRef given = parameter.getKey() ? parameter.getKey().getValue() : "";
    EXPECT_EQ(given, key) << name.str();
  };
  expectNormal("embed.weight", 0.02, "");
  expectNormal("layers.1.attn.q.weight", 0.02, "");
  expectNormal("layers.1.attn.o.weight", 0.01, ""); // 0.02 / √(2·2)
  expectNormal("layers.1.mlp.down.weight", 0.01, "");
  expectNormal("layers.1.mlp.up.weight", 0.02, "");
  expectNormal("layers.1.attn.route.qk.query", 0.5,
               "layers.1.attn.route.query");
  expectNormal("layers.1.attn.route.v.query", 0.5, "layers.1.attn.route.query");
  expectNormal("layers.1.mlp.route.query", 0.5, "");
  expectNormal("final.route.query", 0.5, "");
  for (StringRef name : {"layers.0.attn.norm.weight", "final.norm.weight",
                         "layers.0.attn.route.gain", "final.route.gain"})
    EXPECT_EQ(model.parameter(name).getInitial(), net::Initial::Ones);
  EXPECT_EQ(model.parameter("layers.0.attn.extra.weight").getInitial(),
            net::Initial::Zeros);
}

TEST(BuildModel, QueriesStartAtZeroUnlessAsked) {
  BuiltModel model({});
  EXPECT_EQ(model.parameter("layers.0.attn.route.qkv.query").getInitial(),
            net::Initial::Zeros);
  EXPECT_EQ(model.parameter("final.route.query").getInitial(),
            net::Initial::Zeros);
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

TEST(BuildModel, RoutesReadWhatThePlanSays) {
  for (int64_t block : {1, 2, 3, 100}) {
    BuiltModel model(
        {"model.layers=3", "model.residual.block=" + std::to_string(block)});
    DepthPlan plan = planDepth(model.description.model);
    auto routes = model.all<depth::RouteOp>();
    ASSERT_EQ(routes.size(), plan.sites.size());
    for (auto [route, site] : llvm::zip_equal(routes, plan.sites)) {
      EXPECT_EQ(*route.getSite(), site.name);
      EXPECT_EQ(static_cast<int64_t>(route.getClosed().size()),
                site.closedSources);
      EXPECT_EQ(route.getPartial() != Value(), site.readsPartial);
    }
  }
}

TEST(BuildModel, StandardHasNoRoutesAndOneStream) {
  BuiltModel model({"model.residual={kind: standard}"});
  EXPECT_TRUE(model.all<depth::RouteOp>().empty());
  auto sums = model.all<net::AddOp>();
  ASSERT_EQ(sums.size(), 4u);
  EXPECT_EQ(sums[3].getLeft(), sums[2].getOutput());
  EXPECT_EQ(sums[0].getLeft(),
            model.all<net::EmbeddingOp>().front().getOutput());
}

/// The weight of the norm that a projection of layer 0 reads, and the result of
/// a read that the norm takes.
static Value mixOf(BuiltModel &model, StringRef weight) {
  for (net::LinearOp linear : model.all<net::LinearOp>())
    if (model.parameterOf(linear.getWeight()).getName() == weight) {
      auto norm = linear.getInput().getDefiningOp<net::RMSNormOp>();
      if (!norm) // behind the control vector
        norm = linear.getInput()
                   .getDefiningOp<net::AddVectorOp>()
                   .getInput()
                   .getDefiningOp<net::RMSNormOp>();
      EXPECT_EQ(model.parameterOf(norm.getWeight()).getName(),
                "layers.0.attn.norm.weight");
      return norm.getInput();
    }
  ADD_FAILURE() << "no projection by " << weight.str();
  return {};
}

TEST(BuildModel, RolesReadTheirGroups) {
  BuiltModel tied({});
  EXPECT_EQ(mixOf(tied, "layers.0.attn.q.weight"),
            mixOf(tied, "layers.0.attn.v.weight"));

  BuiltModel decoupled({"model.residual.routes={qk: learned, v: learned}"});
  auto route = decoupled.all<depth::RouteOp>().front();
  EXPECT_EQ(mixOf(decoupled, "layers.0.attn.q.weight"), route.getMixes()[0]);
  EXPECT_EQ(mixOf(decoupled, "layers.0.attn.k.weight"), route.getMixes()[0]);
  EXPECT_EQ(mixOf(decoupled, "layers.0.attn.v.weight"), route.getMixes()[1]);
  EXPECT_EQ(decoupled.parameterOf(route.getQueries()[1]).getName(),
            "layers.0.attn.route.v.query");

  BuiltModel separate(
      {"model.residual.routes={v: learned, k: learned, q: learned}"});
  route = separate.all<depth::RouteOp>().front();
  for (auto [index, role] : llvm::enumerate(groupsOf(RoleGrouping::separate))) {
    std::string prefix = "layers.0.attn.";
    EXPECT_EQ(mixOf(separate, prefix + role.str() + ".weight"),
              route.getMixes()[index]);
    EXPECT_EQ(separate.parameterOf(route.getQueries()[index]).getName(),
              prefix + "route." + role.str() + ".query");
  }
}

TEST(BuildModel, RepeatRunsTheSameQueryAgain) {
  BuiltModel model({"model.residual={kind: block, key_gain: true, routes: {qk: "
                    "learned, v: repeat}}"});
  auto routes = model.all<depth::RouteOp>();
  EXPECT_FALSE(routes[0].getRepeated());
  EXPECT_TRUE(routes[1].getRepeated());
  EXPECT_EQ(routes[0].getQueries()[0], routes[1].getQueries()[0]);
  EXPECT_EQ(mixOf(model, "layers.0.attn.k.weight"), routes[0].getMixes()[0]);
  EXPECT_EQ(mixOf(model, "layers.0.attn.v.weight"), routes[1].getMixes()[0]);
}

TEST(BuildModel, FixedRulesReadWithoutAQuery) {
  for (auto [word, rule] :
       {std::pair("uniform", depth::FixedRule::Uniform),
        std::pair("newest", depth::FixedRule::Newest),
        std::pair("embedding", depth::FixedRule::Embedding)}) {
    BuiltModel model({"model.residual.routes={q: learned, k: learned, v: " +
                      std::string(word) + "}"});
    auto reads = model.all<depth::FixedReadOp>();
    ASSERT_EQ(reads.size(), 2u);
    EXPECT_EQ(reads[0].getRule(), rule);
    EXPECT_EQ(*reads[0].getGroup(), "v");
    EXPECT_EQ(mixOf(model, "layers.0.attn.v.weight"), reads[0].getMix());
    EXPECT_EQ(model.all<depth::RouteOp>()[0].getMixes().size(), 2u);
    EXPECT_TRUE(reads[1].getPartial()); // layer 1 stands inside the first block
  }
}

TEST(BuildModel, StaticMixturesHaveANumberForEachSource) {
  BuiltModel model({"model.residual={kind: block, block: 3, score: static, "
                    "routes: {qk: learned, v: uniform}}"});
  EXPECT_TRUE(model.all<depth::RouteOp>().empty());
  EXPECT_EQ(model.all<depth::FixedReadOp>().size(), 2u);
  auto reads = model.all<depth::StaticReadOp>();
  ASSERT_EQ(reads.size(), 5u);
  std::vector<std::string> names;
  for (depth::StaticReadOp read : reads) {
    Value mixture = read.getMixtures().front();
    EXPECT_EQ(cast<RankedTensorType>(mixture.getType()).getDimSize(0),
              read.getSourceCount());
    names.push_back(model.parameterOf(mixture).getName().str());
    EXPECT_EQ(model.parameterOf(mixture).getInitial(), net::Initial::Zeros);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.attn.route.qk.mixture",
                                             "layers.0.mlp.route.mixture",
                                             "layers.1.attn.route.qk.mixture",
                                             "layers.1.mlp.route.mixture",
                                             "final.route.mixture"}));
  EXPECT_EQ(reads[4].getSourceCount(), 3);
  EXPECT_EQ(mixOf(model, "layers.0.attn.k.weight"), reads[0].getMixes()[0]);
}

TEST(BuildModel, OneGainScalesEveryQueryOfASite) {
  BuiltModel model({"model.residual={kind: block, key_gain: true, depth_heads: "
                    "4, routes: {qk: learned, v: learned}}"});
  depth::RouteOp route = model.all<depth::RouteOp>().front();
  EXPECT_EQ(route.getHeads(), 4u);
  for (Value query : route.getQueries()) {
    auto product = query.getDefiningOp<net::MultiplyOp>();
    ASSERT_TRUE(product);
    EXPECT_EQ(model.parameterOf(product.getLeft()).getName(),
              "layers.0.attn.route.gain");
  }
}

TEST(BuildModel, TheControlVectorIsAddedToValuesOnly) {
  BuiltModel model({"model.controls.extra_vector=true"});
  for (net::LinearOp linear : model.all<net::LinearOp>()) {
    StringRef weight = model.parameterOf(linear.getWeight()).getName();
    EXPECT_EQ(bool(linear.getInput().getDefiningOp<net::AddVectorOp>()),
              weight.ends_with(".v.weight"))
        << weight.str();
  }
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

TEST(BuildModel, BatchAndElementType) {
  BuiltModel model({}, {/*batch=*/5, ElementType::f64});
  auto logits = cast<RankedTensorType>(model.function.getResultTypes().front());
  EXPECT_EQ(logits.getShape(), (ArrayRef<int64_t>{5, 3, 7}));
  EXPECT_TRUE(logits.getElementType().isF64());
  BuiltModel byDefault({"train.batch=4"});
  EXPECT_EQ(cast<RankedTensorType>(byDefault.function.getArgumentTypes()[0])
                .getDimSize(0),
            4);
}

TEST(BuildModel, HeadIsTheEmbeddingOrAMatrixOfItsOwn) {
  for (bool tied : {true, false}) {
    BuiltModel model({tied ? "model.tied_head=true" : "model.tied_head=false"});
    net::LinearOp head = model.all<net::LinearOp>().back();
    EXPECT_EQ(model.parameterOf(head.getWeight()).getName(),
              tied ? "embed.weight" : "head.weight");
  }
}

TEST(BuildModel, TrainingSettingsAreOnTheModule) {
  BuiltModel model(
      {"train.steps=70", "train.schedule=linear", "train.betas=[0.5, 0.25]"});
  auto train =
      model.module->getOperation()->getAttrOfType<DictionaryAttr>("net.train");
  ASSERT_TRUE(train);
  EXPECT_EQ(train.size(), 17u);
  EXPECT_EQ(train.getAs<IntegerAttr>("steps").getInt(), 70);
  EXPECT_EQ(train.getAs<StringAttr>("schedule").getValue(), "linear");
  auto betas = train.getAs<ArrayAttr>("betas").getAsRange<FloatAttr>();
  EXPECT_EQ((*betas.begin()).getValueAsDouble(), 0.5);
}
