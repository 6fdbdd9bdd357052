//===- ModelParameters.cpp - The trained tensors of a model ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in the order of the function's arguments.
//
//===----------------------------------------------------------------------===//

#include "ModelParameters.h"
#include "isobath/Frontend/DepthPlan.h"
#include "isobath/Frontend/ModelSchema.h"
#include <cmath>

using namespace isobath;
using Start = ModelParameter::Start;

llvm::SmallVector<llvm::StringRef, 3>
isobath::learnedGroups(const RoutesTable &routes) {
  llvm::SmallVector<llvm::StringRef, 3> groups;
  for (llvm::StringRef group : groupsOf(routes.grouping))
    if (group != "v" || routes.value == RouteRule::learned)
      groups.push_back(group);
  return groups;
}

namespace {
/// The standard deviation of matrices that nothing else is said about.
constexpr double matrixStd = 0.02;

class ParameterLister {
public:
  explicit ParameterLister(const ModelSection &model)
      : model(model), residual(model.residual), plan(planDepth(model)),
        outputStd(matrixStd / std::sqrt(2.0 * model.layers)) {}

  std::vector<ModelParameter> list();

private:
  void matrix(std::string name, int64_t rows, int64_t columns,
              double std = matrixStd) {
    parameters.push_back(
        {std::move(name), {rows, columns}, Start::normal, std, ""});
  }
  void vector(std::string name, int64_t length, Start start) {
    parameters.push_back({std::move(name), {length}, start, 0, ""});
  }
  /// What a learned route has: a query, or a mixture of `sources` numbers.
  void learned(const std::string &route, int64_t sources, std::string key) {
    if (residual.score == RouteScore::staticMixture)
      vector(route + ".mixture", sources, Start::zeros);
    else
      routeQuery(route + ".query", std::move(key));
  }
  void routeQuery(std::string name, std::string key) {
    bool normal = residual.queryInit == QueryInit::normal;
    if (normal)
      parameters.push_back({std::move(name),
                            {model.width},
                            Start::normal,
                            residual.queryStd,
                            std::move(key)});
    else
      vector(std::move(name), model.width, Start::zeros);
  }
  /// What the learned routes of the next site have, and the site's gain. All
  /// queries of an attention site draw the same numbers, so that arms of a
  /// comparison start equal.
  void route(const std::string &site, llvm::ArrayRef<llvm::StringRef> groups) {
    if (residual.kind == ResidualKind::standard)
      return;
    int64_t sources = plan.sites[nextSite++].sources();
    if (groups.empty())
      learned(site + ".route", sources, "");
    for (llvm::StringRef group : groups)
      learned(site + ".route." + group.str(), sources, site + ".route.query");
    if (residual.keyGain)
      vector(site + ".route.gain", model.width, Start::ones);
  }
  void attention(const std::string &site);
  void mlp(const std::string &site);

  const ModelSection &model;
  const ResidualSection &residual;
  DepthPlan plan;
  size_t nextSite = 0; // of plan.sites
  /// Of the matrices whose products are added to the residual: each of the 2L
  /// sublayers then contributes 1/(2L) of its variance.
  double outputStd;
  std::vector<ModelParameter> parameters;
};
} // namespace

void ParameterLister::attention(const std::string &site) {
  int64_t width = model.width, headWidth = model.headWidth();
  vector(site + ".norm.weight", width, Start::ones);
  matrix(site + ".q.weight", width, width);
  matrix(site + ".k.weight", model.kvHeads * headWidth, width);
  matrix(site + ".v.weight", model.kvHeads * headWidth, width);
  matrix(site + ".o.weight", width, width, outputStd);
  if (model.qkNorm) {
    vector(site + ".q_norm.weight", headWidth, Start::ones);
    vector(site + ".k_norm.weight", headWidth, Start::ones);
  }
  route(site, learnedGroups(residual.routes));
  if (model.controls.extraVector)
    vector(site + ".extra.weight", width, Start::zeros);
}

void ParameterLister::mlp(const std::string &site) {
  vector(site + ".norm.weight", model.width, Start::ones);
  matrix(site + ".gate.weight", model.hidden, model.width);
  matrix(site + ".up.weight", model.hidden, model.width);
  matrix(site + ".down.weight", model.width, model.hidden, outputStd);
  route(site, {});
}

std::vector<ModelParameter> ParameterLister::list() {
  matrix("embed.weight", model.vocabulary, model.width);
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    std::string name = "layers." + std::to_string(layer);
    attention(name + ".attn");
    mlp(name + ".mlp");
  }
  vector("final.norm.weight", model.width, Start::ones);
  route("final", {});
  if (!model.tiedHead)
    matrix("head.weight", model.vocabulary, model.width);
  return std::move(parameters);
}

std::vector<ModelParameter> isobath::listParameters(const ModelSection &model) {
  return ParameterLister(model).list();
}
