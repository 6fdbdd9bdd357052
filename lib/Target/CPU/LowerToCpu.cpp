//===- LowerToCpu.cpp - Entries to launches and library calls -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/LowerToLaunches.h"
#include "../Rows/RowsInPlace.h"
#include "RowChunks.h"
#include "isobath/Target/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERTOCPU
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {
struct LowerToCpu : isobath::impl::LowerToCpuBase<LowerToCpu> {
  void runOnOperation() override;
};
} // namespace

void LowerToCpu::runOnOperation() {
  auto countParts = [](row::KernelOp kernel, int64_t rows) {
    return FailureOr<int64_t>(cpu::countChunks(kernel, rows));
  };
  if (failed(host::lowerToLaunches(getOperation(),
                                   {countParts, rows::canWriteInPlace})))
    signalPassFailure();
}
