//===- Passes.td - What each route reads, and when ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_ROUTING_PASSES_TD
#define ISOBATH_ROUTING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareRoutes : Pass<"isobath-share-routes", "::mlir::ModuleOp"> {
  let summary = "Make one route of those that read the same sources";
  let description = [{
    In every function, routes over the same closed sources and partial, with the
    same `heads` and `epsilon`, become one route with the queries of all, which
    reads every source once. It stands where the first of them stood; what
    computes the queries of the others, such as a key gain, moves in front of
    it. Within a route, equal queries become one. Equal is what is one value:
    run CSE before.

    A `repeated` route, which runs for its cost alone, is left as it is, and so
    is a route whose statistics are in use. This is why the pass runs before
    anything is differentiated: there, a model whose queries are tied becomes
    the model with one query, and its derivative that model's.

    The groups of queries that become one are joined, `qk` and `v` to `qkv`.
  }];
  let dependentDialects = ["::isobath::depth::DepthDialect"];
}

#endif // ISOBATH_ROUTING_PASSES_TD
