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
    run CSE before. The same is done to static reads, with their mixtures.

    A `repeated` route, which runs for its cost alone, is left as it is, and so
    is a route whose statistics are in use. This is why the pass runs before
    anything is differentiated: there, a model whose queries are tied becomes
    the model with one query, and its derivative that model's.

    The groups of queries that become one are joined, `qk` and `v` to `qkv`.
  }];
  let dependentDialects = ["::isobath::depth::DepthDialect"];
}

def SumUniformReads : Pass<"isobath-sum-uniform-reads", "::mlir::ModuleOp"> {
  let summary = "Continue the sums of uniform reads from site to site";
  let description = [{
    A uniform `depth.fixed_read` adds up all of its sources, most of which the
    read before has added up too: L sites read some L²/2 sources, and as many
    gradients are added to. Where a read continues the closed sources of the one
    before, both become `depth.running_sum`s of what is new since, and a
    multiplication by 1/N: L sites read L sums and L sources.

    The partial is no part of the sum that is continued, as it changes from site
    to site. Additions keep their order; 1/N is rounded before the product, where
    the read divides. A read that no other continues stays as it is.

    In a bf16 model the sums stay f32: sources are rounded, the read is not, and
    a sum that was rounded at every site would move away from it.

    Runs before anything is differentiated, and so does the same for gradients.
  }];
  let dependentDialects = [
    "::isobath::depth::DepthDialect", "::isobath::net::NetDialect"];
}

/// How a pass treats the routes of a block; see Routing/Schedule.h.
class ScheduleOption<string what>
    : Option<"schedule", "schedule", "::isobath::routing::Schedule",
             "::isobath::routing::Schedule::Auto", what,
             [{::llvm::cl::values(
                 clEnumValN(::isobath::routing::Schedule::Each, "each",
                            "Each route by itself, where it stands"),
                 clEnumValN(::isobath::routing::Schedule::Batched, "batched",
                            "All routes of a block together"),
                 clEnumValN(::isobath::routing::Schedule::Auto, "auto",
                            "Whichever costs less"))}]>;

def SourceBytesOption
    : Option<"sourceBytes", "source-bytes", "int64_t", "4",
             "Bytes in which an element of a source will be stored">;

/// The fields of routing::Machine.
def ReadCostOption
    : Option<"readCost", "read-cost", "double",
             "::isobath::routing::Machine().readCost",
             "What reading a byte costs">;
def WriteCostOption
    : Option<"writeCost", "write-cost", "double",
             "::isobath::routing::Machine().writeCost",
             "What writing a byte costs">;
def MostRoutesOption
    : Option<"mostRoutes", "most-routes", "int64_t",
             "::isobath::routing::Machine().mostRoutes",
             "Routes that one kernel serves at most">;

def BatchRoutes : Pass<"isobath-batch-routes", "::mlir::ModuleOp"> {
  let summary = "Let a block's routes read their closed sources together";
  let description = [{
    Routes over the same closed sources become one `depth.partial` with the
    queries of all, where the first of them stands, and for each route that has
    a partial a `depth.merge` where the route stood. The closed sources are read
    once; each query's mix of them, in the type of the arithmetic, waits for
    its merge. What computes the queries, such as a key gain, moves in front.

    Adjoints get what they need of a route's statistics from both ops: α and ℓ
    of closed sources from `depth.closed_statistics`, which is computed in front
    of the adjoint. A route whose statistics have other uses stays as it is.
    Repeated routes become repeated ops of their own.

    Where every sublayer closes a block, no two routes have the same sources,
    but each has those of the one before. Of neighbours, about √N of N, one
    `depth.partial` then reads the sources that all of them have, and a
    `depth.extend` in each place those born in between; adjoints get statistics
    of all from `depth.extended_statistics`. Of the N²/2 reads one by one some
    N √N are left, and N mixes are written and read.

    With `schedule` `auto`, the routes of a block are batched if what they then
    move costs less; repeated ones then do as the others. At most `most-routes`
    share one `depth.partial`, so that kernels do not grow with the model.
  }];
  let options = [
    ScheduleOption<"How the routes of a block are run">,
    SourceBytesOption,
    ReadCostOption,
    WriteCostOption,
    MostRoutesOption
  ];
  let dependentDialects = ["::isobath::depth::DepthDialect"];
}

def BatchAdjoints : Pass<"isobath-batch-adjoints", "::mlir::ModuleOp"> {
  let summary = "Let adjoints of a block's routes read their sources together";
  let description = [{
    Makes one `depth.route_adjoint_deferred` of those over the same closed
    sources, where the last of them stands: at the block's start, as gradients
    run backwards. It reads every source once and adds to its gradient once. The
    mixes' gradients g and the scalars of the other routes wait for it.

    What the other ops contributed to a source's gradient is left out of the
    sum, wherever that is built; the one op contributes all of it. What is made
    of the queries' gradients moves behind it. Ops are left alone where that is
    not possible: where such a sum is used for more than the next one, or where
    the op needs what is made of a query's gradient.

    Where every sublayer closes a block, no two ops have the same sources, but
    each has those of the next one. Of neighbours, about √N of N, one op then
    does the sources that all of them have; those born in between, which are
    few, are left to an op of each. For N sources that moves some 3 N √N + 2 N
    vectors, where one op for each route moves 3/2 N². To gather for each
    source, when its last reader is done, the gradients of all of them would
    move N²/2 + 3 N, which is less below some 30 sources, but would add up a
    query's gradient once for each source that it reads.

    With `schedule` `auto`, ops are joined if what they then move costs less. At
    most `most-routes` are joined into one, so that kernels do not grow with the
    model.
  }];
  let options = [
    ScheduleOption<"How the adjoints of a block's routes are run">,
    SourceBytesOption,
    ReadCostOption,
    WriteCostOption,
    MostRoutesOption
  ];
  let dependentDialects = ["::isobath::depth::DepthDialect"];
}

#endif // ISOBATH_ROUTING_PASSES_TD
