//===- Passes.td - What a training step is --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIFFERENTIATION_PASSES_TD
#define ISOBATH_DIFFERENTIATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"isobath-differentiate", "::mlir::ModuleOp"> {
  let summary = "Add the reverse-mode derivative of a function";
  let description = [{
    For the function named by `function`, f(x…) -> y…, adds a function named by
    `result`,

        g(x…, ∂y…) -> (y…, ∂x…)

    whose additional arguments are the gradients of the floating-point results
    and whose additional results are those of the differentiated arguments: the
    ones with a `net.parameter` attribute or, where none has one, all
    floating-point arguments.

    Where a value is used several times, its gradient is the sum of what its
    uses contribute, added from the last use to the first; within one op from
    its first operand to its last. A gradient that is zero throughout is a
    constant.
  }];
  let options = [
    Option<"function", "function", "std::string", "\"loss\"",
           "The function to differentiate">,
    Option<"result", "result", "std::string", "\"gradient\"",
           "The name of the new function">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::isobath::net::NetDialect",
                           "::isobath::depth::DepthDialect"];
}

def DeriveEntries : Pass<"isobath-derive-entries", "::mlir::ModuleOp"> {
  let summary = "Derive from @model the functions that the runtime calls";
  let description = [{
    Replaces `@model(tokens, parameters…) -> logits` by the entries listed in
    `entries`, in that order: `logits` (the model as it is), `loss` (the
    cross-entropy of each target), `gradient` (its derivative by every
    parameter, times the scalar `scale`), `routes` (the depth distributions of
    all sites), and over the contiguous parameter vector `accumulate`, `norm`
    and `update` (AdamW). docs/manifest.md describes their buffers. With
    `keep-model`, the entries are added and `@model` stays.
  }];
  let options = [
    ListOption<"entries", "entries", "std::string", "The entries to derive">,
    Option<"keepModel", "keep-model", "bool", "false",
           "Leave @model for another run">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::isobath::net::NetDialect",
                           "::isobath::depth::DepthDialect"];
}

#endif // ISOBATH_DIFFERENTIATION_PASSES_TD
