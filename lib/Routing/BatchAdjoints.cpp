//===- BatchAdjoints.cpp - Sources' gradients once for a block ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutingRemarks.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Routing/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace isobath {
#define GEN_PASS_DEF_BATCHADJOINTS
#include "isobath/Routing/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using depth::RouteAdjointDeferredOp;

namespace {
struct BatchAdjoints : isobath::impl::BatchAdjointsBase<BatchAdjoints> {
  using BatchAdjointsBase::BatchAdjointsBase;
  void runOnOperation() override;

private:
  void runOnBlock(Block &block);
};
} // namespace

static constexpr routing::RoutingRemarks remarks("isobath-batch-adjoints");
/// What an op does to its closed sources, in remarks.
static constexpr StringLiteral what = "add to the gradients of";

//===----------------------------------------------------------------------===//
// Whether ops can be joined
//===----------------------------------------------------------------------===//

/// Whether `value` is added to something that, through additions alone, reaches
/// the addition of `last`: then that may add both. Two unused values do.
static bool isSummedUpWith(Value value, Value last) {
  if (last.use_empty())
    return value.use_empty();
  while (value.hasOneUse()) {
    auto sum = dyn_cast<net::AddOp>(*value.user_begin());
    if (!sum)
      return false;
    if (sum.getLeft() == last || sum.getRight() == last)
      return last.hasOneUse();
    value = sum;
  }
  return false;
}

/// The ops in front of the last of `ops` that use their queries' gradients, or
/// what is made of those, in their order.
static SmallVector<Operation *>
findUsersOfQueryGradients(ArrayRef<RouteAdjointDeferredOp> ops) {
  llvm::SetVector<Operation *> users;
  auto addUsers = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (user->isBeforeInBlock(ops.back()))
        users.insert(user);
  };
  for (RouteAdjointDeferredOp op : ops)
    for (Value gradient : op.getQueryGradients())
      addUsers(gradient);
  for (size_t i = 0; i < users.size(); ++i)
    for (Value result : users[i]->getResults())
      addUsers(result);
  SmallVector<Operation *> ordered(users.begin(), users.end());
  llvm::sort(ordered, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return ordered;
}

/// Why the last of `ops` cannot do what all of them do to its closed sources,
/// which are the first ones of all; empty if it can.
static StringRef findObstacle(ArrayRef<RouteAdjointDeferredOp> ops,
                              ArrayRef<Operation *> users) {
  RouteAdjointDeferredOp last = ops.back();
  for (RouteAdjointDeferredOp op : ops.drop_back())
    for (auto [gradient, lastGradient] :
         llvm::zip(op.getClosedGradients(), last.getClosedGradients()))
      if (!isSummedUpWith(gradient, lastGradient))
        return "a source's gradient is needed between them";
  if (llvm::any_of(last->getOperands(), [&](Value operand) {
        return llvm::is_contained(users, operand.getDefiningOp());
      }))
    return "the last one needs what is made of a query's gradient";
  return "";
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Leaves `value` out of the sum that it is a term of.
static void leaveOut(Value value) {
  if (value.use_empty())
    return;
  auto sum = cast<net::AddOp>(*value.user_begin());
  sum.replaceAllUsesWith(sum.getLeft() == value ? sum.getRight()
                                                : sum.getLeft());
  sum.erase();
}

/// Makes two ops of `op`: one for its first `count` sources, which is returned,
/// and one for the others, which have been born since.
static RouteAdjointDeferredOp split(RouteAdjointDeferredOp op, size_t count) {
  OpBuilder builder(op);
  auto create = [&](ValueRange closed, bool newest) {
    return RouteAdjointDeferredOp::create(
        builder, op.getLoc(), op.getQueries(), op.getGradients(), closed,
        op.getWeights(), op.getLogits(), op.getDots(), op.getRstd(), newest);
  };
  ValueRange closed = op.getClosed();
  RouteAdjointDeferredOp older = create(closed.take_front(count), false),
                         newer = create(closed.drop_front(count), true);
  SmallVector<Value> gradients(older.getClosedGradients());
  llvm::append_range(gradients, newer.getClosedGradients());
  for (auto [ofNewer, ofOlder] :
       llvm::zip_equal(newer.getQueryGradients(), older.getQueryGradients()))
    gradients.push_back(
        net::AddOp::create(builder, op.getLoc(), ofNewer, ofOlder));
  op.replaceAllUsesWith(gradients);
  op.erase();
  return older;
}

/// Makes one op of what `ops` do to the closed sources of the last of them.
static void join(ArrayRef<RouteAdjointDeferredOp> originals) {
  RouteAdjointDeferredOp last = originals.back();
  size_t sources = last.getClosed().size();
  SmallVector<RouteAdjointDeferredOp> ops;
  for (RouteAdjointDeferredOp op : originals)
    ops.push_back(op.getClosed().size() > sources ? split(op, sources) : op);
  SmallVector<Operation *> users = findUsersOfQueryGradients(ops);
  SmallVector<Value> queries, gradients, weights, logits, dots;
  SmallVector<Location> locations;
  for (RouteAdjointDeferredOp op : ops) {
    llvm::append_range(queries, op.getQueries());
    llvm::append_range(gradients, op.getGradients());
    llvm::append_range(weights, op.getWeights());
    llvm::append_range(logits, op.getLogits());
    llvm::append_range(dots, op.getDots());
    locations.push_back(op.getLoc());
  }
  OpBuilder builder(last);
  auto joined = RouteAdjointDeferredOp::create(
      builder, builder.getFusedLoc(locations), queries, gradients,
      last.getClosed(), weights, logits, dots, last.getRstd(),
      /*newest=*/false);

  ValueRange queryGradients = joined.getQueryGradients();
  for (RouteAdjointDeferredOp op : ops) {
    size_t count = op.getQueries().size();
    for (auto [old, gradient] : llvm::zip_equal(
             op.getQueryGradients(), queryGradients.take_front(count)))
      old.replaceAllUsesWith(gradient);
    queryGradients = queryGradients.drop_front(count);
  }
  Operation *place = joined;
  for (Operation *user : users) {
    user->moveAfter(place);
    place = user;
  }
  for (RouteAdjointDeferredOp op : ArrayRef(ops).drop_back())
    for (Value gradient : op.getClosedGradients())
      leaveOut(gradient);
  for (auto [old, gradient] :
       llvm::zip_equal(last.getClosedGradients(), joined.getClosedGradients()))
    old.replaceAllUsesWith(gradient);
  for (RouteAdjointDeferredOp op : ops)
    op.erase();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// What ops that can be joined have in common.
struct Reading {
  std::vector<const void *> closed;
  const void *epsilon; // of r
  int64_t heads;

  bool operator<(const Reading &other) const {
    return std::tie(closed, epsilon, heads) <
           std::tie(other.closed, other.epsilon, other.heads);
  }
  /// Whether `other` reads these sources, and later ones.
  bool isContinuedBy(const Reading &other) const {
    return epsilon == other.epsilon && heads == other.heads &&
           closed.size() < other.closed.size() &&
           std::equal(closed.begin(), closed.end(), other.closed.begin());
  }
};

struct Group {
  Reading reading;
  SmallVector<RouteAdjointDeferredOp> ops; // in their order
};
} // namespace

/// Nothing if it cannot be told where r comes from.
static std::optional<Reading> getReading(RouteAdjointDeferredOp op) {
  Reading reading;
  for (Value source : op.getClosed())
    reading.closed.push_back(source.getAsOpaquePointer());
  FloatAttr epsilon;
  if (auto route = op.getRstd().getDefiningOp<depth::RouteOp>())
    epsilon = route.getEpsilonAttr();
  else if (auto partial = op.getRstd().getDefiningOp<depth::PartialOp>())
    epsilon = partial.getEpsilonAttr();
  if (!epsilon || op.getNewest())
    return std::nullopt;
  reading.epsilon = epsilon.getAsOpaquePointer();
  auto dots = cast<RankedTensorType>(op.getDots().front().getType());
  reading.heads = dots.getShape().back();
  return reading;
}

/// The ops over the same closed sources.
static SmallVector<Group> findGroups(Block &block) {
  std::map<Reading, size_t> numbers;
  SmallVector<Group> groups;
  for (auto op : block.getOps<RouteAdjointDeferredOp>()) {
    std::optional<Reading> reading = getReading(op);
    if (!reading) {
      remarks.missed("NotBatched", op.getOperation())
          << remark::reason("it cannot be told where r comes from");
      continue;
    }
    auto [entry, isNew] = numbers.insert({*reading, groups.size()});
    if (isNew)
      groups.push_back({*reading, {}});
    groups[entry->second].ops.push_back(op);
  }
  return groups;
}

/// Whether the op's sources are all that its routes read.
static bool hasAllSources(RouteAdjointDeferredOp op) {
  return llvm::all_of(op.getWeights(), [&](Value weights) {
    auto type = cast<RankedTensorType>(weights.getType());
    return type.getShape().back() ==
           static_cast<int64_t>(op.getClosed().size());
  });
}

/// Joins groups of one op, each of which reads what the next one does and more:
/// routes each of which closes a block. Returns where such groups begin.
static SmallVector<Group> findChains(SmallVector<Group> groups) {
  SmallVector<Group> chains;
  for (Group &group : groups) {
    if (group.ops.size() != 1 || !hasAllSources(group.ops.front())) {
      chains.emplace_back(); // ends one
      continue;
    }
    if (chains.empty() || chains.back().ops.empty() ||
        !group.reading.isContinuedBy(chains.back().reading))
      chains.emplace_back();
    chains.back().ops.push_back(group.ops.front());
    chains.back().reading = group.reading;
  }
  return chains;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void BatchAdjoints::runOnBlock(Block &block) {
  routing::Machine machine = {readCost, writeCost, mostRoutes};
  auto getGroup =
      [&](ArrayRef<RouteAdjointDeferredOp> ops) -> routing::RouteGroup {
    RouteAdjointDeferredOp last = ops.back();
    int64_t sources = last.getClosed().size(), routes = ops.size();
    return {sources, routes, sourceBytes};
  };
  auto joinIfPossible = [&](ArrayRef<RouteAdjointDeferredOp> ops) {
    if (ops.size() < 2)
      return;
    SmallVector<Operation *> operations = routing::asOperations(ops);
    StringRef obstacle = findObstacle(ops, findUsersOfQueryGradients(ops));
    if (!obstacle.empty()) {
      remarks.missed("NotBatched", operations)
          << remark::reason("{0}", obstacle);
      return;
    }
    routing::RouteGroup group = getGroup(ops);
    remarks.batched(operations, what, group,
                    decideBackward(schedule, group, machine));
    join(ops);
  };
  /// Whether `ops` are to be joined; says so if they are not.
  auto isBatched = [&](ArrayRef<RouteAdjointDeferredOp> ops) {
    routing::RouteGroup group = getGroup(ops);
    routing::Decision decision = decideBackward(schedule, group, machine);
    if (!decision.batched)
      remarks.notBatched(routing::asOperations(ops), what, group, decision);
    return decision.batched;
  };
  SmallVector<Group> groups = findGroups(block);
  for (Group &group : groups)
    if ((group.ops.size() > 1 || !hasAllSources(group.ops.front())) &&
        isBatched(group.ops))
      for (ArrayRef<RouteAdjointDeferredOp> batch :
           routing::divide(ArrayRef(group.ops), mostRoutes))
        joinIfPossible(batch);
  for (Group &chain : findChains(groups))
    for (ArrayRef<RouteAdjointDeferredOp> batch :
         routing::divideChain(ArrayRef(chain.ops), mostRoutes))
      if (isBatched(batch))
        joinIfPossible(batch);
}

void BatchAdjoints::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      runOnBlock(block);
}
