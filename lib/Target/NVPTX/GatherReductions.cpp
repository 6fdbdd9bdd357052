//===- GatherReductions.cpp - Reductions with barriers in common -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

/// The first operation of the block that needs the result of `reduction`.
static Operation *findFirstUser(Operation *reduction) {
  Block *block = reduction->getBlock();
  Operation *first = block->getTerminator();
  for (Operation *user : reduction->getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  return first;
}

/// Whether `op` does nothing but compute something of its operands and of what
/// the kernel does not write.
static bool isMovable(Operation *op) {
  if (Value source = getNumberSource(op)) {
    auto kernel = op->getParentOfType<KernelOp>();
    return !llvm::is_contained(kernel.getOutputs(), source);
  }
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<vector::ReductionOp, vector::ExtractOp>(op);
}

namespace {
/// Reductions that are to be combined together: from `first` on, in front of
/// `place`, which needs the result of `first`.
struct Gathering {
  Operation *first;
  Operation *place;

  bool collectNeeded(Value value, llvm::SetVector<Operation *> &needed,
                     llvm::DenseSet<Operation *> &visited) const;
};
} // namespace

/// Adds to `needed` what stands behind `place` and has to be in front of it for
/// `value`, in order; false where that depends on one of these reductions or
/// cannot be moved.
bool Gathering::collectNeeded(Value value, llvm::SetVector<Operation *> &needed,
                              llvm::DenseSet<Operation *> &visited) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(first))
    return true;
  if (!visited.insert(op).second)
    return true;
  if (op == place || !isMovable(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectNeeded(operand, needed, visited))
      return false;
  if (!op->isBeforeInBlock(place))
    needed.insert(op);
  return true;
}

static void gather(Block &block) {
  for (Operation &first : llvm::make_early_inc_range(block)) {
    if (!isa<vector::ReductionOp>(first))
      continue;
    Gathering gathering{&first, findFirstUser(&first)};
    Operation *place = gathering.place;
    SmallVector<Operation *> later;
    for (Operation *op = place; op; op = op->getNextNode())
      if (isa<vector::ReductionOp>(op))
        later.push_back(op);
    for (Operation *reduction : later) {
      llvm::SetVector<Operation *> needed;
      llvm::DenseSet<Operation *> visited;
      if (!gathering.collectNeeded(reduction->getOperand(0), needed, visited))
        continue;
      for (Operation *op : needed)
        op->moveBefore(place);
      reduction->moveBefore(place);
    }
  }
}

void nvptx::gatherReductions(KernelOp kernel) {
  gather(*kernel.getBody());
  kernel.getBodyRegion().walk([](scf::ForOp loop) { gather(*loop.getBody()); });
}
