//===- LowerToGpu.cpp - Entries to launches for a GPU ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/LowerToLaunches.h"
#include "../Rows/RowsInPlace.h"
#include "RowEmitter.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERTOGPU
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

namespace {
struct LowerToGpu : isobath::impl::LowerToGpuBase<LowerToGpu> {
  void runOnOperation() override;
};
} // namespace

/// Whether threads read of the row `input` only elements that they write to
/// `output` themselves, and before they do. They run one operation after the
/// other, but not in step with each other.
static bool isOfOneThread(KernelOp kernel, BlockArgument input,
                          BlockArgument output) {
  // The layout is that of the order in which the code runs. A kernel that has
  // none is reported where its code is made.
  ScopedDiagnosticHandler quiet(kernel.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<KernelOp> clone(kernel.clone());
  gatherReductions(*clone);
  FailureOr<RowLayout> layout = RowLayout::get(*clone);
  if (failed(layout))
    return false;
  // Threads beyond the end of a row repeat what others have of it.
  if (layout->countChunks(getWidth(input.getType())) % layout->getThreads() !=
      0)
    return false;
  // In strips, each thread loads an extracted element for itself.
  if (layout->getForm() == RowForm::Strips &&
      kernel.walk([](vector::ExtractOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return false;
  Block *body = kernel.getBody();
  auto writers =
      llvm::make_filter_range(output.getUsers(), llvm::IsaPred<StoreOp>);
  Operation *store = body->findAncestorOpInBlock(**writers.begin());
  return llvm::all_of(input.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    if (!load) // counts a list
      return isa<CountOp>(user);
    Operation *before = body->findAncestorOpInBlock(*user);
    return !load.getColumn() &&
           (before == store || before->isBeforeInBlock(store));
  });
}

static bool canWriteInPlace(CallOp call, unsigned operand, unsigned result) {
  if (!rows::canWriteInPlace(call, operand, result))
    return false;
  KernelOp kernel = call.lookupKernel();
  return isOfOneThread(
      kernel,
      rows::findArgument(call.getInputGroups(), kernel.getInputs(), operand)
          .first,
      rows::findArgument(call.getOutputGroups(), kernel.getOutputs(), result)
          .first);
}

void LowerToGpu::runOnOperation() {
  auto countParts = [](KernelOp kernel, int64_t rows) -> FailureOr<int64_t> {
    auto shape = nvptx::LaunchShape::get(kernel);
    if (failed(shape))
      return failure();
    return shape->countParts(rows);
  };
  if (failed(
          host::lowerToLaunches(getOperation(), {countParts, canWriteInPlace})))
    signalPassFailure();
}
