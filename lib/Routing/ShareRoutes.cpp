//===- ShareRoutes.cpp - One route where several read the same sources ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  bool isNamed = true;
  for (RouteOp route : routes) {
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
      rewriter, first.getLoc(), values, first.getClosed(), first.getPartial(),
      first.getHeadsAttr(), first.getEpsilonAttr(), /*repeated=*/UnitAttr(),
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

static void shareRoutes(RewriterBase &rewriter, Block &block) {
  DominanceInfo dominance;
  std::map<Reading, RouteOp> routes; // by what they read
  for (RouteOp route : llvm::make_early_inc_range(block.getOps<RouteOp>())) {
    if (!canShare(route))
      continue;
    RouteOp &earlier = routes[getReading(route)];
    if (earlier && succeeded(moveValueDefinitions(rewriter, route.getQueries(),
                                                  earlier, dominance)))
      earlier = merge(rewriter, {earlier, route});
    else
      earlier = hasEqualQueries(route) ? merge(rewriter, route) : route;
  }
}

void ShareRoutes::runOnOperation() {
  IRRewriter rewriter(&getContext());
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      shareRoutes(rewriter, block);
}
