//===- KernelSchedule.cpp - In which order the parts of a kernel run ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSchedule.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::rows;
using namespace isobath::row;

bool rows::isRow(Value value) { return isa<VectorType>(value.getType()); }

int64_t rows::getWidth(Value row) {
  return cast<VectorType>(row.getType()).getNumElements();
}

SmallVector<Value> rows::getConsumedRows(Operation *sink) {
  if (auto loop = dyn_cast<scf::ForOp>(sink))
    return llvm::to_vector_of<Value>(
        llvm::make_filter_range(loop.getResults(), isRow));
  return llvm::to_vector_of<Value>(
      llvm::make_filter_range(sink->getOperands(), isRow));
}

void rows::forEachInput(Operation *op, function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

//===----------------------------------------------------------------------===//
// Kinds of loops
//===----------------------------------------------------------------------===//

static bool isSink(Operation *op) {
  return isa<StoreOp, AccumulateOp, vector::ReductionOp>(op);
}

/// Whether the loop carries rows, all of one width and nothing else that is
/// used, and has no other effect.
static bool isRowExpression(scf::ForOp loop) {
  SmallVector<Value> rows = getConsumedRows(loop);
  if (rows.empty())
    return false;
  for (Value result : loop.getResults())
    if (isRow(result) ? getWidth(result) != getWidth(rows.front())
                      : !result.use_empty())
      return false;
  return !loop.getBody()
              ->walk([](Operation *op) {
                if (isSink(op) || isa<StoreScalarOp, vector::ExtractOp>(op))
                  return WalkResult::interrupt();
                // A loop inside is an expression or all scalars.
                if (auto inner = dyn_cast<scf::ForOp>(op))
                  if (!isRowExpression(inner) &&
                      (llvm::any_of(inner.getResults(), isRow)))
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

void KernelSchedule::findExpressions(KernelOp kernel) {
  kernel.getBodyRegion().walk([&](scf::ForOp loop) {
    if (isRowExpression(loop))
      expressions.insert(loop);
  });
}

/// Adds the expression loops that evaluating `row` would run, as far as
/// `isWanted` says.
static void collectLoops(Value row, function_ref<bool(scf::ForOp)> isWanted,
                         llvm::SetVector<Operation *> &loops,
                         llvm::DenseSet<Value> &visited) {
  if (!isRow(row) || !visited.insert(row).second)
    return;
  Operation *op = row.getDefiningOp();
  if (!op)
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && isWanted(loop))
    loops.insert(loop);
  forEachInput(
      op, [&](Value input) { collectLoops(input, isWanted, loops, visited); });
}

void KernelSchedule::findBuffered(KernelOp kernel) {
  // What a loop that runs would evaluate again in each of its iterations.
  kernel.getBodyRegion().walk([&](scf::ForOp loop) {
    if (isExpression(loop))
      return;
    llvm::SetVector<Operation *> loops;
    llvm::DenseSet<Value> visited;
    forEachInput(loop, [&](Value input) {
      collectLoops(
          input, [&](scf::ForOp other) { return isExpression(other); }, loops,
          visited);
    });
    buffered.insert(loops.begin(), loops.end());
  });
}

//===----------------------------------------------------------------------===//
// Phases of a block
//===----------------------------------------------------------------------===//

namespace {
/// The order that loads and stores of output scalars must keep.
struct ScalarsState {
  int written = 0;                // phase from which on they hold what was
                                  // stored so far
  int read = 0;                   // phase from which on they may be overwritten
  Operation *evaluated = nullptr; // an expression that reads them
};
} // namespace

class KernelSchedule::BlockScheduler {
public:
  BlockScheduler(KernelSchedule &schedule, Block &block)
      : schedule(schedule), block(block) {}

  LogicalResult run();
  SmallVector<Phase> takePhases();

private:
  LogicalResult place(Operation &op);
  LogicalResult orderScalars(Operation &op, bool runs, int &phase);
  void shareExpressions();

  /// Phase in which a value of this block can be used: by a pass or a scalar
  /// operation, or by a loop, for which buffers must have been filled.
  struct Ready {
    int phase = 0;
    int forLoops = 0;
  };
  Ready getReady(Value value) const {
    return value.getParentBlock() == &block ? ready.lookup(value) : Ready();
  }

  KernelSchedule &schedule;
  Block &block;
  llvm::DenseMap<Value, Ready> ready;
  /// Phase of each scalar operation, loop that runs, and sink, in order.
  llvm::MapVector<Operation *, int> placed;
  llvm::DenseMap<Value, ScalarsState> scalars;
  int last = 0;
};

/// Moves `phase` on until the scalars that `op` reads are there and those that
/// it writes are free.
LogicalResult KernelSchedule::BlockScheduler::orderScalars(Operation &op,
                                                           bool runs,
                                                           int &phase) {
  llvm::SetVector<Value> reads, writes;
  op.walk([&](Operation *inner) {
    if (Value source = getNumberSource(inner))
      reads.insert(source);
    if (auto store = dyn_cast<StoreScalarOp>(inner))
      writes.insert(store.getTarget());
  });
  for (Value target : reads)
    phase = std::max(phase, scalars[target].written);
  for (Value target : writes) {
    ScalarsState &state = scalars[target];
    phase = std::max({phase, state.written, state.read});
    if (state.evaluated) {
      InFlightDiagnostic error =
          op.emitError() << "expected scalars that a row depends on to be "
                            "stored before, got another store";
      error.attachNote(state.evaluated->getLoc()) << "the row is made here";
      return failure();
    }
  }
  bool isLoop = isa<scf::ForOp>(op);
  for (Value target : writes)
    scalars[target].written = phase + isLoop;
  for (Value target : reads) {
    scalars[target].read = std::max(scalars[target].read, phase + isLoop);
    if (!runs)
      scalars[target].evaluated = &op;
  }
  return success();
}

LogicalResult KernelSchedule::BlockScheduler::place(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  bool runs = loop ? !schedule.isExpression(loop)
                   : isSink(&op) || !llvm::any_of(op.getResults(), isRow);
  Ready start;
  forEachInput(&op, [&](Value input) {
    Ready of = getReady(input);
    start.phase = std::max(start.phase, loop && runs ? of.forLoops : of.phase);
    start.forLoops = std::max(start.forLoops, of.forLoops);
  });
  if (failed(orderScalars(op, runs, start.phase)))
    return failure();
  start.forLoops = std::max(start.forLoops, start.phase);
  Ready results = start;
  if (runs) {
    placed[&op] = start.phase;
    if (loop || isSink(&op))
      results = {start.phase + 1, start.phase + 1};
    else
      results.forLoops = start.phase;
  } else if (schedule.buffered.contains(&op)) {
    placed[&op] = start.phase;
    results.forLoops = start.phase + 1;
  }
  for (Value result : op.getResults())
    ready[result] = results;
  last = std::max({last, start.phase, op.use_empty() ? 0 : results.phase});
  return success();
}

/// An expression loop that several passes would run is run by the first of
/// them, which leaves its rows in buffers.
void KernelSchedule::BlockScheduler::shareExpressions() {
  using Key = std::pair<int, int64_t>; // phase and width
  llvm::MapVector<Operation *, llvm::SetVector<Key>> users;
  for (auto [sink, phase] : placed) {
    if (!isSink(sink) && !schedule.buffered.contains(sink) &&
        sink != block.getTerminator())
      continue;
    for (Value row : getConsumedRows(sink)) {
      llvm::SetVector<Operation *> loops;
      llvm::DenseSet<Value> visited;
      collectLoops(
          row,
          [&](scf::ForOp loop) {
            return loop->getBlock() == &block && schedule.isExpression(loop);
          },
          loops, visited);
      for (Operation *loop : loops)
        users[loop].insert({phase, getWidth(row)});
    }
  }
  for (auto &[loop, keys] : users) {
    if (keys.size() < 2 || schedule.buffered.contains(loop))
      continue;
    schedule.buffered.insert(loop);
    placed[loop] = llvm::min_element(keys)->first;
  }
}

LogicalResult KernelSchedule::BlockScheduler::run() {
  for (Operation &op : block.without_terminator())
    if (failed(place(op)))
      return failure();
  // Rows that a loop carries are replaced when nothing needs them any more.
  Operation *terminator = block.getTerminator();
  if (llvm::any_of(terminator->getOperands(), isRow)) {
    for (Value operand : terminator->getOperands())
      last = std::max(last, getReady(operand).phase);
    placed[terminator] = last;
  }
  shareExpressions();
  return success();
}

SmallVector<KernelSchedule::Phase>
KernelSchedule::BlockScheduler::takePhases() {
  SmallVector<Phase> result(last + 1);
  for (auto [op, number] : placed) {
    Phase &phase = result[number];
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !schedule.isExpression(loop)) {
      phase.loops.push_back(loop);
      continue;
    }
    SmallVector<Value> rows = getConsumedRows(op);
    if (rows.empty() || isa<vector::ExtractOp>(op)) {
      phase.scalars.push_back(op);
      continue;
    }
    llvm::SetVector<int64_t> widths;
    for (Value row : rows)
      widths.insert(getWidth(row));
    for (int64_t width : widths) {
      auto pass = llvm::find_if(
          phase.passes, [&](const Pass &pass) { return pass.width == width; });
      if (pass == phase.passes.end()) {
        phase.passes.push_back({width, {}});
        pass = std::prev(phase.passes.end());
      }
      pass->sinks.push_back(op);
    }
  }
  return result;
}

LogicalResult KernelSchedule::schedule(Block &block) {
  BlockScheduler scheduler(*this, block);
  if (failed(scheduler.run()))
    return failure();
  phases[&block] = scheduler.takePhases();
  return success();
}

FailureOr<KernelSchedule> KernelSchedule::get(KernelOp kernel) {
  KernelSchedule result;
  result.findExpressions(kernel);
  result.findBuffered(kernel);
  if (failed(result.schedule(*kernel.getBody())))
    return failure();
  WalkResult walked = kernel.getBodyRegion().walk([&](scf::ForOp loop) {
    if (!result.isExpression(loop) && failed(result.schedule(*loop.getBody())))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return result;
}
