//===- BatchRoutes.cpp - Closed sources once for a block ------------------===//
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
#include "llvm/ADT/SetVector.h"
#include <map>

namespace isobath {
#define GEN_PASS_DEF_BATCHROUTES
#include "isobath/Routing/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::depth;

namespace {
struct BatchRoutes : isobath::impl::BatchRoutesBase<BatchRoutes> {
  using BatchRoutesBase::BatchRoutesBase;
  void runOnOperation() override;

private:
  void runOnBlock(Block &block);
};

/// Routes over the same closed sources, in their order.
struct Group {
  SmallVector<RouteOp> routes;
  SmallVector<RouteOp> repeated;
};
} // namespace

static constexpr routing::RoutingRemarks remarks("isobath-batch-routes");

//===----------------------------------------------------------------------===//
// What can be batched
//===----------------------------------------------------------------------===//

/// Whether all that uses the statistics is adjoints, which can have them from
/// elsewhere.
static bool canBatch(RouteOp route) {
  auto areForAdjoints = [](Value statistics) {
    return llvm::all_of(
        statistics.getUsers(),
        llvm::IsaPred<RouteAdjointLocalOp, RouteAdjointDeferredOp>);
  };
  return areForAdjoints(route.getWeights()) &&
         areForAdjoints(route.getLogits()) && areForAdjoints(route.getRstd());
}

static SmallVector<Group> findGroups(Block &block) {
  using Reading = std::vector<const void *>;
  std::map<Reading, size_t> numbers;
  SmallVector<Group> groups;
  for (auto route : block.getOps<RouteOp>()) {
    if (!canBatch(route)) {
      remarks.missed("NotBatched", route.getOperation())
          << remark::reason("its statistics are used by more than adjoints");
      continue;
    }
    Reading reading;
    for (Value source : route.getClosed())
      reading.push_back(source.getAsOpaquePointer());
    llvm::append_values(reading, route.getHeadsAttr().getAsOpaquePointer(),
                        route.getEpsilonAttr().getAsOpaquePointer());
    auto [entry, isNew] = numbers.insert({reading, groups.size()});
    if (isNew)
      groups.emplace_back();
    Group &group = groups[entry->second];
    (route.getRepeated() ? group.repeated : group.routes).push_back(route);
  }
  return groups;
}

namespace {
/// Routes of one group each, in their order: each reads what the one before
/// does, and what was born since. So it is where every sublayer is a block.
struct Chain {
  SmallVector<RouteOp> routes;
  SmallVector<RouteOp> repeated; // as many, or none
};
} // namespace

static bool canBeInChain(const Group &group) {
  return group.routes.size() == 1 && group.repeated.size() <= 1 &&
         !RouteOp(group.routes.front()).getPartial();
}

static bool continues(RouteOp route, RouteOp earlier) {
  OperandRange closed = route.getClosed(), older = earlier.getClosed();
  return route.getHeadsAttr() == earlier.getHeadsAttr() &&
         route.getEpsilonAttr() == earlier.getEpsilonAttr() &&
         closed.size() > older.size() &&
         closed.take_front(older.size()) == older;
}

static SmallVector<Chain> findChains(ArrayRef<Group> groups) {
  SmallVector<Chain> chains;
  for (const Group &group : groups) {
    if (!canBeInChain(group))
      continue;
    RouteOp route = group.routes.front();
    bool startsOne = chains.empty() ||
                     !continues(route, chains.back().routes.back()) ||
                     chains.back().repeated.empty() != group.repeated.empty();
    Chain &chain = startsOne ? chains.emplace_back() : chains.back();
    chain.routes.push_back(route);
    llvm::append_range(chain.repeated, group.repeated);
  }
  return chains;
}

//===----------------------------------------------------------------------===//
// Batching
//===----------------------------------------------------------------------===//

namespace {
/// What became of a route: the first `closed` sources are read by `partial`,
/// whose queries from `first` on are the route's; the others, and the partial
/// sum, by one of the other two, or there are none.
struct TwoPhases {
  RouteOp route;
  PartialOp partial;
  int64_t first;
  MergeOp merge;
  ExtendOp extend;
};
} // namespace

/// Gives `adjoint`, which uses the route's statistics, those of its phases.
static void replaceStatistics(RewriterBase &rewriter, TwoPhases phases,
                              Operation *adjoint) {
  RouteOp route = phases.route;
  PartialOp partial = phases.partial;
  MergeOp merge = phases.merge;
  ExtendOp extend = phases.extend;
  int64_t first = phases.first;
  Value weights, logits, rstd;
  if (merge && isa<RouteAdjointLocalOp>(adjoint)) {
    weights = merge.getWeights();
    logits = merge.getLogits();
    rstd = merge.getRstd();
  } else if (rewriter.setInsertionPoint(adjoint); extend) {
    auto statistics = ExtendedStatisticsOp::create(
        rewriter, route.getLoc(), partial.getLse(), partial.getLogits(),
        partial.getRstd(), extend.getWeights(), extend.getLogits(),
        extend.getRstd(), first);
    weights = statistics.getWeights();
    logits = statistics.getAllLogits();
    rstd = statistics.getAllRstd();
  } else {
    auto statistics = ClosedStatisticsOp::create(
        rewriter, route.getLoc(), partial.getLse(), partial.getLogits(),
        merge ? merge.getWeights() : Value(), route.getQueries().size(), first);
    weights = statistics.getWeights();
    logits = statistics.getClosedLogits();
    rstd = partial.getRstd();
  }
  rewriter.modifyOpInPlace(adjoint, [&] {
    adjoint->replaceUsesOfWith(route.getWeights(), weights);
    adjoint->replaceUsesOfWith(route.getLogits(), logits);
    adjoint->replaceUsesOfWith(route.getRstd(), rstd);
  });
}

/// Replaces `route`, whose queries are those of `partial` from `first` on.
static void replace(RewriterBase &rewriter, RouteOp route, PartialOp partial,
                    int64_t first) {
  TwoPhases phases{route, partial, first, {}, {}};
  ValueRange olderMixes =
      ValueRange(partial.getMixes()).slice(first, route.getQueries().size());
  ValueRange newer = route.getClosed().drop_front(partial.getClosed().size());
  IntegerAttr firstQuery = rewriter.getI64IntegerAttr(first);
  ValueRange mixes = olderMixes;
  rewriter.setInsertionPoint(route);
  if (Value openBlock = route.getPartial()) {
    phases.merge = MergeOp::create(rewriter, route.getLoc(), route.getQueries(),
                                   olderMixes, openBlock, partial.getLse(),
                                   route.getEpsilonAttr(), firstQuery,
                                   route.getRepeatedAttr());
    mixes = phases.merge.getMixes();
  } else if (!newer.empty()) {
    phases.extend = ExtendOp::create(rewriter, route.getLoc(),
                                     route.getQueries(), olderMixes, newer,
                                     partial.getLse(), route.getEpsilonAttr(),
                                     firstQuery, route.getRepeatedAttr());
    mixes = phases.extend.getMixes();
  }
  llvm::SetVector<Operation *> adjoints;
  for (Value statistics : {Value(route.getWeights()), Value(route.getLogits()),
                           Value(route.getRstd())})
    adjoints.insert(statistics.user_begin(), statistics.user_end());
  for (Operation *adjoint : adjoints)
    replaceStatistics(rewriter, phases, adjoint);
  rewriter.replaceAllUsesWith(route.getMixes(), mixes);
  rewriter.eraseOp(route);
}

/// Batches `routes` as far as their queries can be computed in front of the
/// first one. Returns those that are.
static SmallVector<RouteOp> findBatch(RewriterBase &rewriter,
                                      DominanceInfo &dominance,
                                      ArrayRef<RouteOp> routes) {
  RouteOp first = routes.front();
  SmallVector<RouteOp> batch;
  for (RouteOp route : routes)
    if (route == first || succeeded(moveValueDefinitions(
                              rewriter, route.getQueries(), first, dominance)))
      batch.push_back(route);
    else
      remarks.missed("NotBatched", route.getOperation()) << remark::reason(
          "its query cannot be computed before the first route");
  return batch;
}

static void join(RewriterBase &rewriter, ArrayRef<RouteOp> routes) {
  RouteOp first = routes.front();
  SmallVector<Value> queries;
  SmallVector<Location> locations;
  for (RouteOp route : routes) {
    llvm::append_range(queries, route.getQueries());
    locations.push_back(route.getLoc());
  }
  rewriter.setInsertionPoint(first);
  auto partial = PartialOp::create(
      rewriter, rewriter.getFusedLoc(locations), queries, first.getClosed(),
      first.getHeadsAttr(), first.getEpsilonAttr(), first.getRepeatedAttr());
  int64_t next = 0;
  for (RouteOp route : routes) {
    int64_t count = route.getQueries().size();
    replace(rewriter, route, partial, next);
    next += count;
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void BatchRoutes::runOnBlock(Block &block) {
  routing::Machine machine = {readCost, writeCost, mostRoutes};
  IRRewriter rewriter(&getContext());
  DominanceInfo dominance;
  auto getGroup = [&](ArrayRef<RouteOp> routes) -> routing::RouteGroup {
    int64_t sources = RouteOp(routes.front()).getClosed().size(),
            count = routes.size();
    return {sources, count, sourceBytes};
  };
  auto batchAll = [&](ArrayRef<RouteOp> routes) {
    for (ArrayRef<RouteOp> part : routing::divide(routes, machine.mostRoutes)) {
      SmallVector<RouteOp> batch = findBatch(rewriter, dominance, part);
      routing::RouteGroup group = getGroup(batch);
      if (group.routes > 1)
        remarks.batched(routing::asOperations(batch), "read", group,
                        decideForward(schedule, group, machine));
      join(rewriter, batch);
    }
  };
  auto decide = [&](ArrayRef<RouteOp> routes) {
    routing::RouteGroup group = getGroup(routes);
    routing::Decision decision = decideForward(schedule, group, machine);
    if (!decision.batched)
      remarks.notBatched(routing::asOperations(routes), "read", group,
                         decision);
    return decision.batched;
  };
  SmallVector<Group> groups = findGroups(block);
  for (Group &group : groups) {
    if (group.routes.empty() || canBeInChain(group) || !decide(group.routes))
      continue;
    batchAll(group.routes);
    // By the same arithmetic as those that they repeat, for the same bits.
    batchAll(group.repeated);
  }
  for (Chain &chain : findChains(groups)) {
    ArrayRef<RouteOp> repeated = chain.repeated;
    for (ArrayRef<RouteOp> batch :
         routing::divideChain(ArrayRef(chain.routes), machine.mostRoutes)) {
      ArrayRef<RouteOp> repetitions;
      if (!repeated.empty()) {
        repetitions = repeated.take_front(batch.size());
        repeated = repeated.drop_front(batch.size());
      }
      if (!decide(batch))
        continue;
      batchAll(batch);
      batchAll(repetitions);
    }
  }
}

void BatchRoutes::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      runOnBlock(block);
}
