//===- LowerRowsToCpu.cpp - Row kernels as vector code -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rows/Arithmetic.h"
#include "KernelEmitter.h"
#include "LaunchLowering.h"
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

/// The C function of a kernel: a loop over its rows. It stands in front of the
/// kernel, whose name it takes when that is gone.
static FailureOr<func::FuncOp> compileKernel(row::KernelOp kernel) {
  FailureOr<KernelSchedule> schedule = KernelSchedule::get(kernel);
  if (failed(schedule))
    return failure();
  ImplicitLocOpBuilder builder(kernel.getLoc(), kernel);
  auto function =
      func::FuncOp::create(builder, kernel.getSymName(),
                           LaunchLowering::getKernelType(builder.getContext()));
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

void LowerRowsToCpu::runOnOperation() {
  ModuleOp module = getOperation();
  LaunchLowering launches(module);
  SmallVector<row::LaunchOp> found;
  auto collect = [&] {
    found.clear();
    module.walk([&](row::LaunchOp launch) { found.push_back(launch); });
  };
  collect();
  for (row::LaunchOp launch : found)
    if (failed(launches.finishSums(launch)))
      return signalPassFailure();
  auto kernels = llvm::to_vector(module.getOps<row::KernelOp>());
  for (row::KernelOp kernel : kernels) {
    FailureOr<func::FuncOp> function = compileKernel(kernel);
    if (failed(function))
      return signalPassFailure();
    launches.setFunction(kernel, *function);
  }
  collect();
  for (row::LaunchOp launch : found)
    launches.lower(launch);
  for (row::KernelOp kernel : kernels)
    kernel.erase();
}
