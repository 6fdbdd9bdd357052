//===- BuildModel.cpp - From a description to a module --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of the model family, written down once as IR. Values are
// created in the order in which they are needed; what could be shared or
// batched is left for later passes to find.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/BuildModel.h"
#include "ModelParameters.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Frontend/DepthPlan.h"
#include "isobath/Frontend/ModelSchema.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace isobath;

void isobath::loadModelDialects(MLIRContext &context) {
  context
      .loadDialect<func::FuncDialect, net::NetDialect, depth::DepthDialect>();
}

FloatType isobath::getFloatType(MLIRContext &context, ElementType type) {
  if (type == ElementType::f64)
    return Float64Type::get(&context);
  return Float32Type::get(&context);
}

namespace {
/// What the three roles of an attention sublayer read: normalised mixes.
struct RoleInputs {
  Value query, key, value;
};

/// Builds the function.
class ModelBuilder {
public:
  ModelBuilder(ModuleOp module, const ModelSection &model, int64_t batch,
               FloatType elementType)
      : module(module), model(model), batch(batch), elementType(elementType),
        builder(module.getBodyRegion()), plan(planDepth(model)) {}

  void build();

private:
  // The signature.
  void createFunction(ArrayRef<ModelParameter> parameters);
  net::ParameterAttr attributeOf(const ModelParameter &parameter);

  // Reading over depth.
  bool isRouted() const { return !plan.sites.empty(); }
  Value routeQuery(const std::string &site, StringRef group);
  SmallVector<Value> route(const std::string &site, ValueRange queries,
                           ArrayRef<StringRef> groups, bool repeated);
  Value valueMix(const std::string &site, Value firstQuery);
  SmallVector<Value, 3> attentionMixes(const std::string &site);
  Value plainMix(const std::string &site, StringRef group);
  void addSublayer(Value output);

  // Sublayers.
  RoleInputs attentionInputs(const std::string &site);
  Value attention(const std::string &site);
  Value mlp(const std::string &site);
  Value logits();

  // Small ops.
  Value parameter(const Twine &name) {
    auto found = parameters.find(name.str());
    assert(found != parameters.end() && "no parameter of this name");
    return found->second;
  }
  Value normalise(Value input, const Twine &weight) {
    return net::RMSNormOp::create(builder, location, input, parameter(weight),
                                  APFloat(model.normEpsilon));
  }
  Value linear(Value input, const Twine &weight) {
    return net::LinearOp::create(builder, location, input, parameter(weight));
  }
  Value rotate(Value input, int64_t heads) {
    return net::RotaryOp::create(builder, location, input, heads,
                                 APFloat(model.ropeBase));
  }

  ModuleOp module;
  const ModelSection &model;
  int64_t batch;
  FloatType elementType;
  OpBuilder builder;
  Location location = builder.getUnknownLoc();
  llvm::StringMap<Value> parameters;
  Value tokens;

  DepthPlan plan;
  size_t site = 0; // of plan.sites: the next one to read
  // With routes: the sources. Without: closed[0] is the residual stream h.
  SmallVector<Value> closed; // [B, T, D] each
  Value partial;             // [B, T, D] or null
};
} // namespace

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

net::ParameterAttr ModelBuilder::attributeOf(const ModelParameter &parameter) {
  FloatAttr std;
  net::Initial initial = net::Initial::Zeros;
  switch (parameter.start) {
  case ModelParameter::Start::zeros:
    break;
  case ModelParameter::Start::ones:
    initial = net::Initial::Ones;
    break;
  case ModelParameter::Start::normal:
    initial = net::Initial::Normal;
    std = builder.getF64FloatAttr(parameter.std);
    break;
  }
  StringAttr key;
  if (!parameter.key.empty())
    key = builder.getStringAttr(parameter.key);
  return net::ParameterAttr::get(builder.getContext(), parameter.name, initial,
                                 std, key);
}

void ModelBuilder::createFunction(ArrayRef<ModelParameter> list) {
  SmallVector<Type> types = {
      RankedTensorType::get({batch, model.context}, builder.getI32Type())};
  for (const ModelParameter &parameter : list)
    types.push_back(RankedTensorType::get(parameter.shape, elementType));
  auto logitsType = RankedTensorType::get(
      {batch, model.context, model.vocabulary}, elementType);
  auto function = func::FuncOp::create(
      builder, location, "model", builder.getFunctionType(types, {logitsType}));
  Block *body = function.addEntryBlock();
  tokens = body->getArgument(0);
  function.setArgAttr(0, net::nameAttrName, builder.getStringAttr("tokens"));
  function.setResultAttr(0, net::nameAttrName, builder.getStringAttr("logits"));
  for (auto [index, parameter] : llvm::enumerate(list)) {
    parameters[parameter.name] = body->getArgument(index + 1);
    function.setArgAttr(index + 1, net::parameterAttrName,
                        attributeOf(parameter));
  }
  builder.setInsertionPointToEnd(body);
}

//===----------------------------------------------------------------------===//
// Reading over depth
//===----------------------------------------------------------------------===//

/// What a group reads with: its mixture, or its query times the site's gain.
/// `group` is empty where the site has one.
Value ModelBuilder::routeQuery(const std::string &site, StringRef group) {
  std::string route = site + ".route";
  if (!group.empty())
    route += "." + group.str();
  if (model.residual.score == RouteScore::staticMixture)
    return parameter(route + ".mixture");
  Value query = parameter(route + ".query");
  if (!model.residual.keyGain)
    return query;
  return net::MultiplyOp::create(builder, location,
                                 parameter(site + ".route.gain"), query);
}

SmallVector<Value> ModelBuilder::route(const std::string &site,
                                       ValueRange queries,
                                       ArrayRef<StringRef> groups,
                                       bool repeated) {
  if (model.residual.score == RouteScore::staticMixture)
    return depth::StaticReadOp::create(builder, location, queries, closed,
                                       partial, builder.getStringAttr(site),
                                       builder.getStrArrayAttr(groups))
        .getMixes();
  auto op = depth::RouteOp::create(
      builder, location, queries, closed, partial, model.residual.depthHeads,
      APFloat(model.normEpsilon), repeated, builder.getStringAttr(site),
      builder.getStrArrayAttr(groups));
  return op.getMixes();
}

/// What the group `v` reads where it has no query of its own. `firstQuery` is
/// that of the group with q.
Value ModelBuilder::valueMix(const std::string &site, Value firstQuery) {
  auto fixed = [&](depth::FixedRule rule) -> Value {
    return depth::FixedReadOp::create(builder, location, rule, closed, partial,
                                      builder.getStringAttr(site),
                                      builder.getStringAttr("v"));
  };
  switch (model.residual.routes.value) {
  case RouteRule::repeat:
    return route(site, {firstQuery}, {"v"}, /*repeated=*/true).front();
  case RouteRule::uniform:
    return fixed(depth::FixedRule::Uniform);
  case RouteRule::newest:
    return fixed(depth::FixedRule::Newest);
  case RouteRule::embedding:
    return fixed(depth::FixedRule::Embedding);
  case RouteRule::learned:
    break;
  }
  llvm_unreachable("a learned group has a query");
}

/// One mix for each group of roles, the group with q first and that of v last.
SmallVector<Value, 3> ModelBuilder::attentionMixes(const std::string &site) {
  if (!isRouted())
    return {closed.front()};
  SmallVector<StringRef, 3> groups = learnedGroups(model.residual.routes);
  SmallVector<Value> queries;
  for (StringRef group : groups)
    queries.push_back(routeQuery(site, group));
  SmallVector<Value, 3> mixes(route(site, queries, groups, /*repeated=*/false));
  if (groups.size() < groupsOf(model.residual.routes.grouping).size())
    mixes.push_back(valueMix(site, queries.front()));
  return mixes;
}

/// What a sublayer with one input, or the end of the model, reads.
Value ModelBuilder::plainMix(const std::string &site, StringRef group) {
  if (!isRouted())
    return closed.front();
  return route(site, {routeQuery(site, "")}, {group}, /*repeated=*/false)
      .front();
}

/// Adds the output of the sublayer at `site` to the residual, and closes the
/// block if the next site reads it as closed.
void ModelBuilder::addSublayer(Value output) {
  if (!isRouted()) {
    closed.front() =
        net::AddOp::create(builder, location, closed.front(), output);
    return;
  }
  partial =
      partial ? net::AddOp::create(builder, location, partial, output) : output;
  ++site;
  if (plan.sites[site].closedSources == static_cast<int64_t>(closed.size()))
    return;
  closed.push_back(partial);
  partial = {};
}

//===----------------------------------------------------------------------===//
// Sublayers
//===----------------------------------------------------------------------===//

RoleInputs ModelBuilder::attentionInputs(const std::string &site) {
  SmallVector<Value, 3> inputs = attentionMixes(site);
  for (Value &input : inputs)
    input = normalise(input, site + ".norm.weight");
  // {qkv} has one input, {qk, v} two, {q, k, v} three.
  Value key = inputs.size() == 3 ? inputs[1] : inputs.front();
  RoleInputs roles = {inputs.front(), key, inputs.back()};
  if (model.controls.extraVector)
    roles.value = net::AddVectorOp::create(builder, location, roles.value,
                                           parameter(site + ".extra.weight"));
  return roles;
}

Value ModelBuilder::attention(const std::string &site) {
  RoleInputs roles = attentionInputs(site);
  Value query = linear(roles.query, site + ".q.weight");
  Value key = linear(roles.key, site + ".k.weight");
  Value value = linear(roles.value, site + ".v.weight");
  if (model.qkNorm) {
    query = normalise(query, site + ".q_norm.weight");
    key = normalise(key, site + ".k_norm.weight");
  }
  query = rotate(query, model.heads);
  key = rotate(key, model.kvHeads);
  auto mixed = net::AttentionOp::create(builder, location, query, key, value,
                                        model.heads, model.kvHeads);
  return linear(mixed.getOutput(), site + ".o.weight");
}

Value ModelBuilder::mlp(const std::string &site) {
  Value input = normalise(plainMix(site, "mlp"), site + ".norm.weight");
  Value gate = linear(input, site + ".gate.weight");
  Value up = linear(input, site + ".up.weight");
  Value active = net::SwiGLUOp::create(builder, location, gate, up);
  return linear(active, site + ".down.weight");
}

Value ModelBuilder::logits() {
  Value input = normalise(plainMix("final", "final"), "final.norm.weight");
  return linear(input, model.tiedHead ? "embed.weight" : "head.weight");
}

void ModelBuilder::build() {
  createFunction(listParameters(model));
  closed = {net::EmbeddingOp::create(builder, location,
                                     parameter("embed.weight"), tokens)};
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    std::string name = "layers." + std::to_string(layer);
    addSublayer(attention(name + ".attn"));
    addSublayer(mlp(name + ".mlp"));
  }
  func::ReturnOp::create(builder, location, logits());
}

OwningOpRef<ModuleOp> isobath::buildModel(MLIRContext &context,
                                          const ModelDescription &description,
                                          const BuildOptions &options) {
  loadModelDialects(context);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&context), description.name);
  (*module)->setAttr(net::trainAttrName,
                     toTrainAttribute(context, description.train));
  int64_t batch = options.batch ? options.batch : description.train.batch;
  ModelBuilder(*module, description.model, batch,
               getFloatType(context, options.elementType))
      .build();
  // Descriptions are checked before they come here, so that this is a promise
  // to later stages and not a test of the input.
  if (failed(verify(*module)))
    llvm::report_fatal_error("the front end built an invalid model");
  return module;
}
