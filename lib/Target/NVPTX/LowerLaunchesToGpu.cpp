//===- LowerLaunchesToGpu.cpp - From launches to calls of the device ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The other side of the contract in RowKernels.h.
//
//===----------------------------------------------------------------------===//

#include "../Host/DeviceCalls.h"
#include "../Host/LaunchCalls.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Planning/Passes.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERLAUNCHESTOGPU
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

namespace {
struct LowerLaunchesToGpu
    : isobath::impl::LowerLaunchesToGpuBase<LowerLaunchesToGpu> {
  void runOnOperation() override;
};
} // namespace

/// Scalars of a row, in one plane, of those arguments that shared memory holds.
static SmallVector<int64_t> getScalarsOfRow(LaunchOp launch, KernelOp kernel,
                                            const LaunchShape &shape) {
  SmallVector<int64_t> numbers;
  unsigned inputs = kernel.getInputTypes().size();
  for (int64_t position : shape.sharedScalars) {
    auto type = cast<ScalarsType>(kernel.getArguments()[position].getType());
    auto buffer = cast<MemRefType>(
        launch.getOutputGroup(position - inputs).front().getType());
    numbers.push_back(buffer.getNumElements() / type.getPlanes() /
                      launch.getRows());
  }
  return numbers;
}

/// The second stage of each sum.
static void finishSums(OpBuilder &builder, LaunchOp launch, KernelOp kernel,
                       const LaunchShape &shape, host::LaunchCalls &calls) {
  auto scratch = launch.getScratch();
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes())) {
    auto sum = dyn_cast<SumType>(type);
    if (!sum)
      continue;
    Value total = launch.getOutputGroup(position).front();
    int64_t width = cast<MemRefType>(total.getType()).getNumElements();
    SumLaunch stage = getSumLaunch(width);
    host::KernelLaunch description;
    description.kernel = getSumKernelName(sum);
    description.blocks = stage.blocks;
    description.threads = stage.threadsPerBlock;
    host::LaunchWords words;
    words.addAddress(scratch.front());
    words.addNumber(shape.countParts(launch.getRows()));
    words.addAddress(total);
    if (!sum.isWidthKnown())
      words.addNumber(width);
    calls.build(builder, launch.getLoc(), description, words,
                launch.getKernel());
    scratch = scratch.drop_front();
  }
}

static LogicalResult lowerLaunch(LaunchOp launch, host::LaunchCalls &calls) {
  KernelOp kernel = launch.lookupKernel();
  FailureOr<LaunchShape> shape = LaunchShape::get(kernel);
  if (failed(shape))
    return failure();
  if (failed(host::checkScratch(launch, kernel,
                                shape->countParts(launch.getRows()))))
    return failure();
  host::KernelLaunch description;
  description.kernel = getFunctionName(kernel);
  description.rows = launch.getRows();
  description.blocks = shape->countBlocks(launch.getRows());
  description.threads = shape->threadsPerBlock;
  description.sharedBytes =
      shape->countSharedBytes(getScalarsOfRow(launch, kernel, *shape));
  if (description.sharedBytes > maxSharedBytes)
    return launch.emitOpError()
           << "expected a kernel whose scalars take at most " << maxSharedBytes
           << " bytes of shared memory, got " << description.sharedBytes;
  host::LaunchWords words;
  words.addArguments(launch, kernel);
  words.addNumber(launch.getRows());
  OpBuilder builder(launch);
  calls.build(builder, launch.getLoc(), description, words, launch.getKernel());
  finishSums(builder, launch, kernel, *shape, calls);
  launch.erase();
  return success();
}

/// Tells the device where buffers of the arena begin.
static void lowerBegins(func::FuncOp entry, SymbolTable &symbols) {
  Value arena;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto name = entry.getArgAttrOfType<StringAttr>(i, net::nameAttrName);
        name && name.getValue() == "arena")
      arena = entry.getArgument(i);
  for (Operation &op : llvm::make_early_inc_range(entry.getOps())) {
    auto begins = op.getAttrOfType<DenseI64ArrayAttr>(beginsAttrName);
    if (!begins || !arena)
      continue;
    OpBuilder builder(&op);
    ArrayRef<int64_t> numbers = begins;
    for (; numbers.size() >= 2; numbers = numbers.drop_front(2))
      host::CallBuilder(builder, op.getLoc(), symbols)
          .pointer(
              createView(builder, op.getLoc(), arena, numbers[0],
                         MemRefType::get({numbers[1]}, builder.getI8Type())))
          .size(numbers[1])
          .call("isobath_begin");
    op.removeAttr(beginsAttrName);
  }
}

void LowerLaunchesToGpu::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  host::LaunchCalls calls(module, symbols);
  SmallVector<LaunchOp> launches;
  module.walk([&](LaunchOp launch) { launches.push_back(launch); });
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry.isPublic() && !entry.isExternal())
      lowerBegins(entry, symbols);
  for (LaunchOp launch : launches)
    if (failed(lowerLaunch(launch, calls)))
      return signalPassFailure();
  host::lowerCopies(module, symbols);
  for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
    kernel.erase();
}
