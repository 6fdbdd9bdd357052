//===- BatchAdjoints.cpp - Sources' gradients once for a block ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
};

/// Ops over the same closed sources that become one, in their order.
using Group = SmallVector<RouteAdjointDeferredOp>;
} // namespace

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

/// Whether the last of `ops` can do what all of them do.
static bool canJoin(ArrayRef<RouteAdjointDeferredOp> ops,
                    ArrayRef<Operation *> users) {
  RouteAdjointDeferredOp last = ops.back();
  for (RouteAdjointDeferredOp op : ops.drop_back())
    for (auto [gradient, lastGradient] :
         llvm::zip_equal(op.getClosedGradients(), last.getClosedGradients()))
      if (!isSummedUpWith(gradient, lastGradient))
        return false;
  return llvm::none_of(last->getOperands(), [&](Value operand) {
    return llvm::is_contained(users, operand.getDefiningOp());
  });
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

static void join(ArrayRef<RouteAdjointDeferredOp> ops,
                 ArrayRef<Operation *> users) {
  RouteAdjointDeferredOp last = ops.back();
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
      last.getClosed(), weights, logits, dots, last.getRstd());

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
  for (RouteAdjointDeferredOp op : ops.drop_back())
    for (Value gradient : op.getClosedGradients())
      leaveOut(gradient);
  for (auto [old, gradient] :
       llvm::zip_equal(last.getClosedGradients(), joined.getClosedGradients()))
    old.replaceAllUsesWith(gradient);
  for (RouteAdjointDeferredOp op : ops)
    op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
/// What adjoints that can be joined have in common.
struct Reading {
  std::vector<const void *> closed;
  const void *epsilon; // of r
  int64_t heads;

  bool operator<(const Reading &other) const {
    return std::tie(closed, epsilon, heads) <
           std::tie(other.closed, other.epsilon, other.heads);
  }
};
} // namespace

/// Nothing if it cannot be told where r comes from.
static std::optional<Reading> getReading(RouteAdjointDeferredOp op) {
  Reading reading;
  for (Value source : op.getClosed())
    reading.closed.push_back(source.getAsOpaquePointer());
  Value rstd = op.getRstd();
  if (auto route = rstd.getDefiningOp<depth::RouteOp>())
    reading.epsilon = route.getEpsilonAttr().getAsOpaquePointer();
  else if (auto partial = rstd.getDefiningOp<depth::PartialOp>())
    reading.epsilon = partial.getEpsilonAttr().getAsOpaquePointer();
  else
    return std::nullopt;
  auto dots = cast<RankedTensorType>(op.getDots().front().getType());
  reading.heads = dots.getShape().back();
  return reading;
}

/// The ops that can be joined, as far as their operands tell.
static SmallVector<Group> findGroups(Block &block) {
  std::map<Reading, size_t> numbers;
  SmallVector<Group> groups;
  for (auto op : block.getOps<RouteAdjointDeferredOp>()) {
    std::optional<Reading> reading = getReading(op);
    if (!reading)
      continue;
    auto [entry, isNew] = numbers.insert({*reading, groups.size()});
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(op);
  }
  return groups;
}

void BatchAdjoints::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      for (Group group : findGroups(block)) {
        int64_t sources = group.front().getClosed().size(),
                routes = group.size();
        if (!isBackwardBatched(schedule, {sources, routes, sourceBytes}))
          continue;
        for (ArrayRef<RouteAdjointDeferredOp> batch :
             routing::divide(ArrayRef(group))) {
          SmallVector<Operation *> users = findUsersOfQueryGradients(batch);
          if (batch.size() > 1 && canJoin(batch, users))
            join(batch, users);
        }
      }
}
