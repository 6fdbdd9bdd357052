//===- FuseKernels.cpp - Two row kernels as one -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAssembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

//===----------------------------------------------------------------------===//
// Parts of a row
//===----------------------------------------------------------------------===//

// A consumer may read a part of the row that a producer stores, such as one
// half of a head. If the row is computed element by element from loads and
// numbers, so can the part be.

static bool isElementwiseRow(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
}

static bool canTakePart(Value row, unsigned depth = 0) {
  constexpr unsigned deepest = 32; // of an expression whose parts are repeated
  Operation *op = row.getDefiningOp();
  if (!op || depth > deepest)
    return false;
  if (auto load = dyn_cast<row::LoadOp>(op))
    return !load.getColumn();
  if (isa<vector::BroadcastOp>(op) || matchPattern(op, m_Constant()))
    return true;
  return isElementwiseRow(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canTakePart(operand, depth + 1);
         });
}

/// `width` elements of `row` from `column` on.
static Value takePart(OpBuilder &builder, Value row, Value column,
                      int64_t width) {
  Operation *op = row.getDefiningOp();
  auto type = VectorType::get({width}, getElementTypeOrSelf(row.getType()));
  if (auto load = dyn_cast<row::LoadOp>(op))
    return row::LoadOp::create(builder, op->getLoc(), type, load.getSource(),
                               load.getIndex(), column);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return vector::BroadcastOp::create(builder, op->getLoc(), type,
                                       broadcast.getSource());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        builder, op->getLoc(),
        cast<TypedAttr>(
            cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type)));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(takePart(builder, operand, column, width));
  Operation *part = op->cloneWithoutRegions();
  part->setOperands(operands);
  part->getResult(0).setType(type);
  return builder.insert(part)->getResult(0);
}

//===----------------------------------------------------------------------===//
// From stores to loads
//===----------------------------------------------------------------------===//

/// The row that `kernel` stores, whole and once, to `matrix`; otherwise null.
static Value getStoredRow(row::KernelOp kernel, BlockArgument matrix) {
  if (!matrix.hasOneUse())
    return {};
  auto store = dyn_cast<row::StoreOp>(*matrix.user_begin());
  if (!store || store.getColumn() || store->getBlock() != kernel.getBody())
    return {};
  return store.getValue();
}

bool isobath::fusion::canForward(row::KernelOp producer, unsigned output,
                                 row::KernelOp consumer, unsigned input) {
  BlockArgument from = producer.getOutput(output),
                to = consumer.getInput(input);
  if (from.getType() != to.getType())
    return false;
  if (isa<row::ScalarsType>(from.getType()))
    return llvm::all_of(to.getUsers(), [](Operation *user) {
      auto load = dyn_cast<row::LoadScalarOp>(user);
      return !load || !load.getRow();
    });
  if (!isa<row::MatrixType>(from.getType()))
    return false;
  Value stored = getStoredRow(producer, from);
  return stored && llvm::all_of(to.getUsers(), [&](Operation *user) {
           auto load = cast<row::LoadOp>(user);
           return !load.getIndex() &&
                  (!load.getColumn() || canTakePart(stored));
         });
}

//===----------------------------------------------------------------------===//
// Two kernels as one
//===----------------------------------------------------------------------===//

row::KernelOp isobath::fusion::fuseKernels(row::KernelOp producer,
                                           row::KernelOp consumer,
                                           ArrayRef<InputSource> sources) {
  KernelAssembly fused(producer, joinNames(producer, consumer));
  IRMapping first, second;
  for (BlockArgument input : producer.getInputs())
    fused.addInput(input, first);
  for (auto [input, source] : llvm::zip_equal(consumer.getInputs(), sources)) {
    if (source.kind == InputSource::Own)
      fused.addInput(input, second);
    else if (source.kind == InputSource::ProducerInput)
      second.map(input, first.lookup(producer.getInput(source.position)));
  }
  for (BlockArgument output : producer.getOutputs())
    fused.addOutput(output, first);
  for (BlockArgument output : consumer.getOutputs())
    fused.addOutput(output, second);

  // Stands for rows until they are replaced.
  SmallVector<std::pair<Value, Value>> forwarded;
  for (auto [input, source] : llvm::zip_equal(consumer.getInputs(), sources)) {
    if (source.kind != InputSource::ProducerOutput)
      continue;
    BlockArgument output = producer.getOutput(source.position);
    if (isa<row::ScalarsType>(input.getType())) {
      second.map(input, first.lookup(output));
      continue;
    }
    Value placeholder = fused.addArgument(input.getType(), input.getLoc());
    second.map(input, placeholder);
    forwarded.push_back({placeholder, getStoredRow(producer, output)});
  }
  fused.append(producer, first);
  fused.append(consumer, second);
  for (auto [placeholder, row] : llvm::reverse(forwarded)) {
    Value stored = first.lookup(row);
    keepRounding(stored);
    for (Operation *user : llvm::make_early_inc_range(placeholder.getUsers())) {
      auto load = cast<row::LoadOp>(user);
      OpBuilder builder(load);
      load.getResult().replaceAllUsesWith(
          load.getColumn() ? takePart(builder, stored, load.getColumn(),
                                      load.getResult().getType().getDimSize(0))
                           : stored);
      load.erase();
    }
    fused.kernel.getBody()->eraseArgument(
        cast<BlockArgument>(placeholder).getArgNumber());
  }
  return fused.finish();
}

row::KernelOp isobath::fusion::pruneKernel(row::KernelOp kernel,
                                           llvm::BitVector &needed,
                                           llvm::BitVector &read) {
  KernelAssembly pruned(kernel, getStem(kernel));
  IRMapping mapping;
  for (BlockArgument input : kernel.getInputs())
    pruned.addInput(input, mapping);
  SmallVector<BlockArgument> unneeded;
  for (auto [position, output] : llvm::enumerate(kernel.getOutputs())) {
    // Numbers that are read back are needed as memory.
    if (llvm::any_of(output.getUsers(), row::getNumberSource))
      needed.set(position);
    if (needed.test(position))
      pruned.addOutput(output, mapping);
    else
      unneeded.push_back(output);
  }
  // What is stored to the others, and then what only they need, goes.
  unsigned argumentCount = pruned.kernel.getBody()->getNumArguments();
  for (BlockArgument output : unneeded)
    mapping.map(output, pruned.addArgument(output.getType(), output.getLoc()));
  pruned.append(kernel, mapping);
  for (BlockArgument output : unneeded)
    for (Operation *user :
         llvm::make_early_inc_range(mapping.lookup<Value>(output).getUsers()))
      user->erase();
  pruned.kernel.getBody()->eraseArguments(argumentCount, unneeded.size());
  row::KernelOp result = pruned.finish();
  // Loads that are gone may have been an input's last.
  for (unsigned position = kernel.getInputCount(); position-- > 0;) {
    if (!result.getInput(position).use_empty())
      continue;
    read.reset(position);
    result.getBody()->eraseArgument(position);
  }
  TypeRange types = result.getBody()->getArgumentTypes();
  result.setFunctionType(pruned.builder.getFunctionType(
      types.take_front(read.count()), types.drop_front(read.count())));
  return result;
}
