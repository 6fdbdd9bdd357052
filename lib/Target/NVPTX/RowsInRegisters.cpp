//===- RowsInRegisters.cpp - Kernels whose rows are in registers -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are emitted one for one, in their order: a row is as many vectors
// as a thread has slots. Only reductions are held back, until something needs
// the result of one: all that are there by then share their barriers. Those of
// a block are brought together beforehand (GatherReductions.cpp).
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;
using namespace isobath::rows;

namespace {
class RegisterEmitter : public RowEmitter {
public:
  using RowEmitter::RowEmitter;

  /// For rows of all widths.
  void createGroups(Block &block);
  /// Emits the operations of `block`, which is the body of a loop if it is
  /// repeated.
  void emitBlock(Block &block, bool isRepeated);

private:
  Value lookup(Value scalar) override;
  Chunks getRow(Value row) { return rowValues.lookup(row); }
  const RowGroup &getGroup(Value row) const {
    return groups.find(getWidth(row))->second;
  }
  void emitRow(Operation *op);
  void emitLoop(scf::ForOp loop);
  void emitReduction(vector::ReductionOp reduction);
  void emitExtract(vector::ExtractOp extract);
  void finishReductions();
  SmallVector<Value> flatten(ValueRange values);
  void unflatten(ValueRange values, ValueRange emitted);

  llvm::DenseMap<Value, Chunks> rowValues;
  llvm::DenseMap<int64_t, RowGroup> groups; // by width
  /// Reductions in threads that are not combined yet.
  SmallVector<std::pair<Value, ThreadValue>> pending;
  /// Whether shared memory may still be read by a thread that has it from an
  /// earlier iteration of this block.
  bool mayBeRead = false;
};
} // namespace

void RegisterEmitter::createGroups(Block &block) {
  block.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      if (!isRow(result))
        continue;
      int64_t width = getWidth(result);
      if (!groups.contains(width))
        groups[width] = createGroup(width, Value(), layout.countChunks(width));
    }
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void RegisterEmitter::emitReduction(vector::ReductionOp reduction) {
  Value row = reduction.getVector();
  Chunks sums = createSums(getWidth(row));
  addSlots(reduction, getRow(row), getGroup(row), sums);
  pending.emplace_back(reduction, combineSums(reduction, sums));
}

/// One element: the sum of what threads have of it, which is nothing but for
/// one.
void RegisterEmitter::emitExtract(vector::ExtractOp extract) {
  Value row = extract.getSource();
  const RowGroup &group = getGroup(row);
  Chunks chunks = getRow(row);
  int64_t column = extract.getStaticPosition().front();
  int64_t number = column / group.chunk, lane = column % group.chunk;
  Value element = vector::ExtractOp::create(
      builder, chunks[number / layout.getThreads()], lane);
  if (layout.countChunks(group.width) == 1) {
    scalars.map(extract, element); // all threads repeat the one chunk
    return;
  }
  Value isHere = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                       threads.getThread(),
                                       index(number % layout.getThreads()));
  Value zero = arith::ConstantOp::create(
      builder, builder.getZeroAttr(element.getType()));
  pending.emplace_back(
      extract,
      ThreadValue{vector::CombiningKind::ADD,
                  arith::SelectOp::create(builder, isHere, element, zero)});
}

void RegisterEmitter::finishReductions() {
  if (pending.empty())
    return;
  SmallVector<ThreadValue> values;
  for (auto &[result, value] : pending)
    values.push_back(value);
  SmallVector<Value> results = threads.combineAll(values, mayBeRead);
  for (auto [entry, result] : llvm::zip_equal(pending, results))
    scalars.map(entry.first, result);
  pending.clear();
  mayBeRead = false;
}

Value RegisterEmitter::lookup(Value scalar) {
  if (!scalars.contains(scalar))
    finishReductions();
  return scalars.lookup(scalar);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What these are in the code: a row is as many values as it has slots.
SmallVector<Value> RegisterEmitter::flatten(ValueRange values) {
  SmallVector<Value> emitted;
  for (Value value : values) {
    if (isRow(value))
      llvm::append_range(emitted, getRow(value));
    else
      emitted.push_back(lookup(value));
  }
  return emitted;
}

void RegisterEmitter::unflatten(ValueRange values, ValueRange emitted) {
  for (Value value : values) {
    size_t size = isRow(value) ? getGroup(value).slots.size() : 1;
    if (isRow(value))
      rowValues[value] = Chunks(emitted.take_front(size));
    else
      scalars.map(value, emitted.front());
    emitted = emitted.drop_front(size);
  }
}

void RegisterEmitter::emitLoop(scf::ForOp loop) {
  finishReductions();
  ScalarCopies::State before = copies.enterLoop(*loop.getBody());
  SmallVector<Value> starts = flatten(loop.getInitArgs());
  auto emitted = scf::ForOp::create(builder, lookup(loop.getLowerBound()),
                                    lookup(loop.getUpperBound()),
                                    lookup(loop.getStep()), starts);
  {
    OpBuilder::InsertionGuard guard(builder);
    if (starts.empty())
      builder.setInsertionPoint(emitted.getBody()->getTerminator());
    else
      builder.setInsertionPointToEnd(emitted.getBody());
    scalars.map(loop.getInductionVar(), emitted.getInductionVar());
    unflatten(loop.getRegionIterArgs(), emitted.getRegionIterArgs());
    bool outside = mayBeRead;
    emitBlock(*loop.getBody(), /*isRepeated=*/true);
    mayBeRead = outside;
    SmallVector<Value> ends =
        flatten(loop.getBody()->getTerminator()->getOperands());
    if (!starts.empty())
      scf::YieldOp::create(builder, ends);
  }
  copies.leaveLoop(before);
  unflatten(loop.getResults(), emitted.getResults());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void RegisterEmitter::emitRow(Operation *op) {
  Value result = op->getResult(0);
  rowValues[result] = compute(op, getGroup(result),
                              [&](Value operand) { return getRow(operand); });
}

void RegisterEmitter::emitBlock(Block &block, bool isRepeated) {
  mayBeRead = isRepeated;
  for (Operation &op : block.without_terminator()) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case<scf::ForOp>([&](scf::ForOp loop) { emitLoop(loop); })
        .Case<vector::ReductionOp>([&](auto op) { emitReduction(op); })
        .Case<vector::ExtractOp>([&](auto op) { emitExtract(op); })
        .Case<row::StoreOp>([&](row::StoreOp op) {
          store(op, getRow(op.getValue()), getGroup(op.getValue()));
        })
        .Case<AccumulateOp>([&](AccumulateOp op) {
          accumulate(op, getRow(op.getValue()), getGroup(op.getValue()));
        })
        .Default([&](Operation *op) {
          if (llvm::any_of(op->getResults(), isRow))
            emitRow(op);
          else
            emitScalar(op);
        });
  }
  finishReductions();
}

void nvptx::emitInRegisters(const KernelCode &code, Block &block,
                            bool isRepeated) {
  RegisterEmitter emitter(code);
  // Where everything that needs them can see them.
  emitter.createGroups(block);
  emitter.emitBlock(block, isRepeated);
}
