//===- FuseLists.cpp - Kernels of lists and of sums over rows ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAssembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool isobath::fusion::isElementOfList(row::KernelOp kernel) {
  auto isMatrix = llvm::IsaPred<row::MatrixType>;
  return llvm::all_of(kernel.getInputTypes(), isMatrix) &&
         llvm::all_of(kernel.getOutputTypes(), isMatrix) &&
         llvm::all_of(*kernel.getBody(), [](Operation &op) {
           if (auto load = dyn_cast<row::LoadOp>(op))
             return !load.getIndex() && !load.getColumn();
           if (auto store = dyn_cast<row::StoreOp>(op))
             return !store.getColumn();
           return op.getNumRegions() == 0;
         });
}

/// The only store to the list `output`, if it is one of whole rows.
static row::StoreOp getListStore(row::KernelOp kernel, unsigned output) {
  BlockArgument list = kernel.getOutput(output);
  if (!isa<row::ListType>(list.getType()) || !list.hasOneUse())
    return {};
  auto store = dyn_cast<row::StoreOp>(*list.user_begin());
  return store && !store.getColumn() ? store : row::StoreOp();
}

bool isobath::fusion::storesWholeRows(row::KernelOp kernel, unsigned output) {
  return static_cast<bool>(getListStore(kernel, output));
}

/// A list of matrices like `matrix`.
static Type toList(Type matrix) {
  auto type = cast<row::MatrixType>(matrix);
  return row::ListType::get(type.getContext(), type.getWidth(),
                            type.getElementType());
}

row::KernelOp isobath::fusion::fuseIntoList(row::KernelOp producer,
                                            unsigned output,
                                            row::KernelOp consumer,
                                            unsigned input) {
  KernelAssembly fused(producer, joinNames(producer, consumer));
  IRMapping first, lists;
  for (BlockArgument argument : producer.getInputs())
    fused.addInput(argument, first);
  // What the consumer takes and gives is named after the list.
  BlockArgument list = producer.getOutput(output);
  for (BlockArgument argument : consumer.getInputs())
    if (argument.getArgNumber() != input)
      lists.map(argument,
                fused.addInput(toList(argument.getType()),
                               joinNames(list.getLoc(), argument.getLoc())));
  for (auto [position, argument] : llvm::enumerate(producer.getOutputs()))
    if (position != output)
      fused.addOutput(argument, first);
  for (BlockArgument argument : consumer.getOutputs())
    lists.map(argument, fused.addArgument(
                            toList(argument.getType()),
                            consumer.getOutputCount() == 1
                                ? list.getLoc()
                                : joinNames(list.getLoc(), argument.getLoc())));
  // The list that is no longer stored, until its store is replaced.
  Value placeholder = fused.addArgument(list.getType(), list.getLoc());
  first.map(list, placeholder);
  fused.append(producer, first);

  auto store = cast<row::StoreOp>(*placeholder.user_begin());
  keepRounding(store.getValue());
  OpBuilder builder(store);
  IRMapping second;
  for (Operation &op : consumer.getBody()->without_terminator()) {
    if (auto load = dyn_cast<row::LoadOp>(op)) {
      second.map(load.getResult(),
                 load.getSource() == consumer.getInput(input)
                     ? store.getValue()
                     : row::LoadOp::create(builder, load.getLoc(),
                                           lists.lookup(load.getSource()),
                                           store.getIndex())
                           .getResult());
    } else if (auto elementStore = dyn_cast<row::StoreOp>(op)) {
      row::StoreOp::create(
          builder, op.getLoc(), second.lookup(elementStore.getValue()),
          lists.lookup(elementStore.getTarget()), store.getIndex());
    } else {
      builder.clone(op, second);
    }
  }
  store.erase();
  fused.kernel.getBody()->eraseArgument(
      cast<BlockArgument>(placeholder).getArgNumber());
  return fused.finish();
}

//===----------------------------------------------------------------------===//
// Sums over rows
//===----------------------------------------------------------------------===//

bool isobath::fusion::isSumOfInputs(row::KernelOp kernel) {
  return isElementOfList(kernel) && kernel.getOutputCount() == 1 &&
         llvm::all_of(kernel.getInputs(),
                      [](BlockArgument input) { return input.hasOneUse(); }) &&
         llvm::all_of(kernel.getBody()->without_terminator(),
                      [](Operation &op) {
                        if (isa<arith::AddFOp, row::LoadOp>(op))
                          return op.getResult(0).hasOneUse();
                        return isa<row::StoreOp>(op);
                      });
}

row::KernelOp isobath::fusion::mergeSums(row::KernelOp kernel, unsigned into,
                                         unsigned from) {
  KernelAssembly merged(kernel, getStem(kernel));
  IRMapping mapping;
  for (BlockArgument input : kernel.getInputs())
    merged.addInput(input, mapping);
  for (auto [position, output] : llvm::enumerate(kernel.getOutputs()))
    if (position != from)
      merged.addOutput(output, mapping);
  mapping.map(kernel.getOutput(from), mapping.lookup(kernel.getOutput(into)));
  merged.append(kernel, mapping);
  return merged.finish();
}
