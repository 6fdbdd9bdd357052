//===- LowerToLaunches.cpp - From tensors to a schedule of calls ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What remains after fusion are calls of row kernels, and products and
// attention, which are calls of the device (device_calls.h).
//
//===----------------------------------------------------------------------===//

#include "LowerToLaunches.h"
#include "LaunchCalls.h"
#include "LibraryCalls.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::host;

/// A launch, with room for the partial sums of its parts.
static LogicalResult buildLaunch(OpBuilder &builder, row::CallOp call,
                                 ValueRange inputs, ValueRange outputs,
                                 const ScheduleTarget &target) {
  row::KernelOp kernel = call.lookupKernel();
  SmallVector<Value> scratch;
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes())) {
    auto sum = dyn_cast<row::SumType>(type);
    if (!sum)
      continue;
    FailureOr<int64_t> parts = target.countParts(kernel, call.getRows());
    if (failed(parts))
      return failure();
    scratch.push_back(memref::AllocOp::create(
        builder, call.getLoc(),
        getScratchType(sum, *parts, call.getOutputGroup(position).front())));
  }
  row::LaunchOp::create(builder, call.getLoc(), call, inputs, outputs, scratch);
  return success();
}

/// Tables, such as rotary angles, are part of the program's constant data.
static void buildConstant(OpBuilder &builder, arith::ConstantOp op,
                          Value result, SymbolTable &symbols) {
  auto type = cast<MemRefType>(result.getType());
  OpBuilder detached(op.getContext());
  auto global = memref::GlobalOp::create(
      detached, op.getLoc(), "table", detached.getStringAttr("private"), type,
      op.getValue(), /*constant=*/true, /*alignment=*/IntegerAttr());
  symbols.insert(global);
  Value table = memref::GetGlobalOp::create(builder, op.getLoc(), type,
                                            global.getSymName());
  memref::CopyOp::create(builder, op.getLoc(), table, result);
}

LogicalResult host::lowerToLaunches(ModuleOp module,
                                    const ScheduleTarget &target) {
  SymbolTable symbols(module);
  LibraryCalls library(module, symbols);
  auto launch = [&](OpBuilder &builder, Operation *op, ValueRange operands,
                    ValueRange results) -> LogicalResult {
    if (auto call = dyn_cast<row::CallOp>(op))
      return buildLaunch(builder, call, operands, results, target);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      buildConstant(builder, constant, results.front(), symbols);
      return success();
    }
    return library.build(builder, op, operands, results);
  };
  // Of a matrix that is read, for one that is written: by a row kernel, or by a
  // product that adds to it.
  auto canUpdateInPlace = [&](Operation *op, unsigned operand,
                              unsigned result) {
    if (auto adjoint = dyn_cast<net::LinearWeightAdjointOp>(op))
      return op->getOperand(operand) == adjoint.getSum();
    auto call = dyn_cast<row::CallOp>(op);
    return call && target.canWriteInPlace(call, operand, result);
  };
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entries.push_back(function);
  for (func::FuncOp entry : entries)
    if (failed(bufferizeEntry(entry, launch, canUpdateInPlace)))
      return failure();
  return success();
}
