//===- LowerToRows.cpp - Ops as calls of row kernels --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Row/KernelTable.h"
#include "isobath/Fusion/Passes.h"
#include "isobath/Fusion/RowKernelOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERTOROWS
#include "isobath/Fusion/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

#include "isobath/Fusion/RowKernelOpInterface.cpp.inc"

namespace {

struct LowerToRows : isobath::impl::LowerToRowsBase<LowerToRows> {
  void runOnOperation() override;
};

/// Lowers the entries of a module, which share kernels.
class RowLowering {
public:
  explicit RowLowering(ModuleOp module) : kernels(module) {}

  LogicalResult run(func::FuncOp entry);

private:
  LogicalResult lower(Operation *op);

  row::KernelTable kernels;
  ConstantTables tables;
};

} // namespace

/// Products and attention, which read more than rows.
static bool belongsToLibrary(Operation *op) {
  return isa<net::LinearOp, net::LinearInputAdjointOp,
             net::LinearWeightAdjointOp, net::AttentionOp,
             net::AttentionAdjointOp>(op);
}

/// Parts of the tokens and wholes of parts: places in memory, no work.
static bool isPlace(Operation *op) {
  return isa<net::TakeTokensOp, net::JoinTokensOp>(op);
}

static LogicalResult verifyPrecision(Operation *op, TypeRange types) {
  for (Type type : types)
    if (getElementTypeOrSelf(type).isF64())
      return op->emitOpError()
             << "expected f32 or bf16, in which row kernels store, got "
             << type;
  return success();
}

/// Constants are not ours to give an interface to: all that occur are splats.
static LogicalResult buildConstant(arith::ConstantOp op, RowBuilder &rows) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return op.emitOpError()
           << "expected a floating-point constant with one value throughout";
  auto type = cast<RankedTensorType>(op.getType());
  int64_t width = type.getRank() == 0 ? 1 : type.getShape().back();
  rows.setRows(type.getNumElements() / width);
  Matrix output = rows.matrixOutput("y", op.getResult(), width);
  output.store(rows.filled(
      rows.constant(splat.getSplatValue<APFloat>().convertToDouble()), width));
  return success();
}

LogicalResult RowLowering::lower(Operation *op) {
  // A squared norm is a number in f64, whatever it is the norm of.
  if (failed(verifyPrecision(op, op->getOperandTypes())) ||
      (!isa<net::SquaredNormOp>(op) &&
       failed(verifyPrecision(op, op->getResultTypes()))))
    return failure();
  if (belongsToLibrary(op) || isPlace(op))
    return success();
  auto lowerable = dyn_cast<RowKernelOpInterface>(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!lowerable && !constant)
    return op->emitOpError() << "expected an op with a row kernel";

  RowBuilder rows(op, tables);
  if (lowerable)
    lowerable.buildRowKernel(rows);
  else if (failed(buildConstant(constant, rows)))
    return failure();
  row::KernelOp kernel = kernels.getOrInsert(rows.finish().release());
  row::CallOp call = rows.createCall(kernel);
  call.setRepeated(
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<depth::RouteOp, depth::PartialOp, depth::MergeOp,
                depth::ExtendOp>([](auto read) { return read.getRepeated(); })
          .Default(false));
  op->erase();
  return success();
}

LogicalResult RowLowering::run(func::FuncOp entry) {
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError()
           << "expected straight-line code, got "
           << entry.getBody().getBlocks().size() << " blocks";
  // Rows are extended as they are loaded; only what a product or the caller
  // reads extended becomes a kernel, after all readers are known.
  auto isExtension = [](Operation &op) {
    auto cast = dyn_cast<net::CastOp>(op);
    return cast && cast.isExtension();
  };
  // New ops stand in front of the op that is lowered, where the walk has been.
  Block &block = entry.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (!isExtension(op) && failed(lower(&op)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isExtension(op))
      continue;
    if (op.use_empty())
      op.erase();
    else if (failed(lower(&op)))
      return failure();
  }
  return success();
}

void LowerToRows::runOnOperation() {
  RowLowering lowering(getOperation());
  for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
    if (entry.isPublic() && !entry.isExternal() && failed(lowering.run(entry)))
      return signalPassFailure();
}
