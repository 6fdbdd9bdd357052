//===- RoutingRemarks.cpp - What was shared and batched, and what not -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutingRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::routing;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The names of the reads that `op` is, or is an adjoint of.
static void addSites(Operation *op, SmallVectorImpl<StringRef> &sites) {
  auto add = [&](std::optional<StringRef> name, StringRef otherwise) {
    StringRef site = name.value_or(otherwise);
    if (!llvm::is_contained(sites, site))
      sites.push_back(site);
  };
  auto addRoute = [&](depth::RouteOp route) {
    add(route ? route.getSite() : std::nullopt, "a route without a site");
  };
  if (auto adjoint = dyn_cast<depth::RouteAdjointDeferredOp>(op))
    for (Value weights : adjoint.getWeights())
      addRoute(weights.getDefiningOp<depth::RouteOp>());
  else if (auto read = dyn_cast<depth::StaticReadOp>(op))
    add(read.getSite(), "a static read without a site");
  else if (auto read = dyn_cast<depth::FixedReadOp>(op))
    add(read.getSite(), "a fixed read without a site");
  else
    addRoute(dyn_cast<depth::RouteOp>(op));
}

static std::string describeSites(ArrayRef<Operation *> ops) {
  SmallVector<StringRef> sites;
  for (Operation *op : ops)
    addSites(op, sites);
  return llvm::join(sites, ", ");
}

static int64_t getWidth(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResultTypes().front());
  return type.getShape().back();
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

remark::RemarkOpts RoutingRemarks::getOptions(StringRef name,
                                              Operation *op) const {
  return remark::RemarkOpts::name(name).category(pass).function(
      op->getParentOfType<func::FuncOp>().getName());
}

remark::detail::InFlightRemark
RoutingRemarks::passed(StringRef name, ArrayRef<Operation *> ops) const {
  auto remark =
      remark::passed(ops.front()->getLoc(), getOptions(name, ops.front()));
  if (remark)
    remark << remark::metric("Sites", describeSites(ops));
  return remark;
}

remark::detail::InFlightRemark
RoutingRemarks::missed(StringRef name, ArrayRef<Operation *> ops) const {
  auto remark =
      remark::missed(ops.front()->getLoc(), getOptions(name, ops.front()));
  if (remark)
    remark << remark::metric("Sites", describeSites(ops));
  return remark;
}

static std::string describeSources(const RouteGroup &group) {
  return llvm::formatv("{0} source{1}", group.sources,
                       group.sources == 1 ? "" : "s");
}

static std::string describe(const Traffic &traffic, int64_t width) {
  std::string text =
      llvm::formatv("{0} bytes", static_cast<int64_t>(traffic.bytes() * width));
  if (traffic.written > 0)
    text += llvm::formatv(" ({0} written)",
                          static_cast<int64_t>(traffic.written * width));
  return text;
}

/// What a decision was made from: bytes that a token moves.
static std::string describe(const Decision &decision, int64_t width) {
  return llvm::formatv("saves {0} a token and adds {1}",
                       describe(decision.saved, width),
                       describe(decision.added, width));
}

void RoutingRemarks::batched(ArrayRef<Operation *> ops, StringRef what,
                             const RouteGroup &group,
                             const Decision &decision) const {
  auto remark = passed("Batched", ops);
  if (remark)
    remark << remark::add("{0} routes {1} {2} together, which {3}{4}",
                          ops.size(), what.str(), describeSources(group),
                          describe(decision, getWidth(ops.front())),
                          decision.isAskedFor ? ", as the schedule asks" : "");
}

void RoutingRemarks::notBatched(ArrayRef<Operation *> ops, StringRef what,
                                const RouteGroup &group,
                                const Decision &decision) const {
  auto remark = missed("NotBatched", ops);
  if (!remark)
    return;
  if (ops.size() < 2) {
    remark << remark::reason("no other route can {0} its sources with it",
                             what.str());
    return;
  }
  remark << remark::reason("{0} that {1} routes {2} {3} together {4}",
                           decision.isAskedFor
                               ? "the schedule asks for each by itself:"
                               : "it would cost more:",
                           ops.size(), what.str(), describeSources(group),
                           describe(decision, getWidth(ops.front())));
}
