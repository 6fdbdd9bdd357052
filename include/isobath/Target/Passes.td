//===- Passes.td - Lowerings to the targets -----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_PASSES_TD
#define ISOBATH_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToReference : Pass<"isobath-lower-to-reference", "::mlir::ModuleOp"> {
  let summary = "Lower entries to calls of kernels made of plain loops";
  let description = [{
    Turns the tensors of every public function into buffers and each op into a
    call of a private function of plain loops, which the op itself supplies
    (ReferenceOpInterface). Ops that differ only in what they are called with
    share one function, so its number does not grow with depth where the shapes
    do not. Nothing is fused, reordered or updated in place.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ISOBATH_TARGET_PASSES_TD
