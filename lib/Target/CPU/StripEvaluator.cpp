//===- StripEvaluator.cpp - Rows, evaluated strip by strip -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::rows;
using namespace isobath::row;

/// Iterations of an innermost loop over sources that are written out: so many
/// loads are under way at once.
static constexpr int64_t unrolledSources = 4;

Strips StripEvaluator::evaluate(Value row) {
  auto found = known.find(row);
  if (found != known.end())
    return found->second;
  Strips strips = compute(row);
  known[row] = strips;
  return strips;
}

Strips StripEvaluator::compute(Value row) {
  auto type = cast<VectorType>(row.getType());
  if (emitter.filled.contains(row)) {
    return emitter.arguments.load(emitter.getBuffer(row), group.whole(),
                                  type.getElementType());
  }
  auto lookup = [&](Value value) {
    return emitter.scalars.lookupOrNull(value);
  };
  auto stripType = VectorType::get({stripLanes}, type.getElementType());
  return llvm::TypeSwitch<Operation *, Strips>(row.getDefiningOp())
      .Case<row::LoadOp>([&](row::LoadOp load) { return loadRow(load); })
      .Case<vector::BroadcastOp>([&](vector::BroadcastOp op) {
        return repeat(vector::BroadcastOp::create(builder, stripType,
                                                  lookup(op.getSource())));
      })
      .Case<vector::StepOp>([&](auto) { return computeSteps(stripType); })
      .Case<SpreadOp>(
          [&](SpreadOp spread) { return computeSpread(spread, stripType); })
      .Case<arith::ConstantOp>([&](arith::ConstantOp op) {
        auto splat = cast<SplatElementsAttr>(op.getValue());
        return repeat(
            arith::ConstantOp::create(builder, splat.resizeSplat(stripType)));
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        runLoop(loop);
        return known.lookup(row);
      })
      .Default([&](Operation *op) { return computeElementwise(op); });
}

Strips StripEvaluator::loadRow(row::LoadOp load) {
  Value source = load.getSource();
  Type elementType = load.getType().getElementType();
  Value address = emitter.getAddress(load);
  // An earlier pass has brought the sources of this row into the cache, and
  // memory has nothing to do: those of the next row are asked for.
  if (isa<ListType>(source.getType())) {
    if (emitter.cached.contains(source))
      emitter.arguments.prefetch(address, group, elementType,
                                 row::getWidth(source.getType()));
    loaded.insert(source);
  }
  return emitter.arguments.load(address, group, elementType);
}

/// The numbers of the columns.
Strips StripEvaluator::computeSteps(VectorType type) {
  Value start = vector::BroadcastOp::create(builder, type, group.start);
  Strips strips;
  for (size_t number = 0; number < group.lanes.size(); ++number) {
    SmallVector<Attribute> lanes;
    for (int64_t lane = 0; lane < stripLanes; ++lane)
      lanes.push_back(builder.getIndexAttr(number * stripLanes + lane));
    Value offsets =
        arith::ConstantOp::create(builder, DenseElementsAttr::get(type, lanes));
    strips.push_back(arith::AddIOp::create(builder, start, offsets));
  }
  return strips;
}

/// One number for all lanes of strips that lie in one part of the row;
/// otherwise each lane loads its own.
Strips StripEvaluator::computeSpread(SpreadOp spread, VectorType type) {
  KernelArguments &arguments = emitter.arguments;
  auto lookup = [&](Value value) {
    return emitter.scalars.lookupOrNull(value);
  };
  Value base = arguments.getScalarAddress(
      spread.getSource(), lookup(spread.getIndex()), lookup(spread.getPlane()),
      /*row=*/Value());
  Value stride = lookup(spread.getStride());
  int64_t partWidth = spread.getPartWidth();
  auto load = [&](int64_t offset) {
    Value column = arguments.add(group.start, arguments.constant(offset));
    Value part =
        arith::DivUIOp::create(builder, column, arguments.constant(partWidth));
    Value address = arguments.advance(base, type.getElementType(),
                                      arguments.multiply(part, stride));
    return arguments.loadScalar(address, type.getElementType());
  };
  // Groups begin at multiples of what is in one.
  if (partWidth % (stripLanes * groupStrips) == 0)
    return repeat(vector::BroadcastOp::create(builder, type, load(0)));
  Strips strips;
  for (auto [number, lanes] : llvm::enumerate(group.lanes)) {
    int64_t first = number * stripLanes;
    if (partWidth % stripLanes == 0) {
      strips.push_back(vector::BroadcastOp::create(builder, type, load(first)));
      continue;
    }
    // Lanes that the row does not have repeat the last one.
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < stripLanes; ++lane)
      values.push_back(lane < lanes ? load(first + lane) : values.back());
    strips.push_back(vector::FromElementsOp::create(builder, type, values));
  }
  return strips;
}

Strips StripEvaluator::computeElementwise(Operation *op) {
  SmallVector<Strips> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isRow(operand)
                           ? evaluate(operand)
                           : repeat(emitter.scalars.lookup(operand)));
  Strips strips;
  for (size_t number = 0; number < group.lanes.size(); ++number) {
    IRMapping mapping;
    for (auto [operand, values] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(operand, values[number]);
    Operation *copy = builder.clone(*op, mapping);
    Value result = copy->getResult(0);
    result.setType(VectorType::get(
        {stripLanes}, cast<VectorType>(result.getType()).getElementType()));
    strips.push_back(result);
  }
  return strips;
}

//===----------------------------------------------------------------------===//
// Loops inside a strip
//===----------------------------------------------------------------------===//

/// What does not change from source to source is evaluated before the loop.
void StripEvaluator::evaluateInputs(scf::ForOp loop) {
  loop->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isRow(operand) &&
          !loop->isAncestor(operand.getParentBlock()->getParentOp()))
        evaluate(operand);
  });
}

/// One iteration at `position`: what it hands on, of what it got.
SmallVector<Value> StripEvaluator::runIteration(scf::ForOp loop, Value position,
                                                ValueRange carried) {
  // Values of the last iteration are not those of this one.
  loop.getBody()->walk([&](Operation *op) {
    for (Value result : op->getResults())
      known.erase(result);
  });
  emitter.scalars.map(loop.getInductionVar(), position);
  for (Value argument : loop.getRegionIterArgs()) {
    size_t size = isRow(argument) ? group.lanes.size() : 1;
    if (isRow(argument))
      known[argument] = Strips(carried.take_front(size));
    else
      emitter.scalars.map(argument, carried.front());
    carried = carried.drop_front(size);
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (llvm::any_of(op.getResults(), isRow))
      continue; // evaluated when it is used
    if (auto inner = dyn_cast<scf::ForOp>(op))
      emitter.emitLoop(inner);
    else
      emitter.emitScalar(&op);
  }
  SmallVector<Value> next;
  for (Value yielded : loop.getBody()->getTerminator()->getOperands()) {
    if (isRow(yielded))
      llvm::append_range(next, evaluate(yielded));
    else
      next.push_back(emitter.scalars.lookup(yielded));
  }
  return next;
}

static bool isInnermost(scf::ForOp loop) {
  return loop.getBody()->getOps<scf::ForOp>().empty();
}

void StripEvaluator::runLoop(scf::ForOp loop) {
  evaluateInputs(loop);
  SmallVector<Value> carried;
  for (Value start : loop.getInitArgs()) {
    if (isRow(start))
      llvm::append_range(carried, evaluate(start));
    else
      carried.push_back(emitter.scalars.lookup(start));
  }
  Value first = emitter.scalars.lookup(loop.getLowerBound());
  Value end = emitter.scalars.lookup(loop.getUpperBound());
  Value step = emitter.scalars.lookup(loop.getStep());

  /// A loop whose body is `count` iterations, `step` apart.
  auto run = [&](Value from, Value to, Value stride, int64_t count) {
    auto emitted = scf::ForOp::create(builder, from, to, stride, carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(emitted.getBody());
    SmallVector<Value> values(emitted.getRegionIterArgs());
    Value position = emitted.getInductionVar();
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0)
        position = arith::AddIOp::create(builder, position, step);
      values = runIteration(loop, position, values);
    }
    scf::YieldOp::create(builder, values);
    carried.assign(emitted.result_begin(), emitted.result_end());
  };

  // Only loops that count by one are written out in part.
  auto constant = loop.getStep().getDefiningOp<arith::ConstantIndexOp>();
  if (constant && constant.value() == 1 && isInnermost(loop)) {
    // middle = first + ⌊max(end − first, 0) / 4⌋ · 4
    Value count = arith::SubIOp::create(builder, end, first);
    count = arith::MaxSIOp::create(builder, count, emitter.index(0));
    Value whole =
        arith::AndIOp::create(builder, count, emitter.index(-unrolledSources));
    Value middle = arith::AddIOp::create(builder, first, whole);
    run(first, middle, emitter.index(unrolledSources), unrolledSources);
    first = middle;
  }
  run(first, end, step, 1);

  ValueRange values(carried);
  for (Value result : loop.getResults()) {
    size_t size = isRow(result) ? group.lanes.size() : 1;
    if (isRow(result))
      known[result] = Strips(values.take_front(size));
    values = values.drop_front(size);
  }
}
