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

//===----------------------------------------------------------------------===//
// Batching
//===----------------------------------------------------------------------===//

/// Gives the adjoints of `route` its statistics from `partial`, from query
/// `first` on, and `merge`, which is null for a route without a partial.
static void replaceStatistics(RewriterBase &rewriter, RouteOp route,
                              PartialOp partial, int64_t first, MergeOp merge) {
  llvm::SetVector<Operation *> adjoints;
  for (Value statistics : {Value(route.getWeights()), Value(route.getLogits()),
                           Value(route.getRstd())})
    adjoints.insert(statistics.user_begin(), statistics.user_end());
  for (Operation *adjoint : adjoints) {
    Value weights, logits, rstd;
    if (merge && isa<RouteAdjointLocalOp>(adjoint)) {
      weights = merge.getWeights();
      logits = merge.getLogits();
      rstd = merge.getRstd();
    } else {
      rewriter.setInsertionPoint(adjoint);
      auto statistics = ClosedStatisticsOp::create(
          rewriter, route.getLoc(), partial.getLse(), partial.getLogits(),
          merge ? merge.getWeights() : Value(), route.getQueries().size(),
          first);
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
}

/// Replaces `route`, whose queries are those of `partial` from `first` on.
static void replace(RewriterBase &rewriter, RouteOp route, PartialOp partial,
                    int64_t first) {
  ValueRange closedMixes =
      ValueRange(partial.getMixes()).slice(first, route.getQueries().size());
  MergeOp merge;
  if (Value openBlock = route.getPartial()) {
    rewriter.setInsertionPoint(route);
    merge = MergeOp::create(
        rewriter, route.getLoc(), route.getQueries(), closedMixes, openBlock,
        partial.getLse(), route.getEpsilonAttr(),
        rewriter.getI64IntegerAttr(first), route.getRepeatedAttr());
  }
  replaceStatistics(rewriter, route, partial, first, merge);
  rewriter.replaceAllUsesWith(route.getMixes(),
                              merge ? merge.getMixes() : closedMixes);
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
  SmallVector<Group> groups = findGroups(block);
  for (Group &group : groups) {
    if (group.routes.empty())
      continue;
    routing::RouteGroup reads = getGroup(group.routes);
    routing::Decision decision = decideForward(schedule, reads, machine);
    if (!decision.batched) {
      remarks.notBatched(routing::asOperations(group.routes), "read", reads,
                         decision);
      continue;
    }
    batchAll(group.routes);
    // By the same arithmetic as those that they repeat, for the same bits.
    batchAll(group.repeated);
  }
}

void BatchRoutes::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      runOnBlock(block);
}
