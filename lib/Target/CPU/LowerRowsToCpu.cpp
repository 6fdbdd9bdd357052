//===- LowerRowsToCpu.cpp - Row kernels as vector code -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/DeviceCalls.h"
#include "../Host/LaunchCalls.h"
#include "../Rows/Arithmetic.h"
#include "KernelEmitter.h"
#include "RowChunks.h"
#include "isobath/Dialect/Row/KernelTable.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERROWSTOCPU
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::rows;

namespace {
struct LowerRowsToCpu : isobath::impl::LowerRowsToCpuBase<LowerRowsToCpu> {
  void runOnOperation() override;
};
} // namespace

/// Sums are finished by a launch of their own; `launch` itself writes only
/// partial sums.
static LogicalResult finishSums(row::LaunchOp launch,
                                row::KernelTable &kernels) {
  row::KernelOp kernel = launch.lookupKernel();
  auto scratch = launch.getScratch();
  OpBuilder builder(launch->getContext());
  builder.setInsertionPointAfter(launch);
  int64_t chunks = countChunks(kernel, launch.getRows());
  if (failed(host::checkScratch(launch, kernel, chunks)))
    return failure();
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes())) {
    auto sum = dyn_cast<row::SumType>(type);
    if (!sum)
      continue;
    row::KernelOp finishing =
        kernels.getOrInsert(buildFinishingKernel(launch.getLoc(), sum, chunks));
    row::LaunchOp::create(
        builder, launch.getLoc(), finishing, {{scratch.front()}},
        {{launch.getOutputGroup(position).front()}}, ValueRange(), /*rows=*/1);
    scratch = scratch.drop_front();
  }
  return success();
}

/// IsobathRowKernel.
static FunctionType getFunctionType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  return FunctionType::get(context, {pointer, i64, i64, i64}, {});
}

/// The C function of a kernel: a loop over its rows. It stands in front of the
/// kernel, whose name it takes when that is gone.
static FailureOr<func::FuncOp> compileKernel(row::KernelOp kernel) {
  FailureOr<KernelSchedule> schedule = KernelSchedule::get(kernel);
  if (failed(schedule))
    return failure();
  ImplicitLocOpBuilder builder(kernel.getLoc(), kernel);
  auto function = func::FuncOp::create(builder, kernel.getSymName(),
                                       getFunctionType(builder.getContext()));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Value begin = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                           entry->getArgument(1));
  Value end = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                         entry->getArgument(2));
  Value one = arith::ConstantIndexOp::create(builder, 1);
  KernelArguments arguments(kernel, builder, entry->getArgument(0),
                            entry->getArgument(3));
  auto rows = scf::ForOp::create(builder, begin, end, one);
  func::ReturnOp::create(builder);

  arguments.setRow(rows.getInductionVar());
  builder.setInsertionPoint(rows.getBody()->getTerminator());
  KernelEmitter(*schedule, builder, arguments, rows)
      .emitBlock(*kernel.getBody());
  RewritePatternSet patterns(function->getContext());
  populateExpandMathPatterns(patterns);
  if (failed(finishArithmetic(function, std::move(patterns))))
    return failure();
  return function;
}

static SmallVector<row::LaunchOp> collectLaunches(ModuleOp module) {
  SmallVector<row::LaunchOp> launches;
  module.walk([&](row::LaunchOp launch) { launches.push_back(launch); });
  return launches;
}

void LowerRowsToCpu::runOnOperation() {
  ModuleOp module = getOperation();
  row::KernelTable table(module);
  for (row::LaunchOp launch : collectLaunches(module))
    if (failed(finishSums(launch, table)))
      return signalPassFailure();
  // Before a kernel and its function have one name for a while.
  SymbolTable symbols(module);
  auto kernels = llvm::to_vector(module.getOps<row::KernelOp>());
  llvm::StringMap<std::pair<row::KernelOp, func::FuncOp>> compiled;
  for (row::KernelOp kernel : kernels) {
    FailureOr<func::FuncOp> function = compileKernel(kernel);
    if (failed(function))
      return signalPassFailure();
    compiled[kernel.getSymName()] = {kernel, *function};
  }
  host::LaunchCalls calls(module, symbols);
  for (row::LaunchOp launch : collectLaunches(module)) {
    OpBuilder builder(launch);
    auto [kernel, function] = compiled.at(launch.getKernel());
    host::LaunchWords words;
    words.addArguments(launch, kernel);
    host::KernelLaunch description;
    description.kernel = launch.getKernel();
    description.function = function;
    description.rows = launch.getRows();
    description.chunks = countChunks(kernel, launch.getRows());
    calls.build(builder, launch.getLoc(), description, words,
                launch.getKernel());
    launch.erase();
  }
  host::lowerCopies(module, symbols);
  for (row::KernelOp kernel : kernels)
    kernel.erase();
}
