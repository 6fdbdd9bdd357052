//===- Passes.td - What runs: row kernels and library calls -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FUSION_PASSES_TD
#define ISOBATH_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def StoreActivations : Pass<"isobath-store-activations", "::mlir::ModuleOp"> {
  let summary = "Store the activations of a model in bf16";
  let description = [{
    Makes an f32 program that of a bf16 model. Stored in bf16 are: the sources
    of routes and the partial, or the residual stream; the results of products,
    but for logits and gradients; what products and attention read, and what
    attention returns. Everything else stays f32: arithmetic, logits and loss,
    gradients of sources and of parameters, statistics, optimiser and
    parameters, of which products read a rounded copy.

    Each rounding is a `net.cast` after the op that computes the tensor, or the
    result type of a product; readers other than products extend it again.
  }];
  let dependentDialects = ["::isobath::net::NetDialect"];
}

def LowerToRows : Pass<"isobath-lower-to-rows", "::mlir::ModuleOp"> {
  let summary = "Turn all ops but products and attention into row kernels";
  let description = [{
    In every public function, each op becomes a `row.call` of a kernel that the
    op itself supplies (RowKernelOpInterface); splat constants become kernels
    that fill. Ops that do the same to a row share one kernel, whatever their
    names in reports, their place in the model and the number of their sources.
    `net.linear`, `net.attention` and their adjoints stay, for a library.

    An embedding's adjoint adds the gradients of equal ids, one id a row, from
    the lists that `net.group_tokens` makes. A rotary embedding reads a table of
    angles, a constant that the compiler computes in f64.

    Kernels compute in f32 and round once, when they store: f64 tensors are an
    error. An op without a kernel is one too.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::isobath::net::NetDialect", "::isobath::row::RowDialect"];
}

def FuseRows : Pass<"isobath-fuse-rows", "::mlir::ModuleOp"> {
  let summary = "Fuse row kernels that pass rows to each other";
  let description = [{
    A call that takes rows from another call of as many rows becomes one with
    it: one kernel with both bodies, in which stored rows take the place of
    loads, and rows that nobody else reads are not stored. The same for scalars
    of a row, and for the calls that take the matrices of a list one by one.
    Additions keep their order, and a product that was stored is still rounded
    before it is added to anything, so fused programs compute the same bits; the
    one exception is that sums over the rows of one kernel, when all that is done
    with them is to add them, become one sum.

    Nothing is fused through a row read by number, through a sum over rows that
    the consumer needs complete, or across a product or attention, which would
    keep more tensors alive than it saves. Outputs that nobody reads are not
    computed. Kernels that end up equal are one, so that their number does not
    grow with depth.
  }];
  let dependentDialects = ["::isobath::row::RowDialect"];
}

#endif // ISOBATH_FUSION_PASSES_TD
