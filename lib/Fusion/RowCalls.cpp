//===- RowCalls.cpp - Calls of row kernels in straight-line code ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowCalls.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

BuiltKernel isobath::fusion::withAllArguments(row::KernelOp kernel) {
  return {kernel, llvm::BitVector(kernel.getInputCount(), true),
          llvm::BitVector(kernel.getOutputCount(), true)};
}

BuiltKernel isobath::fusion::prunedTo(row::KernelOp kernel,
                                      llvm::BitVector needed) {
  BuiltKernel result = withAllArguments(kernel);
  result.outputs = std::move(needed);
  result.kernel = pruneKernel(kernel, result.outputs, result.inputs);
  return result;
}

Groups isobath::fusion::copyInputs(row::CallOp call) {
  Groups groups;
  for (unsigned i = 0; i < call.getInputGroupCount(); ++i)
    groups.emplace_back(call.getInputGroup(i));
  return groups;
}

Groups isobath::fusion::copyOutputs(row::CallOp call) {
  Groups groups;
  for (unsigned i = 0; i < call.getOutputGroupCount(); ++i)
    groups.emplace_back(call.getOutputGroup(i));
  return groups;
}

row::CallOp isobath::fusion::createCall(Operation *place,
                                        const BuiltKernel &built,
                                        const Groups &inputs,
                                        const Groups &outputs,
                                        ArrayRef<row::CallOp> instead) {
  Groups usedInputs, replaced;
  SmallVector<SmallVector<Type>> types;
  for (unsigned i : built.inputs.set_bits())
    usedInputs.push_back(inputs[i]);
  for (unsigned i : built.outputs.set_bits()) {
    replaced.push_back(outputs[i]);
    types.emplace_back(ValueRange(outputs[i]).getTypes());
  }
  OpBuilder builder(place);
  row::CallOp first = instead.front();
  SmallVector<Location> locations;
  for (row::CallOp old : instead)
    locations.push_back(old.getLoc());
  auto call =
      row::CallOp::create(builder, builder.getFusedLoc(locations), built.kernel,
                          usedInputs, types, first.getRows());
  call.setRepeated(
      llvm::any_of(instead, [](row::CallOp old) { return old.getRepeated(); }));
  for (auto [position, values] : llvm::enumerate(replaced))
    for (auto [from, to] :
         llvm::zip_equal(values, call.getOutputGroup(position)))
      from.replaceAllUsesWith(to);
  return call;
}

SmallVector<Operation *> isobath::fusion::findBetween(Operation *first,
                                                      Operation *last) {
  llvm::SmallPtrSet<Operation *, 16> reached{first};
  SmallVector<Operation *> between;
  for (Operation *op = first->getNextNode(); op != last;
       op = op->getNextNode()) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return reached.contains(operand.getDefiningOp());
        })) {
      reached.insert(op);
      between.push_back(op);
    }
  }
  return between;
}

bool isobath::fusion::needsAny(Operation *op, ArrayRef<Operation *> definers) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(definers, operand.getDefiningOp());
  });
}

llvm::BitVector isobath::fusion::findNeeded(row::CallOp call,
                                            Operation *consumer) {
  llvm::BitVector needed(call.getOutputGroupCount());
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value result : call.getOutputGroup(i))
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return user != consumer; }))
        needed.set(i);
  return needed;
}

unsigned isobath::fusion::findInput(row::CallOp call, OpOperand &use) {
  unsigned operand = use.getOperandNumber();
  for (unsigned input = 0;; ++input) {
    unsigned size = call.getInputGroup(input).size();
    if (operand < size)
      return input;
    operand -= size;
  }
}

unsigned isobath::fusion::findOutput(row::CallOp call, Value result) {
  unsigned output = 0;
  while (!llvm::is_contained(call.getOutputGroup(output), result))
    ++output;
  return output;
}

SmallVector<row::CallOp>
isobath::fusion::findElementConsumers(ResultRange list, Operation *place,
                                      ArrayRef<row::CallOp> calls,
                                      unsigned &input) {
  SmallVector<row::CallOp> consumers;
  for (Value matrix : list) {
    if (!matrix.hasOneUse())
      return {};
    OpOperand &use = *matrix.use_begin();
    auto consumer = dyn_cast<row::CallOp>(use.getOwner());
    if (!consumer || !llvm::is_contained(calls, consumer) ||
        llvm::is_contained(consumers, consumer))
      return {};
    unsigned inputHere = findInput(consumer, use);
    if (consumers.empty())
      input = inputHere;
    else if (inputHere != input ||
             consumer.getRows() != consumers[0].getRows() ||
             consumer.getKernel() != consumers[0].getKernel())
      return {};
    for (Value operand : consumer.getInputs()) {
      Operation *definer = operand.getDefiningOp();
      if (operand != matrix && definer && !definer->isBeforeInBlock(place))
        return {};
    }
    consumers.push_back(consumer);
  }
  return consumers;
}
