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

def ChunkHead : Pass<"isobath-chunk-head", "::mlir::ModuleOp"> {
  let summary = "Compute the logits of some tokens at a time";
  let description = [{
    A product whose logits only a cross-entropy and its adjoint read, together
    with these and with the products that read the logits' gradient, is done for
    one chunk of tokens after the other, so that the logits of all tokens never
    exist at once. A chunk is tokens that follow each other, also from one
    sequence into the next. The gradient of the weight is passed from chunk to
    chunk, and each product adds to it. Losses and gradients of the input are
    joined at the end.

    Without `tokens`, chunks are of equal size, a multiple of 64 tokens, and
    their logits take at most 32 MiB, unless that would be fewer than 256 tokens
    a chunk. Logits that are below that are left whole, as are those that
    something else reads: what an entry returns it holds.
  }];
  let options = [
    Option<"tokens", "tokens", "int64_t", /*default=*/"0",
           "Tokens of a chunk, the last one excepted; chosen unless given">];
  let dependentDialects = ["::isobath::net::NetDialect"];
}

def PlanMemory : Pass<"isobath-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all intermediate buffers in one arena";
  let description = [{
    In every public function of straight-line code, replaces the `memref.alloc`
    ops by views into one additional last argument, the arena, whose size is the
    planned peak. A buffer is live from the first op that uses it to the last;
    buffers that are live together do not overlap, and each is placed at the
    lowest offset that is free, in the order of first use. Offsets are multiples
    of 64 bytes. What uses a view of a buffer uses the buffer. A buffer used by
    another op with results is live to the end; one without a static size is
    left alone.

    With `gap`, so many bytes behind each buffer belong to none, and the first
    op that uses a buffer has the attribute `isobath.begins`, pairs of offset
    and bytes in the arena: a device that watches accesses can tell buffers
    apart, and whether one has been written since it took its place.
  }];
  let options = [
    Option<"gap", "gap", "int64_t", /*default=*/"0",
           "Bytes behind each buffer that belong to none">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ISOBATH_PLANNING_PASSES_TD
