//===- KernelEmitter.cpp - The code of a kernel ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass works on four strips at a time. Every reduction has an accumulator for
// each of the four; at the end these are added pairwise, and then the halves of
// the vector, down to one number. The last strip of a row may be narrower than
// a vector: it is loaded and stored under a mask, and its missing lanes do not
// count in reductions.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::rows;
using namespace isobath::row;

void KernelEmitter::emitBlock(Block &block) {
  for (const KernelSchedule::Phase &phase : schedule.getPhases(block)) {
    for (Operation *op : phase.scalars)
      emitScalar(op);
    for (scf::ForOp loop : phase.loops)
      emitLoop(loop);
    for (const KernelSchedule::Pass &pass : phase.passes)
      emitPass(pass);
  }
}

//===----------------------------------------------------------------------===//
// Scalars and loops
//===----------------------------------------------------------------------===//

Value KernelEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

void KernelEmitter::emitScalar(Operation *op) {
  auto lookup = [&](Value value) { return scalars.lookupOrNull(value); };
  llvm::TypeSwitch<Operation *>(op)
      .Case<row::IndexOp>(
          [&](row::IndexOp index) { scalars.map(index, arguments.getRow()); })
      .Case<CountOp>([&](CountOp count) {
        scalars.map(count, arguments.getCount(count.getList()));
      })
      .Case<WidthOp>([&](WidthOp width) {
        scalars.map(width, arguments.getWidth(width.getScalars()));
      })
      .Case<LoadScalarOp>([&](LoadScalarOp load) {
        Value address = arguments.getScalarAddress(
            load.getSource(), lookup(load.getIndex()), lookup(load.getPlane()),
            lookup(load.getRow()));
        scalars.map(load, arguments.loadScalar(address, load.getType()));
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) {
        Value address = arguments.getScalarAddress(
            store.getTarget(), lookup(store.getIndex()),
            lookup(store.getPlane()), Value());
        arguments.storeScalar(lookup(store.getValue()), address);
      })
      .Case<vector::ExtractOp>([&](vector::ExtractOp op) {
        int64_t column = op.getStaticPosition().front();
        scalars.map(op, extract(op.getSource(), column));
      })
      .Default([&](Operation *op) { builder.clone(*op, scalars); });
}

/// One element, of the one strip that has it.
Value KernelEmitter::extract(Value row, int64_t column) {
  int64_t start = llvm::alignDown(column, stripLanes);
  StripGroup group{index(start),
                   {std::min(stripLanes, rows::getWidth(row) - start)}};
  Strips strips = StripEvaluator(*this, group).evaluate(row);
  return vector::ExtractOp::create(builder, strips.front(), column - start);
}

/// Stores the rows that a loop starts with to the buffers in which it carries
/// them.
void KernelEmitter::startCarriedRows(scf::ForOp loop) {
  llvm::MapVector<int64_t, SmallVector<unsigned>> rows; // by width
  for (auto [number, start] : llvm::enumerate(loop.getInitArgs()))
    if (isRow(start))
      rows[rows::getWidth(start)].push_back(number);
  for (auto &[width, numbers] : rows) {
    forEachGroup(width, {}, [&](const StripGroup &group, auto) {
      StripEvaluator evaluator(*this, group);
      SmallVector<Strips> values;
      for (unsigned number : numbers)
        values.push_back(evaluator.evaluate(loop.getInitArgs()[number]));
      for (auto [number, strips] : llvm::zip_equal(numbers, values))
        arguments.store(strips, getBuffer(loop.getRegionIterArg(number)),
                        group.whole());
    });
    for (unsigned number : numbers) {
      Value argument = loop.getRegionIterArg(number);
      Value result = loop.getResult(number);
      buffers[result] = getBuffer(argument);
      filled.insert(argument);
      filled.insert(result);
    }
  }
}

/// Continues in the body of `loop`, in front of the terminator that it has or
/// is to get.
static void enterBody(ImplicitLocOpBuilder &builder, scf::ForOp loop) {
  if (loop.getInitArgs().empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(loop.getBody());
}

/// A loop that runs: scalars are carried as they are, rows in buffers.
void KernelEmitter::emitLoop(scf::ForOp loop) {
  startCarriedRows(loop);
  SmallVector<Value> carried, results;
  for (Value start : loop.getInitArgs())
    if (!isRow(start))
      carried.push_back(scalars.lookup(start));
  auto emitted =
      scf::ForOp::create(builder, scalars.lookup(loop.getLowerBound()),
                         scalars.lookup(loop.getUpperBound()),
                         scalars.lookup(loop.getStep()), carried);
  scalars.map(loop.getInductionVar(), emitted.getInductionVar());
  unsigned next = 0;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (isRow(argument))
      continue;
    scalars.map(argument, emitted.getRegionIterArg(next));
    scalars.map(result, emitted.getResult(next++));
  }
  OpBuilder::InsertionGuard guard(builder);
  enterBody(builder, emitted);
  emitBlock(*loop.getBody());
  if (carried.empty())
    return;
  for (Value yielded : loop.getBody()->getTerminator()->getOperands())
    if (!isRow(yielded))
      results.push_back(scalars.lookup(yielded));
  scf::YieldOp::create(builder, results);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelEmitter::forEachGroup(
    int64_t width, ValueRange carried,
    function_ref<void(const StripGroup &, MutableArrayRef<Value>)> body) {
  constexpr int64_t groupLanes = stripLanes * groupStrips;
  StripGroup whole{{},
                   SmallVector<int64_t, groupStrips>(groupStrips, stripLanes)};
  SmallVector<Value> values(carried);
  int64_t start = llvm::alignDown(width, groupLanes);
  if (start == groupLanes) {
    whole.start = index(0);
    body(whole, values);
  } else if (start > groupLanes) {
    auto loop = scf::ForOp::create(builder, index(0), index(start),
                                   index(groupLanes), values);
    OpBuilder::InsertionGuard guard(builder);
    enterBody(builder, loop);
    whole.start = loop.getInductionVar();
    SmallVector<Value> next(loop.getRegionIterArgs());
    body(whole, next);
    if (!values.empty())
      scf::YieldOp::create(builder, next);
    values.assign(loop.result_begin(), loop.result_end());
  }
  if (start == width)
    return values;
  StripGroup rest{index(start), {}};
  for (; start < width; start += stripLanes)
    rest.lanes.push_back(std::min(stripLanes, width - start));
  body(rest, values);
  return values;
}

static Value combine(ImplicitLocOpBuilder &builder, vector::CombiningKind kind,
                     Value left, Value right) {
  if (kind == vector::CombiningKind::ADD)
    return arith::AddFOp::create(builder, left, right);
  return arith::MaximumFOp::create(builder, left, right);
}

/// What changes nothing: 0 or −∞, in all lanes.
static Value createNeutral(ImplicitLocOpBuilder &builder,
                           vector::ReductionOp reduction) {
  auto elementType = cast<FloatType>(reduction.getType());
  const llvm::fltSemantics &semantics = elementType.getFloatSemantics();
  auto value = reduction.getKind() == vector::CombiningKind::ADD
                   ? llvm::APFloat::getZero(semantics)
                   : llvm::APFloat::getInf(semantics, /*Negative=*/true);
  auto type = VectorType::get({stripLanes}, elementType);
  return arith::ConstantOp::create(builder,
                                   DenseElementsAttr::get(type, value));
}

/// ((a₀ ∘ a₁) ∘ (a₂ ∘ a₃)), and then halves of the vector.
static Value reduceTree(ImplicitLocOpBuilder &builder,
                        vector::CombiningKind kind, ArrayRef<Value> vectors) {
  SmallVector<Value> level(vectors);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(builder, kind, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  Value vector = level.front();
  for (int64_t half = stripLanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane) {
      low.push_back(lane);
      high.push_back(half + lane);
    }
    Value lows = vector::ShuffleOp::create(builder, vector, vector, low);
    Value highs = vector::ShuffleOp::create(builder, vector, vector, high);
    vector = combine(builder, kind, lows, highs);
  }
  return vector::ExtractOp::create(builder, vector, 0);
}

Value KernelEmitter::createAddress(Operation *access) {
  auto lookup = [&](Value value) { return scalars.lookupOrNull(value); };
  return llvm::TypeSwitch<Operation *, Value>(access)
      .Case<row::LoadOp>([&](row::LoadOp load) {
        return arguments.getAddress(load.getSource(), lookup(load.getIndex()),
                                    lookup(load.getColumn()));
      })
      .Case<row::StoreOp>([&](row::StoreOp store) {
        return arguments.getAddress(store.getTarget(), lookup(store.getIndex()),
                                    lookup(store.getColumn()));
      })
      .Case<AccumulateOp>([&](AccumulateOp accumulate) {
        return arguments.getAddress(accumulate.getSum(), Value(),
                                    lookup(accumulate.getColumn()));
      });
}

Value KernelEmitter::getAddress(Operation *access) {
  Value prepared = addresses.lookup(access);
  return prepared ? prepared : createAddress(access);
}

void KernelEmitter::prepareLoads(Value row) {
  Operation *op = row.getDefiningOp();
  if (!op || filled.contains(row) || !addresses.try_emplace(op).second)
    return;
  if (isa<row::LoadOp>(op))
    addresses[op] = createAddress(op);
  // What a loop inside the strip loads differs from source to source, but not
  // what it loads from around it.
  forEachInput(op, [&](Value input) {
    if (isRow(input))
      prepareLoads(input);
  });
}

void KernelEmitter::prepareAddresses(const KernelSchedule::Pass &pass) {
  addresses.clear();
  for (Operation *sink : pass.sinks) {
    if (isa<row::StoreOp, AccumulateOp>(sink))
      addresses[sink] = createAddress(sink);
    for (Value row : getConsumedRows(sink))
      prepareLoads(row);
  }
}

void KernelEmitter::emitPass(const KernelSchedule::Pass &pass) {
  prepareAddresses(pass);
  SmallVector<vector::ReductionOp> reductions;
  SmallVector<Value> accumulators;
  for (Operation *sink : pass.sinks) {
    auto reduction = dyn_cast<vector::ReductionOp>(sink);
    if (!reduction)
      continue;
    reductions.push_back(reduction);
    accumulators.append(groupStrips, createNeutral(builder, reduction));
  }
  llvm::DenseSet<Value> loaded;
  SmallVector<Value> ends =
      forEachGroup(pass.width, accumulators,
                   [&](const StripGroup &group, MutableArrayRef<Value> values) {
                     emitGroup(pass, group, values, loaded);
                   });
  cached.insert(loaded.begin(), loaded.end());
  // A narrow row does not use all accumulators.
  int64_t used =
      std::min<int64_t>(groupStrips, llvm::divideCeil(pass.width, stripLanes));
  for (auto [number, reduction] : llvm::enumerate(reductions))
    scalars.map(reduction,
                reduceTree(builder, reduction.getKind(),
                           ArrayRef(ends).slice(number * groupStrips, used)));
  for (Operation *sink : pass.sinks)
    if (auto loop = dyn_cast<scf::ForOp>(sink))
      for (Value row : getConsumedRows(loop))
        filled.insert(row);
  addresses.clear();
}

void KernelEmitter::emitGroup(const KernelSchedule::Pass &pass,
                              const StripGroup &group,
                              MutableArrayRef<Value> accumulators,
                              llvm::DenseSet<Value> &loaded) {
  // Everything is read before anything is written: a loop may hand a row on
  // that is made of the one it got, and kernels run in place (RowsInPlace.h).
  StripEvaluator evaluator(*this, group);
  SmallVector<SmallVector<Strips>> rows;
  for (Operation *sink : pass.sinks) {
    rows.emplace_back();
    for (Value row : getConsumedRows(sink))
      if (rows::getWidth(row) == pass.width)
        rows.back().push_back(evaluator.evaluate(row));
    auto reduction = dyn_cast<vector::ReductionOp>(sink);
    if (!reduction)
      continue;
    for (auto [number, strip] : llvm::enumerate(rows.back().front())) {
      if (group.lanes[number] < stripLanes)
        strip = arith::SelectOp::create(
            builder, arguments.getMask(group.lanes[number]), strip,
            createNeutral(builder, reduction));
      accumulators[number] =
          combine(builder, reduction.getKind(), accumulators[number], strip);
    }
    accumulators = accumulators.drop_front(groupStrips);
  }
  loaded.insert(evaluator.getLoaded().begin(), evaluator.getLoaded().end());
  for (auto [sink, values] : llvm::zip_equal(pass.sinks, rows))
    consume(sink, pass.width, group, values);
}

void KernelEmitter::consume(Operation *sink, int64_t width,
                            const StripGroup &group, ArrayRef<Strips> rows) {
  llvm::TypeSwitch<Operation *>(sink)
      .Case<row::StoreOp>([&](row::StoreOp store) {
        arguments.store(rows.front(), getAddress(store), group);
      })
      .Case<AccumulateOp>([&](AccumulateOp accumulate) {
        Value address = getAddress(accumulate);
        Strips sums = arguments.load(
            address, group, accumulate.getSum().getType().getArithmeticType());
        for (auto [sum, value] : llvm::zip_equal(sums, rows.front()))
          sum = arith::AddFOp::create(builder, sum, value);
        arguments.store(sums, address, group);
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        for (auto [row, strips] : llvm::zip_equal(getConsumedRows(loop), rows))
          arguments.store(strips, getBuffer(row), group.whole());
      })
      .Case<scf::YieldOp>([&](scf::YieldOp yield) {
        auto loop = cast<scf::ForOp>(yield->getParentOp());
        for (auto [yielded, argument] :
             llvm::zip_equal(yield.getOperands(), loop.getRegionIterArgs())) {
          if (!isRow(yielded) || rows::getWidth(yielded) != width)
            continue;
          arguments.store(rows.front(), getBuffer(argument), group.whole());
          rows = rows.drop_front();
        }
      });
}

Value KernelEmitter::getBuffer(Value row) {
  Value &buffer = buffers[row];
  if (buffer)
    return buffer;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  int64_t elements = llvm::alignTo(rows::getWidth(row), stripLanes);
  Value size = LLVM::ConstantOp::create(builder, builder.getI64Type(),
                                        builder.getI64IntegerAttr(elements));
  buffer = LLVM::AllocaOp::create(
      builder, LLVM::LLVMPointerType::get(builder.getContext()),
      cast<VectorType>(row.getType()).getElementType(), size,
      /*alignment=*/64);
  return buffer;
}
