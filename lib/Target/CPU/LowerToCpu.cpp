//===- LowerToCpu.cpp - Entries as launches and library calls -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What remains after fusion are calls of row kernels, and products and
// attention, which are calls of runtime/include/isobath/runtime/cpu_library.h:
// the signatures there and the calls built here change together.
//
//===----------------------------------------------------------------------===//

#include "RowsInPlace.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Row/RowOps.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Target/CPU/LibraryCalls.h"
#include "isobath/Target/CPU/RowLaunches.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERTOCPU
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;

namespace {
struct LowerToCpu : isobath::impl::LowerToCpuBase<LowerToCpu> {
  void runOnOperation() override;
};
} // namespace

/// A launch, with room for the partial sums of its chunks.
static void buildLaunch(OpBuilder &builder, row::CallOp call, ValueRange inputs,
                        ValueRange outputs) {
  SmallVector<Value> scratch = allocateScratch(
      builder, call.getLoc(), call.lookupKernel(), call.getRows());
  row::LaunchOp::create(builder, call.getLoc(), call, inputs, outputs, scratch);
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

/// Of a matrix that is read, for one that is written: by a row kernel, or by a
/// product that adds to it.
static bool canUpdateInPlace(Operation *op, unsigned operand, unsigned result) {
  if (auto adjoint = dyn_cast<net::LinearWeightAdjointOp>(op))
    return op->getOperand(operand) == adjoint.getSum();
  auto call = dyn_cast<row::CallOp>(op);
  return call && cpu::canWriteInPlace(call, operand, result);
}

void LowerToCpu::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  LibraryCalls library(module, symbols);
  auto launch = [&](OpBuilder &builder, Operation *op, ValueRange operands,
                    ValueRange results) -> LogicalResult {
    if (auto call = dyn_cast<row::CallOp>(op))
      buildLaunch(builder, call, operands, results);
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      buildConstant(builder, constant, results.front(), symbols);
    else
      return library.build(builder, op, operands, results);
    return success();
  };
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entries.push_back(function);
  for (func::FuncOp entry : entries)
    if (failed(bufferizeEntry(entry, launch, canUpdateInPlace)))
      return signalPassFailure();
}
