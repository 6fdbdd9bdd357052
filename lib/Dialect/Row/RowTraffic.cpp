//===- RowTraffic.cpp - Bytes that a row kernel moves ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs through the kernel's body for one row, with loops and all, and notes
// each place that is loaded from or stored to. Of the values only indices are
// computed, and of those only what does not depend on the row or on data.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Row/RowTraffic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <map>
#include <set>

using namespace mlir;
using namespace isobath::row;

namespace {
class TrafficCounter {
public:
  TrafficCounter(CallOp call, KernelOp kernel) : call(call), kernel(kernel) {}

  std::optional<Traffic> count();

private:
  /// An index: its number if that is known, otherwise the value itself.
  using Place = std::pair<bool, int64_t>;

  LogicalResult run(Block &block);
  LogicalResult visit(Operation &op);
  LogicalResult visitLoop(scf::ForOp loop);
  void evaluate(Operation &op);

  std::optional<int64_t> lookup(Value index) const;
  Place getPlace(Value index) const;
  int64_t getListLength(BlockArgument list);
  int64_t getElementCount(BlockArgument argument);
  int64_t getScalarsWidth(BlockArgument scalars);

  void touchColumns(BlockArgument argument, Value index, Value column,
                    int64_t count);
  void touchScalar(BlockArgument scalars, Value index, Value plane, Value row);
  void touchScalar(BlockArgument scalars, Place index, Place plane, Place row);
  void touchSpread(SpreadOp spread);

  CallOp call;
  KernelOp kernel;
  llvm::DenseMap<Value, int64_t> known;
  unsigned loops = 0; // around the op
  bool isKnown = true;

  // What was touched, by the number of the argument.
  std::map<std::pair<unsigned, Place>, llvm::BitVector> columns;
  std::set<std::pair<unsigned, std::array<Place, 3>>> scalars;
  llvm::SmallPtrSet<Value, 8> shared;
};
} // namespace

/// In bytes.
static int64_t getSize(Type type) { return type.getIntOrFloatBitWidth() / 8; }

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<int64_t> TrafficCounter::lookup(Value index) const {
  auto entry = known.find(index);
  if (entry == known.end())
    return std::nullopt;
  return entry->second;
}

/// No index is the only one that there is.
TrafficCounter::Place TrafficCounter::getPlace(Value index) const {
  if (!index)
    return {true, 0};
  if (std::optional<int64_t> number = lookup(index))
    return {true, *number};
  return {false, reinterpret_cast<intptr_t>(index.getAsOpaquePointer())};
}

int64_t TrafficCounter::getListLength(BlockArgument list) {
  unsigned number = list.getArgNumber();
  if (kernel.isOutput(list))
    return call.getOutputGroup(number - kernel.getInputCount()).size();
  return call.getInputGroup(number).size();
}

/// Of the tensor that is bound to an argument other than a list.
int64_t TrafficCounter::getElementCount(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  Value tensor =
      kernel.isOutput(argument)
          ? Value(call.getOutputGroup(number - kernel.getInputCount()).front())
          : Value(call.getInputGroup(number).front());
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

/// Planes · rows · width elements are a tensor of scalars.
int64_t TrafficCounter::getScalarsWidth(BlockArgument scalars) {
  int64_t planes = cast<ScalarsType>(scalars.getType()).getPlanes();
  return getElementCount(scalars) / (planes * call.getRows());
}

/// Computes the result of `op` if it is an index that follows from others.
void TrafficCounter::evaluate(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isIndex())
    return;
  known.erase(op.getResult(0)); // of the loop's last round
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    known[constant] = constant.value();
    return;
  }
  if (op.getNumOperands() != 2)
    return;
  std::optional<int64_t> left = lookup(op.getOperand(0)),
                         right = lookup(op.getOperand(1));
  if (!left || !right)
    return;
  using Result = std::optional<int64_t>;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(&op)
          .Case([&](arith::AddIOp) { return *left + *right; })
          .Case([&](arith::SubIOp) { return *left - *right; })
          .Case([&](arith::MulIOp) { return *left * *right; })
          .Case([&](arith::DivUIOp) { return *left / *right; })
          .Case([&](arith::RemUIOp) { return *left % *right; })
          .Case([&](arith::MaxSIOp) { return std::max(*left, *right); })
          .Default(Result());
  if (result)
    known[op.getResult(0)] = *result;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// `count` columns from `column` on, or from the first one on.
void TrafficCounter::touchColumns(BlockArgument argument, Value index,
                                  Value column, int64_t count) {
  int64_t width = llvm::TypeSwitch<Type, int64_t>(argument.getType())
                      .Case<MatrixType, ListType>(
                          [](auto type) { return type.getWidth(); });
  Place row = getPlace(index), first = getPlace(column);
  // An index of another row than the current one, or of a matrix.
  if (!index)
    row = {false, 0};
  isKnown &= first.first && (row.first || !index || loops == 0);
  llvm::BitVector &touched = columns[{argument.getArgNumber(), row}];
  touched.resize(width);
  if (first.first)
    touched.set(first.second, first.second + count);
}

void TrafficCounter::touchScalar(BlockArgument argument, Value index,
                                 Value plane, Value row) {
  touchScalar(argument, getPlace(index), getPlace(plane), getPlace(row));
}

void TrafficCounter::touchScalar(BlockArgument argument, Place index,
                                 Place plane, Place row) {
  isKnown &= loops == 0 || (index.first && plane.first && row.first);
  scalars.insert({argument.getArgNumber(), {index, plane, row}});
}

/// One number for each part of the row.
void TrafficCounter::touchSpread(SpreadOp spread) {
  auto source = cast<BlockArgument>(spread.getSource());
  if (kernel.isOutput(source)) // what it has stored is at hand
    return;
  std::optional<int64_t> first = lookup(spread.getIndex()),
                         stride = lookup(spread.getStride());
  isKnown &= first && stride;
  if (!isKnown)
    return;
  for (int64_t part = 0; part < static_cast<int64_t>(spread.getGroups());
       ++part)
    touchScalar(source, Place{true, *first + part * *stride},
                getPlace(spread.getPlane()), getPlace(Value()));
}

LogicalResult TrafficCounter::visitLoop(scf::ForOp loop) {
  std::optional<int64_t> first = lookup(loop.getLowerBound()),
                         end = lookup(loop.getUpperBound()),
                         step = lookup(loop.getStep());
  if (!first || !end || !step)
    return failure();
  ++loops;
  for (int64_t i = *first; i < *end; i += *step) {
    known[loop.getInductionVar()] = i;
    if (failed(run(*loop.getBody())))
      return failure();
  }
  --loops;
  return success();
}

LogicalResult TrafficCounter::visit(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto count = dyn_cast<CountOp>(op)) {
    known[count] = getListLength(cast<BlockArgument>(count.getList()));
  } else if (auto width = dyn_cast<WidthOp>(op)) {
    known[width] = getScalarsWidth(cast<BlockArgument>(width.getScalars()));
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    auto source = cast<BlockArgument>(load.getSource());
    if (isa<SharedVectorType>(source.getType()))
      shared.insert(source);
    else
      touchColumns(source, load.getIndex(), load.getColumn(),
                   cast<VectorType>(load.getType()).getNumElements());
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    touchColumns(cast<BlockArgument>(store.getTarget()), store.getIndex(),
                 store.getColumn(),
                 cast<VectorType>(store.getValue().getType()).getNumElements());
  } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
    shared.insert(accumulate.getSum());
  } else if (auto load = dyn_cast<LoadScalarOp>(op)) {
    auto source = cast<BlockArgument>(load.getSource());
    if (isa<SharedVectorType>(source.getType()))
      shared.insert(source);
    else if (!kernel.isOutput(source)) // what it has stored is at hand
      touchScalar(source, load.getIndex(), load.getPlane(), load.getRow());
  } else if (auto spread = dyn_cast<SpreadOp>(op)) {
    touchSpread(spread);
  } else if (auto store = dyn_cast<StoreScalarOp>(op)) {
    touchScalar(cast<BlockArgument>(store.getTarget()), store.getIndex(),
                store.getPlane(), /*row=*/{});
  } else {
    evaluate(op);
  }
  return success();
}

LogicalResult TrafficCounter::run(Block &block) {
  for (Operation &op : block)
    if (failed(visit(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

std::optional<Traffic> TrafficCounter::count() {
  if (failed(run(*kernel.getBody())) || !isKnown)
    return std::nullopt;
  Traffic traffic;
  auto isOutput = [&](unsigned number) {
    return number >= kernel.getInputCount();
  };
  for (const auto &[key, touched] : columns) {
    Type type = kernel.getArguments()[key.first].getType();
    Type element = isa<ListType>(type)
                       ? cast<ListType>(type).getElementType()
                       : cast<MatrixType>(type).getElementType();
    int64_t bytes = touched.count() * getSize(element);
    (isOutput(key.first) ? traffic.rowWritten : traffic.rowRead) += bytes;
  }
  for (const auto &[number, place] : scalars) {
    auto type = cast<ScalarsType>(kernel.getArguments()[number].getType());
    (isOutput(number) ? traffic.rowWritten : traffic.rowRead) +=
        getSize(type.getElementType());
  }
  for (Value argument : shared) {
    int64_t bytes = getElementCount(cast<BlockArgument>(argument)) *
                    getSize(getElementType(argument.getType()));
    (isa<SumType>(argument.getType()) ? traffic.sharedWritten
                                      : traffic.sharedRead) += bytes;
  }
  return traffic;
}

std::optional<Traffic> isobath::row::countTraffic(CallOp call,
                                                  KernelOp kernel) {
  return TrafficCounter(call, kernel).count();
}
