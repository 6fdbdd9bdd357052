//===- RowEmitter.cpp - The code of a kernel on a GPU ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;
using namespace isobath::rows;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// One thread stores; all of them load.
void RowEmitter::storeScalar(StoreScalarOp store) {
  Value value = lookup(store.getValue()), index = lookup(store.getIndex()),
        plane = lookupOrNull(store.getPlane());
  if (copies.has(store.getTarget()))
    copies.store(value, store.getTarget(), index, plane);
  Value address = arguments.getScalarAddress(store.getTarget(), index, plane,
                                             /*row=*/Value());
  scf::IfOp::create(builder, threads.isFirst(),
                    [&](OpBuilder &inner, Location loc) {
                      LLVM::StoreOp::create(inner, loc, value, address);
                      scf::YieldOp::create(inner, loc);
                    });
}

void RowEmitter::emitScalar(Operation *op) {
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
        Value index = lookup(load.getIndex()),
              plane = lookupOrNull(load.getPlane());
        if (copies.has(load.getSource())) {
          scalars.map(load, copies.load(load.getSource(), index, plane));
          return;
        }
        Value address = arguments.getScalarAddress(
            load.getSource(), index, plane, lookupOrNull(load.getRow()));
        Value value = LLVM::LoadOp::create(builder, load.getType(), address);
        scalars.map(load, value);
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) { storeScalar(store); })
      .Default([&](Operation *op) {
        for (Value operand : op->getOperands())
          lookup(operand);
        builder.clone(*op, scalars);
      });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RowGroup RowEmitter::createGroup(int64_t width, Value first, int64_t count) {
  int64_t chunk = layout.getChunk(width), size = layout.getThreads();
  RowGroup group{width, chunk, {}};
  Value number = threads.getThread(); // of the thread's chunk in slot 0
  if (first)
    number = arguments.add(number, first);
  Value column = arguments.multiply(number, index(chunk));
  for (int64_t begin = 0; begin < count; begin += size) {
    if (begin + size <= count) {
      group.slots.push_back({column, begin * chunk, Value()});
      continue;
    }
    // Threads beyond the last chunk repeat it.
    Value inside =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                              threads.getThread(), index(count - begin));
    Value last = index(count - begin - 1);
    if (first)
      last = arguments.add(last, first);
    Value clamped = arith::MinUIOp::create(builder, number, last);
    group.slots.push_back(
        {arguments.multiply(clamped, index(chunk)), begin * chunk, inside});
  }
  return group;
}

/// The numbers of the columns.
Chunks RowEmitter::computeSteps(const RowGroup &group, VectorType type) {
  Chunks chunks;
  for (const Slot &slot : group.slots) {
    Value start = vector::BroadcastOp::create(builder, type, slot.column);
    SmallVector<Attribute> lanes;
    for (int64_t lane = 0; lane < group.chunk; ++lane)
      lanes.push_back(builder.getIndexAttr(slot.offset + lane));
    Value offsets =
        arith::ConstantOp::create(builder, DenseElementsAttr::get(type, lanes));
    chunks.push_back(arith::AddIOp::create(builder, start, offsets));
  }
  return chunks;
}

Chunks RowEmitter::computeElementwise(Operation *op, const RowGroup &group,
                                      function_ref<Chunks(Value)> rows) {
  SmallVector<Chunks> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isRow(operand)
                           ? rows(operand)
                           : Chunks(group.slots.size(), lookup(operand)));
  Chunks chunks;
  for (size_t slot = 0; slot < group.slots.size(); ++slot) {
    IRMapping mapping;
    for (auto [operand, values] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(operand, values[slot]);
    Value result = builder.clone(*op, mapping)->getResult(0);
    result.setType(VectorType::get(
        {group.chunk}, cast<VectorType>(result.getType()).getElementType()));
    chunks.push_back(result);
  }
  return chunks;
}

/// One number for each chunk, which lies in one part of the row.
Chunks RowEmitter::computeSpread(SpreadOp spread, const RowGroup &group,
                                 VectorType type) {
  Value source = spread.getSource(), first = lookup(spread.getIndex()),
        stride = lookup(spread.getStride()),
        plane = lookupOrNull(spread.getPlane());
  Chunks chunks;
  for (const Slot &slot : group.slots) {
    Value column = arguments.add(slot.column, index(slot.offset));
    Value part =
        arith::DivUIOp::create(builder, column, index(spread.getPartWidth()));
    Value number = arguments.add(first, arguments.multiply(part, stride));
    Value value;
    if (copies.has(source))
      value = copies.load(source, number, plane);
    else
      value = LLVM::LoadOp::create(
          builder, type.getElementType(),
          arguments.getScalarAddress(source, number, plane, /*row=*/Value()));
    chunks.push_back(vector::BroadcastOp::create(builder, type, value));
  }
  return chunks;
}

Chunks RowEmitter::compute(Operation *op, const RowGroup &group,
                           function_ref<Chunks(Value)> rows) {
  Type elementType =
      cast<VectorType>(op->getResult(0).getType()).getElementType();
  auto type = VectorType::get({group.chunk}, elementType);
  auto repeat = [&](Value value) { return Chunks(group.slots.size(), value); };
  return llvm::TypeSwitch<Operation *, Chunks>(op)
      .Case<row::LoadOp>([&](row::LoadOp load) {
        Value address = arguments.getAddress(load.getSource(),
                                             lookupOrNull(load.getIndex()),
                                             lookupOrNull(load.getColumn()));
        return arguments.load(address, group, elementType);
      })
      .Case<vector::BroadcastOp>([&](vector::BroadcastOp op) {
        return repeat(
            vector::BroadcastOp::create(builder, type, lookup(op.getSource())));
      })
      .Case<vector::StepOp>([&](auto) { return computeSteps(group, type); })
      .Case<SpreadOp>(
          [&](SpreadOp spread) { return computeSpread(spread, group, type); })
      .Case<arith::ConstantOp>([&](arith::ConstantOp op) {
        auto splat = cast<SplatElementsAttr>(op.getValue());
        return repeat(
            arith::ConstantOp::create(builder, splat.resizeSplat(type)));
      })
      .Default(
          [&](Operation *op) { return computeElementwise(op, group, rows); });
}

void RowEmitter::store(row::StoreOp store, const Chunks &values,
                       const RowGroup &group) {
  Value address =
      arguments.getAddress(store.getTarget(), lookupOrNull(store.getIndex()),
                           lookupOrNull(store.getColumn()));
  arguments.store(values, address, group);
}

//===----------------------------------------------------------------------===//
// Sums over rows
//===----------------------------------------------------------------------===//

/// Whether an element of `sum` is always added to by the same thread.
static bool hasFixedThreads(Value sum) {
  return llvm::all_of(sum.getUsers(), [](Operation *user) {
    return !cast<AccumulateOp>(user).getColumn();
  });
}

void RowEmitter::clear(Value sum) {
  auto type = cast<SumType>(sum.getType());
  if (!type.isWidthKnown()) {
    auto loop =
        scf::ForOp::create(builder, threads.getThread(),
                           arguments.getWidth(sum), index(layout.getThreads()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Type number = type.getArithmeticType();
    Value zero =
        arith::ConstantOp::create(builder, builder.getZeroAttr(number));
    LLVM::StoreOp::create(
        builder, zero,
        arguments.getAddress(sum, Value(), loop.getInductionVar()));
    return;
  }
  RowGroup group = createGroup(type.getWidth(), Value(),
                               layout.countChunks(type.getWidth()));
  auto vectorType = VectorType::get({group.chunk}, type.getArithmeticType());
  Value zero =
      arith::ConstantOp::create(builder, builder.getZeroAttr(vectorType));
  arguments.store(Chunks(group.slots.size(), zero),
                  arguments.getAddress(sum, Value(), Value()), group);
}

void RowEmitter::accumulate(AccumulateOp accumulate, const Chunks &values,
                            const RowGroup &group) {
  Value sum = accumulate.getSum();
  if (!hasFixedThreads(sum))
    threads.synchronize(); // until others have added
  Value address =
      arguments.getAddress(sum, Value(), lookupOrNull(accumulate.getColumn()));
  arguments.addTo(values, address, group);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What changes nothing: 0 or −∞, in all lanes.
static Value createNeutral(ImplicitLocOpBuilder &builder,
                           vector::CombiningKind kind, VectorType type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type.getElementType()).getFloatSemantics();
  auto value = kind == vector::CombiningKind::ADD
                   ? llvm::APFloat::getZero(semantics)
                   : llvm::APFloat::getInf(semantics, /*Negative=*/true);
  return arith::ConstantOp::create(builder,
                                   DenseElementsAttr::get(type, value));
}

Chunks RowEmitter::createSums(int64_t width) {
  constexpr int64_t numbers = 4;
  return Chunks(std::max<int64_t>(1, numbers / layout.getChunk(width)));
}

Chunks RowEmitter::createNeutralSums(vector::ReductionOp reduction) {
  int64_t width = getWidth(reduction.getVector());
  Chunks sums = createSums(width);
  auto type = VectorType::get({layout.getChunk(width)}, reduction.getType());
  for (Value &sum : sums)
    sum = createNeutral(builder, reduction.getKind(), type);
  return sums;
}

void RowEmitter::addSlots(vector::ReductionOp reduction, const Chunks &values,
                          const RowGroup &group, Chunks &sums) {
  vector::CombiningKind kind = reduction.getKind();
  for (auto [number, slot] : llvm::enumerate(group.slots)) {
    Value value = values[number];
    if (slot.inside)
      value = arith::SelectOp::create(
          builder, slot.inside, value,
          createNeutral(builder, kind, cast<VectorType>(value.getType())));
    Value &sum = sums[number % sums.size()];
    sum = sum ? combine(builder, kind, sum, value) : value;
  }
}

ThreadValue RowEmitter::combineSums(vector::ReductionOp reduction,
                                    Chunks sums) {
  vector::CombiningKind kind = reduction.getKind();
  Value total;
  for (Value sum : sums)
    if (sum)
      total = total ? combine(builder, kind, total, sum) : sum;
  SmallVector<Value> lanes;
  for (int64_t lane = 0;
       lane < cast<VectorType>(total.getType()).getNumElements(); ++lane)
    lanes.push_back(vector::ExtractOp::create(builder, total, lane));
  // A power of two.
  while (lanes.size() > 1) {
    size_t half = lanes.size() / 2;
    for (size_t lane = 0; lane < half; ++lane)
      lanes[lane] = combine(builder, kind, lanes[lane], lanes[half + lane]);
    lanes.resize(half);
  }
  return {kind, lanes.front()};
}
