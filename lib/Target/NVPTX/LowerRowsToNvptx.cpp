//===- LowerRowsToNvptx.cpp - Row kernels as kernels of a GPU ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rows/Arithmetic.h"
#include "RowEmitter.h"
#include "isobath/Target/NVPTX/Architecture.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERROWSTONVPTX
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

namespace {
struct LowerRowsToNvptx
    : isobath::impl::LowerRowsToNvptxBase<LowerRowsToNvptx> {
  using LowerRowsToNvptxBase::LowerRowsToNvptxBase;
  void runOnOperation() override;
};
} // namespace

/// A function without a body yet, with what LaunchShape says as attributes.
static gpu::GPUFuncOp createFunction(gpu::GPUModuleOp module, KernelOp kernel,
                                     const LaunchShape &shape) {
  auto builder =
      ImplicitLocOpBuilder::atBlockEnd(kernel.getLoc(), module.getBody());
  auto function =
      gpu::GPUFuncOp::create(builder, getFunctionName(kernel),
                             DeviceArguments::getFunctionType(kernel));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(shape.threadsPerBlock), 1, 1}));
  function->setAttr(rowsPerBlockName,
                    builder.getI64IntegerAttr(shape.rowsPerBlock));
  function->setAttr(sharedScalarsName,
                    builder.getDenseI64ArrayAttr(shape.sharedScalars));
  function->setAttr(sharedCopiesName,
                    builder.getI64IntegerAttr(shape.sharedCopies));
  function->setAttr(sumsName, builder.getDenseI64ArrayAttr(shape.sums));
  // Otherwise ptxas may spill a few registers to have more blocks side by side.
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(1));
  DeviceArguments::addAttributes(kernel, function);
  return function;
}

/// The code of one row, at the builder's place.
static LogicalResult emitRow(KernelOp kernel, const KernelCode &code,
                             bool isRepeated) {
  Block &block = *kernel.getBody();
  if (code.layout.getForm() == RowForm::Registers) {
    emitInRegisters(code, block, isRepeated);
    return success();
  }
  FailureOr<rows::KernelSchedule> schedule = rows::KernelSchedule::get(kernel);
  if (failed(schedule))
    return failure();
  emitInStrips(code, *schedule, block, isRepeated);
  return success();
}

/// The rows of this thread: at most one, or with sums every so-manieth, which
/// are added to a part of the sums that is this row's threads' own.
static LogicalResult emitRows(KernelOp kernel, const KernelCode &code) {
  ImplicitLocOpBuilder &builder = code.builder;
  DeviceArguments &arguments = code.arguments;
  Value inBlock = arguments.constant(code.layout.getRowsPerBlock());
  Value block = gpu::BlockIdOp::create(builder, gpu::Dimension::x);
  Value first = arguments.add(arguments.multiply(block, inBlock),
                              code.threads.getRowInBlock());
  OpBuilder::InsertionGuard guard(builder);
  auto sums =
      llvm::make_filter_range(kernel.getOutputs(), [](BlockArgument output) {
        return isa<SumType>(output.getType());
      });
  if (sums.empty()) {
    Value isRow = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                        first, arguments.getRows());
    auto branch = scf::IfOp::create(builder, isRow);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    arguments.setRow(first);
    return emitRow(kernel, code, /*isRepeated=*/false);
  }
  for (BlockArgument sum : sums) {
    arguments.setPart(sum, first);
    RowEmitter(code).clear(sum);
  }
  code.threads.synchronize();
  Value stride = arguments.multiply(
      gpu::GridDimOp::create(builder, gpu::Dimension::x), inBlock);
  auto loop = scf::ForOp::create(builder, first, arguments.getRows(), stride);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  arguments.setRow(loop.getInductionVar());
  code.copies.enterLoop(*kernel.getBody());
  return emitRow(kernel, code, /*isRepeated=*/true);
}

static LogicalResult lowerKernel(gpu::GPUModuleOp module, KernelOp original) {
  FailureOr<LaunchShape> shape = LaunchShape::get(original);
  if (failed(shape))
    return failure();
  OwningOpRef<KernelOp> owned(original.clone());
  KernelOp kernel = *owned;
  gatherReductions(kernel);
  FailureOr<RowLayout> layout = RowLayout::get(kernel);
  if (failed(layout))
    return failure();
  gpu::GPUFuncOp function = createFunction(module, original, *shape);
  auto builder = ImplicitLocOpBuilder::atBlockBegin(
      kernel.getLoc(), &function.getBody().front());
  RowThreads threads(function, *layout, builder);
  DeviceArguments arguments(kernel, function, builder);
  ScalarCopies copies(kernel, function, arguments, threads, builder);
  if (failed(emitRows(kernel, {*layout, builder, arguments, threads, copies})))
    return failure();
  gpu::ReturnOp::create(builder);
  threads.addSharedMemory();
  RewritePatternSet patterns(function.getContext());
  populateDeviceMathPatterns(patterns);
  if (failed(rows::finishArithmetic(function, std::move(patterns))))
    return failure();
  for (Type type : kernel.getOutputTypes())
    if (auto sum = dyn_cast<SumType>(type))
      addSumKernel(module, sum);
  return success();
}

void LowerRowsToNvptx::runOnOperation() {
  FailureOr<Architecture> target = Architecture::get(architecture);
  if (failed(target)) {
    getOperation().emitError() << "architecture: given " << architecture
                               << ", expected " << listArchitectures();
    return signalPassFailure();
  }
  if (std::string error = ptx.empty() ? "" : target->setPtx(ptx);
      !error.empty()) {
    getOperation().emitError() << "ptx: " << error;
    return signalPassFailure();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  Attribute attribute = target->getAttribute(&getContext());
  auto module =
      gpu::GPUModuleOp::create(builder, getOperation().getLoc(), gpuModuleName,
                               builder.getArrayAttr(attribute));
  for (KernelOp kernel : getOperation().getOps<KernelOp>())
    if (failed(lowerKernel(module, kernel)))
      return signalPassFailure();
}
