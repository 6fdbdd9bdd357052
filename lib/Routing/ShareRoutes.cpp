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
using depth::StaticReadOp;

namespace {
struct ShareRoutes : isobath::impl::ShareRoutesBase<ShareRoutes> {
  void runOnOperation() override;
};

/// What reads have in common that can be one: all but what they read with.
using Reading = std::vector<const void *>;

/// What one read is to be, where several stood.
struct Merged {
  Location loc;
  SmallVector<Value> queries; // or mixtures
  StringAttr site;
  ArrayAttr groups;
};
} // namespace

static constexpr routing::RoutingRemarks remarks("isobath-share-routes");

//===----------------------------------------------------------------------===//
// Routes and static reads
//===----------------------------------------------------------------------===//

// What a read has one of for each mix.
static ValueRange getQueries(RouteOp route) { return route.getQueries(); }
static ValueRange getQueries(StaticReadOp read) { return read.getMixtures(); }

static StringRef getKind(RouteOp) { return "route"; }
static StringRef getKind(StaticReadOp) { return "static read"; }
static StringRef getQueryKind(RouteOp) { return "query"; }
static StringRef getQueryKind(StaticReadOp) { return "mixture"; }
static StringRef getQueriesKind(RouteOp) { return "queries"; }
static StringRef getQueriesKind(StaticReadOp) { return "mixtures"; }

// Beside the sources.
static Reading getArithmetic(RouteOp route) {
  return {route.getHeadsAttr().getAsOpaquePointer(),
          route.getEpsilonAttr().getAsOpaquePointer()};
}
static Reading getArithmetic(StaticReadOp) { return {}; }

// Statistics have a plane for each query: those of another set of queries are
// others.
static bool canShare(RouteOp route) {
  return !route.getRepeated() && route.getWeights().use_empty() &&
         route.getLogits().use_empty() && route.getRstd().use_empty();
}
static bool canShare(StaticReadOp read) {
  return read.getWeights().use_empty();
}

static RouteOp create(OpBuilder &builder, RouteOp first, const Merged &merged) {
  return RouteOp::create(builder, merged.loc, merged.queries, first.getClosed(),
                         first.getPartial(), first.getHeadsAttr(),
                         first.getEpsilonAttr(), /*repeated=*/UnitAttr(),
                         merged.site, merged.groups);
}
static StaticReadOp create(OpBuilder &builder, StaticReadOp first,
                           const Merged &merged) {
  return StaticReadOp::create(builder, merged.loc, merged.queries,
                              first.getClosed(), first.getPartial(),
                              merged.site, merged.groups);
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

template <typename OpTy> static Reading getReading(OpTy read) {
  Reading reading = getArithmetic(read);
  for (Value source : read.getClosed())
    reading.push_back(source.getAsOpaquePointer());
  reading.push_back(Value(read.getPartial()).getAsOpaquePointer());
  return reading;
}

/// One read, where the first of `reads` stands, with the queries of all of
/// them, each once.
template <typename OpTy>
static OpTy merge(RewriterBase &rewriter, ArrayRef<OpTy> reads) {
  OpTy first = reads.front();
  // The queries, with the names of those that they stand for; and the sites.
  llvm::MapVector<Value, std::string> queries;
  SmallVector<StringRef> sites;
  SmallVector<Location> locations;
  bool isNamed = true;
  for (OpTy read : reads) {
    locations.push_back(read.getLoc());
    for (auto [number, query] : llvm::enumerate(getQueries(read))) {
      std::string &name = queries[query];
      if (auto groups = read.getGroupsAttr())
        name += cast<StringAttr>(groups[number]).getValue();
      else
        isNamed = false;
    }
    if (auto site = read.getSite(); site && !llvm::is_contained(sites, *site))
      sites.push_back(*site);
  }
  Merged all{rewriter.getFusedLoc(locations), {}, {}, {}};
  SmallVector<StringRef> names;
  for (auto &[query, name] : queries) {
    all.queries.push_back(query);
    names.push_back(name);
  }
  if (!sites.empty())
    all.site = rewriter.getStringAttr(llvm::join(sites, ", "));
  if (isNamed)
    all.groups = rewriter.getStrArrayAttr(names);

  rewriter.setInsertionPoint(first);
  OpTy merged = create(rewriter, first, all);
  for (OpTy read : reads) {
    for (auto [query, mix] :
         llvm::zip_equal(getQueries(read), read.getMixes())) {
      size_t place = std::distance(queries.begin(), queries.find(query));
      rewriter.replaceAllUsesWith(mix, merged.getMixes()[place]);
    }
    rewriter.eraseOp(read);
  }
  return merged;
}

static bool hasEqual(ValueRange queries) {
  llvm::SmallPtrSet<Value, 4> seen;
  return llvm::any_of(queries,
                      [&](Value query) { return !seen.insert(query).second; });
}

/// Makes one read of `read` and `earlier`, which read the same; or, if
/// `earlier` is null or that is not possible, of the equal queries of `read`.
/// Returns the read that later ones may become part of.
template <typename OpTy>
static OpTy share(RewriterBase &rewriter, DominanceInfo &dominance,
                  OpTy earlier, OpTy read) {
  if (earlier) {
    if (succeeded(moveValueDefinitions(rewriter, getQueries(read), earlier,
                                       dominance))) {
      remarks.passed("Shared", {earlier, read}) << remark::add(
          "one {0} where two would read the same {1} sources", getKind(read),
          read.getClosed().size() + (read.getPartial() ? 1 : 0));
      return merge<OpTy>(rewriter, {earlier, read});
    }
    remarks.missed("NotShared", {earlier, read}) << remark::reason(
        "the later one's {0} cannot be computed before the earlier one",
        getQueryKind(read));
  }
  if (!hasEqual(getQueries(read)))
    return read;
  size_t before = getQueries(read).size();
  auto remark = remarks.passed("Shared", read.getOperation());
  OpTy merged = merge<OpTy>(rewriter, read);
  remark << remark::add("equal {0} are one: {1} where {2} would be",
                        getQueriesKind(merged), getQueries(merged).size(),
                        before);
  return merged;
}

template <typename OpTy>
static void shareReads(RewriterBase &rewriter, Block &block) {
  DominanceInfo dominance;
  std::map<Reading, OpTy> reads; // by what they read
  for (OpTy read : llvm::make_early_inc_range(block.getOps<OpTy>())) {
    if (!canShare(read))
      continue;
    OpTy &earlier = reads[getReading(read)];
    earlier = share(rewriter, dominance, earlier, read);
  }
}

void ShareRoutes::runOnOperation() {
  IRRewriter rewriter(&getContext());
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody()) {
      shareReads<RouteOp>(rewriter, block);
      shareReads<StaticReadOp>(rewriter, block);
    }
}
