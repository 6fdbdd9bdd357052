//===- RowRegisters.cpp - Registers that rows take ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An estimate by which RowLayout.cpp chooses the threads of a row. It follows
// operations in the order in which they stand, which is the order in which
// they run, and takes no account of what LLVM and ptxas move.
//
//===----------------------------------------------------------------------===//

#include "../Rows/KernelSchedule.h"
#include "RowLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

namespace {
class RegisterCount {
public:
  RegisterCount(const RowLayout &layout, int64_t threads)
      : layout(layout), threads(threads) {}

  /// The most registers that are alive at once in `block`, with `around` of
  /// them alive all the while.
  int64_t countMost(Block &block, int64_t around) const;

private:
  int64_t count(Value value) const;
  int64_t countRow(Value value) const;
  int64_t countHoisted(scf::ForOp loop) const;

  const RowLayout &layout;
  int64_t threads;
};
} // namespace

/// Whether a row is the same in every iteration of a loop, and LLVM knows.
static bool isHoisted(Value row) {
  auto load = row.getDefiningOp<LoadOp>();
  return load && isa<SharedVectorType>(load.getSource().getType()) &&
         !load.getColumn() && isa<scf::ForOp>(load->getParentOp());
}

/// Whether a row is added up as it is computed, element by element.
static bool isReducedAtOnce(Value row) {
  return row.hasOneUse() && isa<vector::ReductionOp>(*row.getUsers().begin()) &&
         !row.getDefiningOp<LoadOp>();
}

/// Of one value where it stands; rows of one number take none worth counting.
int64_t RegisterCount::count(Value value) const {
  if (!rows::isRow(value) || isHoisted(value) || isReducedAtOnce(value))
    return 0;
  if (isa_and_nonnull<vector::BroadcastOp, arith::ConstantOp, vector::StepOp>(
          value.getDefiningOp()))
    return 0;
  return countRow(value);
}

int64_t RegisterCount::countRow(Value value) const {
  int64_t width = rows::getWidth(value);
  Type elementType = cast<VectorType>(value.getType()).getElementType();
  int64_t bits =
      elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  int64_t elements = llvm::divideCeil(layout.countChunks(width), threads) *
                     layout.getChunk(width);
  return llvm::divideCeil(elements * bits, 32);
}

/// Of the rows that a loop has all the while.
int64_t RegisterCount::countHoisted(scf::ForOp loop) const {
  int64_t sum = 0;
  llvm::DenseSet<Value> counted;
  loop.getBody()->walk([&](LoadOp load) {
    if (isHoisted(load) && counted.insert(load.getSource()).second)
      sum += countRow(load);
  });
  return sum;
}

int64_t RegisterCount::countMost(Block &block, int64_t around) const {
  llvm::DenseMap<Operation *, int64_t> positions;
  for (auto [position, op] : llvm::enumerate(block))
    positions[&op] = position;
  auto getLastUse = [&](Value value) {
    int64_t last = -1;
    for (Operation *user : value.getUsers())
      last =
          std::max(last, positions.lookup(block.findAncestorOpInBlock(*user)));
    return last;
  };
  SmallVector<std::pair<Value, int64_t>> live; // with their last uses
  for (Value argument : block.getArguments())
    live.emplace_back(argument, getLastUse(argument));

  int64_t most = around;
  for (auto [position, op] : llvm::enumerate(block)) {
    int64_t here = position;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      int64_t through = around + countHoisted(loop);
      for (auto [value, last] : live) {
        bool isUsedInside =
            llvm::any_of(value.getUsers(), [&](Operation *user) {
              return loop->isProperAncestor(user);
            });
        if (last > here || isUsedInside)
          through += count(value);
      }
      most = std::max(most, countMost(*loop.getBody(), through));
    }
    llvm::erase_if(live, [&](auto &entry) { return entry.second <= here; });
    for (Value result : op.getResults())
      live.emplace_back(result, getLastUse(result));
    int64_t sum = around;
    for (auto [value, last] : live)
      sum += count(value);
    most = std::max(most, sum);
  }
  return most;
}

int64_t nvptx::countRowRegisters(KernelOp kernel, const RowLayout &layout,
                                 int64_t threads) {
  return RegisterCount(layout, threads).countMost(*kernel.getBody(), 0);
}
