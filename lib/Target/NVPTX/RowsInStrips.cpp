//===- RowsInStrips.cpp - Kernels that go through rows in strips -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels without loops. Rows are expressions, which are evaluated for a
// strip where a store, accumulation or reduction consumes them; the order of
// these is that of KernelSchedule.h.
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;
using namespace isobath::rows;

namespace {
class StripEmitter : public RowEmitter {
public:
  StripEmitter(const KernelCode &code, bool isRepeated)
      : RowEmitter(code), mayBeRead(isRepeated) {}

  void emitPhase(const KernelSchedule::Phase &phase);

private:
  using Accumulators = SmallVector<Chunks>; // of each reduction of a pass

  void emitPass(const KernelSchedule::Pass &pass);
  void emitStrip(const KernelSchedule::Pass &pass, const RowGroup &group,
                 Accumulators &accumulators);
  void emitExtract(vector::ExtractOp extract);
  Chunks evaluate(Value row, const RowGroup &group,
                  llvm::DenseMap<Value, Chunks> &known);

  /// As in RowsInRegisters.cpp.
  bool mayBeRead;
};
} // namespace

Chunks StripEmitter::evaluate(Value row, const RowGroup &group,
                              llvm::DenseMap<Value, Chunks> &known) {
  auto found = known.find(row);
  if (found != known.end())
    return found->second;
  Chunks chunks = compute(row.getDefiningOp(), group, [&](Value operand) {
    return evaluate(operand, group, known);
  });
  known[row] = chunks;
  return chunks;
}

void StripEmitter::emitStrip(const KernelSchedule::Pass &pass,
                             const RowGroup &group,
                             Accumulators &accumulators) {
  llvm::DenseMap<Value, Chunks> known;
  // Everything is read before anything is written.
  for (Operation *sink : pass.sinks)
    for (Value row : getConsumedRows(sink))
      evaluate(row, group, known);
  MutableArrayRef<Chunks> next(accumulators);
  for (Operation *sink : pass.sinks)
    llvm::TypeSwitch<Operation *>(sink)
        .Case<row::StoreOp>([&](row::StoreOp op) {
          store(op, known.lookup(op.getValue()), group);
        })
        .Case<AccumulateOp>([&](AccumulateOp op) {
          accumulate(op, known.lookup(op.getValue()), group);
        })
        .Case<vector::ReductionOp>([&](vector::ReductionOp op) {
          addSlots(op, known.lookup(op.getVector()), group, next.front());
          next = next.drop_front();
        });
}

/// Goes through all strips of a row, and combines what reductions have summed
/// up then.
void StripEmitter::emitPass(const KernelSchedule::Pass &pass) {
  constexpr int64_t slots = 4;
  SmallVector<vector::ReductionOp> reductions;
  Accumulators accumulators;
  for (Operation *sink : pass.sinks)
    if (auto reduction = dyn_cast<vector::ReductionOp>(sink)) {
      reductions.push_back(reduction);
      accumulators.push_back(createNeutralSums(reduction));
    }

  int64_t chunks = layout.countChunks(pass.width);
  int64_t stripChunks = layout.getThreads() * slots;
  int64_t whole = chunks - chunks % stripChunks;
  if (whole > stripChunks) {
    SmallVector<Value> carried;
    for (Chunks &sums : accumulators)
      llvm::append_range(carried, sums);
    auto loop = scf::ForOp::create(builder, index(0), index(whole),
                                   index(stripChunks), carried);
    auto distribute = [&](ValueRange values) {
      for (Chunks &sums : accumulators)
        for (Value &sum : sums) {
          sum = values.front();
          values = values.drop_front();
        }
    };
    {
      OpBuilder::InsertionGuard guard(builder);
      if (carried.empty())
        builder.setInsertionPoint(loop.getBody()->getTerminator());
      else
        builder.setInsertionPointToEnd(loop.getBody());
      distribute(loop.getRegionIterArgs());
      emitStrip(pass,
                createGroup(pass.width, loop.getInductionVar(), stripChunks),
                accumulators);
      carried.clear();
      for (Chunks &sums : accumulators)
        llvm::append_range(carried, sums);
      if (!carried.empty())
        scf::YieldOp::create(builder, carried);
    }
    distribute(loop.getResults());
  } else {
    whole = 0;
  }
  if (whole < chunks)
    emitStrip(
        pass,
        createGroup(pass.width, whole ? index(whole) : Value(), chunks - whole),
        accumulators);
  if (reductions.empty())
    return;
  SmallVector<ThreadValue> values;
  for (auto [reduction, sums] : llvm::zip_equal(reductions, accumulators))
    values.push_back(combineSums(reduction, sums));
  SmallVector<Value> results = threads.combineAll(values, mayBeRead);
  mayBeRead = false;
  for (auto [reduction, result] : llvm::zip_equal(reductions, results))
    scalars.map(reduction.getDest(), result);
}

/// One element, which every thread evaluates for itself.
void StripEmitter::emitExtract(vector::ExtractOp extract) {
  Value row = extract.getSource();
  int64_t width = getWidth(row), chunk = layout.getChunk(width);
  int64_t column = extract.getStaticPosition().front();
  RowGroup group{width, chunk, {{index(0), column - column % chunk, Value()}}};
  llvm::DenseMap<Value, Chunks> known;
  Value element = vector::ExtractOp::create(
      builder, evaluate(row, group, known).front(), column % chunk);
  scalars.map(extract, element);
}

void StripEmitter::emitPhase(const KernelSchedule::Phase &phase) {
  for (Operation *op : phase.scalars) {
    if (auto extract = dyn_cast<vector::ExtractOp>(op))
      emitExtract(extract);
    else
      emitScalar(op);
  }
  for (const KernelSchedule::Pass &pass : phase.passes)
    emitPass(pass);
}

void nvptx::emitInStrips(const KernelCode &code, const KernelSchedule &schedule,
                         Block &block, bool isRepeated) {
  StripEmitter emitter(code, isRepeated);
  for (const KernelSchedule::Phase &phase : schedule.getPhases(block))
    emitter.emitPhase(phase);
}
