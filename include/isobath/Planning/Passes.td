//===- Passes.td - Where everything lives -------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_PLANNING_PASSES_TD
#define ISOBATH_PLANNING_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"isobath-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all intermediate buffers in one arena";
  let description = [{
    In every public function of straight-line code, replaces the `memref.alloc`
    ops by views into one additional last argument, the arena, whose size is the
    planned peak. A buffer is live from the first op that uses it to the last;
    buffers that are live together do not overlap, and each is placed at the
    lowest offset that is free, in the order of first use. Offsets are multiples
    of 64 bytes. A buffer used by an op with results, such as a view, is live to
    the end; one without a static size is left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ISOBATH_PLANNING_PASSES_TD
