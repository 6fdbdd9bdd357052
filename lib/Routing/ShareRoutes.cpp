//===- ShareRoutes.cpp - One route where several read the same sources ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutingRemarks.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Routing/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace isobath {
#define GEN_PASS_DEF_SHAREROUTES
#include "isobath/Routing/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using depth::RouteOp;

namespace {
struct ShareRoutes : isobath::impl::ShareRoutesBase<ShareRoutes> {
  void runOnOperation() override;
};

/// What routes have in common that can be one: all but their queries.
using Reading = std::vector<const void *>;
} // namespace

static constexpr routing::RoutingRemarks remarks("isobath-share-routes");

static Reading getReading(RouteOp route) {
  Reading reading;
  for (Value source : route.getClosed())
    reading.push_back(source.getAsOpaquePointer());
  llvm::append_values(reading, route.getPartial().getAsOpaquePointer(),
                      route.getHeadsAttr().getAsOpaquePointer(),
                      route.getEpsilonAttr().getAsOpaquePointer());
  return reading;
}

/// Statistics have a plane for each query: those of another set of queries are
/// others.
static bool canShare(RouteOp route) {
  return !route.getRepeated() && route.getWeights().use_empty() &&
         route.getLogits().use_empty() && route.getRstd().use_empty();
}

/// One route, where the first of `routes` stands, with the queries of all of
/// them, each once.
static RouteOp merge(RewriterBase &rewriter, ArrayRef<RouteOp> routes) {
  RouteOp first = routes.front();
  // The queries, with the names of those that they stand for; and the sites.
  llvm::MapVector<Value, std::string> queries;
  SmallVector<StringRef> sites;
  SmallVector<Location> locations;
  bool isNamed = true;
  for (RouteOp route : routes) {
    locations.push_back(route.getLoc());
    for (auto [number, query] : llvm::enumerate(route.getQueries())) {
      std::string &name = queries[query];
      if (auto groups = route.getGroupsAttr())
        name += cast<StringAttr>(groups[number]).getValue();
      else
        isNamed = false;
    }
    if (auto site = route.getSite(); site && !llvm::is_contained(sites, *site))
      sites.push_back(*site);
  }
  SmallVector<Value> values;
  SmallVector<StringRef> names;
  for (auto &[query, name] : queries) {
    values.push_back(query);
    names.push_back(name);
  }

  rewriter.setInsertionPoint(first);
  auto merged = RouteOp::create(
      rewriter, rewriter.getFusedLoc(locations), values, first.getClosed(),
      first.getPartial(), first.getHeadsAttr(), first.getEpsilonAttr(),
      /*repeated=*/UnitAttr(),
      sites.empty() ? StringAttr()
                    : rewriter.getStringAttr(llvm::join(sites, ", ")),
      isNamed ? rewriter.getStrArrayAttr(names) : ArrayAttr());
  for (RouteOp route : routes) {
    for (auto [query, mix] :
         llvm::zip_equal(route.getQueries(), route.getMixes())) {
      size_t place = std::distance(queries.begin(), queries.find(query));
      rewriter.replaceAllUsesWith(mix, merged.getMixes()[place]);
    }
    rewriter.eraseOp(route);
  }
  return merged;
}

static bool hasEqualQueries(RouteOp route) {
  llvm::SmallPtrSet<Value, 4> seen;
  return llvm::any_of(route.getQueries(),
                      [&](Value query) { return !seen.insert(query).second; });
}

/// Makes one route of `route` and `earlier`, which read the same; or, if
/// `earlier` is null or that is not possible, of the equal queries of `route`.
/// Returns the route that later ones may become part of.
static RouteOp share(RewriterBase &rewriter, DominanceInfo &dominance,
                     RouteOp earlier, RouteOp route) {
  if (earlier) {
    if (succeeded(moveValueDefinitions(rewriter, route.getQueries(), earlier,
                                       dominance))) {
      remarks.passed("Shared", {earlier, route}) << remark::add(
          "one route where two would read the same {0} sources",
          route.getClosed().size() + (route.getPartial() ? 1 : 0));
      return merge(rewriter, {earlier, route});
    }
    remarks.missed("NotShared", {earlier, route}) << remark::reason(
        "the later one's query cannot be computed before the earlier one");
  }
  if (!hasEqualQueries(route))
    return route;
  size_t before = route.getQueries().size();
  auto remark = remarks.passed("Shared", route.getOperation());
  RouteOp merged = merge(rewriter, route);
  remark << remark::add("equal queries are one: {0} where {1} would be",
                        merged.getQueries().size(), before);
  return merged;
}

static void shareRoutes(RewriterBase &rewriter, Block &block) {
  DominanceInfo dominance;
  std::map<Reading, RouteOp> routes; // by what they read
  for (RouteOp route : llvm::make_early_inc_range(block.getOps<RouteOp>())) {
    if (!canShare(route))
      continue;
    RouteOp &earlier = routes[getReading(route)];
    earlier = share(rewriter, dominance, earlier, route);
  }
}

void ShareRoutes::runOnOperation() {
  IRRewriter rewriter(&getContext());
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      shareRoutes(rewriter, block);
}
