//===- Passes.td - Changes to a model before it is differentiated ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_PASSES_TD
#define ISOBATH_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def Specialize : Pass<"isobath-specialize", "::mlir::ModuleOp"> {
  let summary = "Rebuild @model for another batch or element type";
  let description = [{
    Gives the arguments of `@model(tokens, parameters…) -> logits` other types:
    `batch` sequences instead of those in the text, and floating-point tensors of
    `element-type`. The types of all other values follow, op by op, from those of
    their operands.

    A batch of 0 and an empty element type keep what is there.
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "0", "Sequences in a batch; 0: as it is">,
    Option<"elementType", "element-type", "std::string", "\"\"",
           "f32 or f64; empty: as it is">
  ];
}

#endif // ISOBATH_FRONTEND_PASSES_TD
