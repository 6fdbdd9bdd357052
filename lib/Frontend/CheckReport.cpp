//===- CheckReport.cpp - What `isobath check` says about a model ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collecting from the module. How a report is shown is in PrintCheckReport.cpp.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/CheckReport.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace isobath;

int64_t CheckReport::parameterCount() const {
  int64_t count = 0;
  for (const ParameterGroup &group : parameters)
    count += group.elements;
  return count;
}

namespace {
class ReportCollector {
public:
  ReportCollector(func::FuncOp model, CheckReport &report)
      : model(model), body(model.getBody().front()), report(report) {}

  void collect() {
    collectSizes();
    collectParameters();
    collectSites();
  }

private:
  void collectSizes();
  void collectParameters();
  void collectSites();

  CheckReport::Site &siteNamed(StringRef name);
  void addSources(CheckReport::Site &site, OperandRange closed, Value partial);
  void addRoute(depth::RouteOp route);
  void addStaticRead(depth::StaticReadOp read);
  void addFixedRead(depth::FixedReadOp read);
  void addPlainRead(net::RMSNormOp norm);
  void addBlock(StringRef name, Value sum);
  std::string producerName(Value value);

  func::FuncOp model;
  Block &body;
  CheckReport &report;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes and parameters
//===----------------------------------------------------------------------===//

static int64_t lastSize(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}

void ReportCollector::collectSizes() {
  auto add = [&](StringRef name, int64_t value) {
    report.sizes.push_back({name.str(), value});
  };
  auto logits = cast<RankedTensorType>(model.getResultTypes().front());
  add("vocabulary", logits.getDimSize(2));
  add("context", logits.getDimSize(1));
  add("batch", logits.getDimSize(0));
  auto embeddings = body.getOps<net::EmbeddingOp>();
  if (!embeddings.empty())
    add("width", lastSize((*embeddings.begin()).getOutput()));
  auto attentions = body.getOps<net::AttentionOp>();
  if (!attentions.empty()) {
    add("layers", llvm::range_size(attentions));
    add("heads", (*attentions.begin()).getHeads());
    add("kv_heads", (*attentions.begin()).getKvHeads());
  }
  auto activations = body.getOps<net::SwiGLUOp>();
  if (!activations.empty())
    add("hidden", lastSize((*activations.begin()).getOutput()));
}

/// The purpose that a parameter's name states.
static StringRef purposeOf(StringRef name) {
  if (name.starts_with("embed.") || name.starts_with("head."))
    return name.take_until([](char c) { return c == '.'; });
  if (name.contains(".route."))
    return "routes";
  if (name.contains(".extra."))
    return "controls";
  if (name.ends_with("norm.weight"))
    return "norms";
  if (name.contains(".attn."))
    return "attention";
  return name.contains(".mlp.") ? "mlp" : "other";
}

void ReportCollector::collectParameters() {
  for (unsigned i = 1; i < model.getNumArguments(); ++i) {
    StringRef purpose =
        purposeOf(net::getParameterName(model, body.getArgument(i)));
    auto type = cast<RankedTensorType>(body.getArgument(i).getType());
    auto group = llvm::find_if(report.parameters, [&](const auto &group) {
      return group.name == purpose;
    });
    if (group == report.parameters.end())
      group = report.parameters.insert(group, {purpose.str(), 0, 0});
    ++group->tensors;
    group->elements += type.getNumElements();
  }
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

CheckReport::Site &ReportCollector::siteNamed(StringRef name) {
  for (CheckReport::Site &site : report.sites)
    if (site.name == name)
      return site;
  report.sites.push_back({name.str(), {}, {}});
  return report.sites.back();
}

/// The sublayer that computed `value`, by the name of its last weight.
std::string ReportCollector::producerName(Value value) {
  if (value.getDefiningOp<net::EmbeddingOp>())
    return "embedding";
  if (auto linear = value.getDefiningOp<net::LinearOp>()) {
    StringRef name = net::getParameterName(model, linear.getWeight());
    if (name.consume_back(".o.weight") || name.consume_back(".down.weight"))
      return name.str();
  }
  Operation *op = value.getDefiningOp();
  return op ? op->getName().getStringRef().str() : "an argument";
}

/// Notes what is summed in `sum`, unless it was noted before.
void ReportCollector::addBlock(StringRef name, Value sum) {
  if (llvm::any_of(report.blocks,
                   [&](const auto &block) { return block.name == name; }))
    return;
  std::vector<std::string> sublayers;
  SmallVector<Value> pending = {sum};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto add = value.getDefiningOp<net::AddOp>())
      pending.append({add.getRight(), add.getLeft()});
    else
      sublayers.push_back(producerName(value));
  }
  report.blocks.push_back({name.str(), std::move(sublayers)});
}

void ReportCollector::addSources(CheckReport::Site &site, OperandRange closed,
                                 Value partial) {
  if (!site.sources.empty())
    return; // several reads at one site read one list
  site.sources.push_back("embedding");
  for (auto [index, source] : llvm::enumerate(closed.drop_front())) {
    site.sources.push_back("block " + std::to_string(index));
    addBlock(site.sources.back(), source);
  }
  if (partial)
    site.sources.push_back("partial");
}

void ReportCollector::addRoute(depth::RouteOp route) {
  CheckReport::Site &site =
      siteNamed(route.getSite().value_or("route without a site"));
  for (size_t i = 0, e = route.getQueries().size(); i < e; ++i) {
    std::string group = "query " + std::to_string(i);
    if (route.getGroups())
      group = cast<StringAttr>((*route.getGroups())[i]).str();
    site.reads.push_back({group, route.getRepeated() ? "repeat" : "learned"});
  }
  addSources(site, route.getClosed(), route.getPartial());
}

void ReportCollector::addStaticRead(depth::StaticReadOp read) {
  CheckReport::Site &site =
      siteNamed(read.getSite().value_or("static read without a site"));
  for (size_t i = 0, e = read.getMixtures().size(); i < e; ++i) {
    std::string group = "mixture " + std::to_string(i);
    if (read.getGroups())
      group = cast<StringAttr>((*read.getGroups())[i]).str();
    site.reads.push_back({group, "static"});
  }
  addSources(site, read.getClosed(), read.getPartial());
}

void ReportCollector::addFixedRead(depth::FixedReadOp read) {
  CheckReport::Site &site =
      siteNamed(read.getSite().value_or("fixed read without a site"));
  site.reads.push_back({read.getGroup().value_or("all").str(),
                        depth::stringifyFixedRule(read.getRule()).str()});
  addSources(site, read.getClosed(), read.getPartial());
}

/// A sublayer without routes reads the sum of all that came before.
void ReportCollector::addPlainRead(net::RMSNormOp norm) {
  StringRef name = net::getParameterName(model, norm.getWeight());
  if (!name.consume_back(".norm.weight") ||
      isa_and_nonnull<depth::RouteOp, depth::StaticReadOp, depth::FixedReadOp>(
          norm.getInput().getDefiningOp()))
    return;
  CheckReport::Site &site = siteNamed(name);
  site.reads.push_back({"all", "sum"});
  site.sources.push_back("residual");
}

void ReportCollector::collectSites() {
  Value lastPartial;
  for (Operation &op : body) {
    if (auto route = dyn_cast<depth::RouteOp>(op)) {
      addRoute(route);
      lastPartial = route.getPartial();
    } else if (auto read = dyn_cast<depth::StaticReadOp>(op)) {
      addStaticRead(read);
      lastPartial = read.getPartial();
    } else if (auto read = dyn_cast<depth::FixedReadOp>(op)) {
      addFixedRead(read);
    } else if (auto norm = dyn_cast<net::RMSNormOp>(op)) {
      addPlainRead(norm);
    }
  }
  if (lastPartial)
    addBlock("partial", lastPartial);
}

CheckReport isobath::makeCheckReport(const LoadedModel &loaded) {
  CheckReport report;
  report.name = loaded.name;
  report.train = loaded.train;
  ModuleOp module = loaded.module.get();
  ReportCollector(module.lookupSymbol<func::FuncOp>("model"), report).collect();
  return report;
}
