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

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Row/RowOps.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Target/CPU/LibraryCalls.h"
#include "isobath/Target/CPU/RowLaunches.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

/// Whether a kernel treats the elements of its rows one by one: then an output
/// may be an input's buffer, since every element is read before it is written.
static bool isElementwise(row::KernelOp kernel) {
  return llvm::all_of(kernel.getBody()->getOperations(), [](Operation &op) {
    if (auto load = dyn_cast<row::LoadOp>(op))
      return !load.getIndex() && !load.getColumn();
    if (auto store = dyn_cast<row::StoreOp>(op))
      return !store.getIndex() && !store.getColumn();
    return op.getNumRegions() == 0 && !isa<vector::ReductionOp>(op);
  });
}

/// Whether each matrix of the list `input` is read only where the row that is
/// made of it is stored to the matrix of the same number in the list `output`:
/// what a pass over the strips of a row reads, it reads before it writes.
static bool isUpdateOfList(BlockArgument input, BlockArgument output) {
  if (!isa<row::ListType>(input.getType()) ||
      input.getType() != output.getType())
    return false;
  // The one op that does more than to count the list.
  auto getAccess = [](BlockArgument list) {
    Operation *access = nullptr;
    for (Operation *user : list.getUsers()) {
      if (isa<row::CountOp>(user))
        continue;
      if (access)
        return static_cast<Operation *>(nullptr);
      access = user;
    }
    return access;
  };
  auto load = dyn_cast_or_null<row::LoadOp>(getAccess(input));
  auto store = dyn_cast_or_null<row::StoreOp>(getAccess(output));
  if (!load || !store || load->getBlock() != store->getBlock() ||
      load.getIndex() != store.getIndex() || load.getColumn() ||
      store.getColumn())
    return false;
  // From the load to the store element by element, so that both are of one
  // pass.
  Value row = load;
  while (row != store.getValue()) {
    if (!row.hasOneUse())
      return false;
    Operation *user = *row.user_begin();
    if (user->getNumResults() != 1 || isa<vector::ReductionOp>(user) ||
        user->getNumRegions() != 0 || user->getBlock() != store->getBlock())
      return false;
    row = user->getResult(0);
  }
  return true;
}

/// Where an operand or result of a call stands: the argument of the kernel, and
/// the place in its group.
static std::pair<BlockArgument, unsigned>
findArgument(ArrayRef<int32_t> groups, MutableArrayRef<BlockArgument> arguments,
             unsigned position) {
  for (auto [size, argument] : llvm::zip_equal(groups, arguments)) {
    if (position < static_cast<unsigned>(size))
      return {argument, position};
    position -= size;
  }
  llvm_unreachable("a position in one of the groups");
}

/// Of a matrix that is read, for one that is written.
static bool canUpdateInPlace(Operation *op, unsigned operand, unsigned result) {
  auto call = dyn_cast<row::CallOp>(op);
  if (!call)
    return false;
  row::KernelOp kernel = call.lookupKernel();
  auto [input, inputPlace] =
      findArgument(call.getInputGroups(), kernel.getInputs(), operand);
  auto [output, outputPlace] =
      findArgument(call.getOutputGroups(), kernel.getOutputs(), result);
  if (isUpdateOfList(input, output))
    return inputPlace == outputPlace;
  return isElementwise(kernel) && isa<row::MatrixType>(input.getType()) &&
         input.getType() == output.getType();
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
