//===- Gradients.cpp - Reverse-mode differentiation of straight-line code ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Differentiation/Gradients.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Differentiation/DifferentiableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace isobath;

#include "isobath/Differentiation/DifferentiableOpInterface.cpp.inc"

namespace {
/// The gradients known so far.
class GradientMap {
public:
  explicit GradientMap(OpBuilder &builder) : builder(builder) {}

  /// The gradient of `value`, null while it is zero.
  Value lookup(Value value) const { return gradients.lookup(value); }

  /// Adds one use's contribution.
  void add(Value value, Value contribution, Location loc) {
    Value &gradient = gradients[value];
    gradient = gradient
                   ? net::AddOp::create(builder, loc, gradient, contribution)
                         .getOutput()
                   : contribution;
  }

private:
  OpBuilder &builder;
  llvm::DenseMap<Value, Value> gradients;
};
} // namespace

/// The values of `block` that depend on `targets`: only their gradients matter.
static llvm::DenseSet<Value> findDependentValues(Block &block,
                                                 ValueRange targets) {
  llvm::DenseSet<Value> dependent(targets.begin(), targets.end());
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

FailureOr<SmallVector<Value>>
isobath::buildGradients(OpBuilder &builder, Block &block, ValueRange results,
                        ValueRange resultGradients, ValueRange targets) {
  llvm::DenseSet<Value> dependent = findDependentValues(block, targets);
  SmallVector<Operation *> primalOps;
  for (Operation &op : block) {
    // What a region reads is not among the operands.
    if (op.getNumRegions() != 0)
      return op.emitOpError()
             << "expected straight-line code, got an op with regions";
    primalOps.push_back(&op);
  }

  GradientMap gradients(builder);
  for (auto [result, gradient] : llvm::zip_equal(results, resultGradients))
    gradients.add(result, gradient, gradient.getLoc());

  for (Operation *op : llvm::reverse(primalOps)) {
    llvm::BitVector isNeeded(op->getNumOperands());
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      isNeeded[index] = dependent.contains(operand);
    SmallVector<Value> ofResults =
        llvm::map_to_vector(op->getResults(), [&](Value result) {
          return gradients.lookup(result);
        });
    bool reached =
        llvm::any_of(ofResults, [](Value value) { return bool(value); });
    if (isNeeded.none() || !reached)
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError() << "expected to be differentiable, since a "
                                  "gradient passes through it";
    SmallVector<Value> ofOperands(op->getNumOperands());
    if (failed(differentiable.buildAdjoint(builder, ofResults, isNeeded,
                                           ofOperands)))
      return failure();
    for (auto [index, gradient] : llvm::enumerate(ofOperands))
      if (gradient && isNeeded[index])
        gradients.add(op->getOperand(index), gradient, op->getLoc());
  }

  return llvm::map_to_vector(targets, [&](Value target) -> Value {
    if (Value gradient = gradients.lookup(target))
      return gradient;
    return arith::ConstantOp::create(builder, target.getLoc(),
                                     builder.getZeroAttr(target.getType()));
  });
}
