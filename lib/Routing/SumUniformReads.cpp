//===- SumUniformReads.cpp - Sums of sources from site to site -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutingRemarks.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Routing/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace isobath {
#define GEN_PASS_DEF_SUMUNIFORMREADS
#include "isobath/Routing/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using depth::FixedReadOp;
using depth::RunningSumOp;

namespace {
struct SumUniformReads : isobath::impl::SumUniformReadsBase<SumUniformReads> {
  void runOnOperation() override;
};
} // namespace

static constexpr routing::RoutingRemarks remarks("isobath-sum-uniform-reads");

/// Whether `read` has all closed sources of `earlier`, and later ones if any.
static bool continues(FixedReadOp read, FixedReadOp earlier) {
  OperandRange closed = read.getClosed(), older = earlier.getClosed();
  return closed.size() >= older.size() &&
         closed.take_front(older.size()) == older;
}

/// Uniform reads, each of which continues the one before.
static SmallVector<SmallVector<FixedReadOp>> findChains(Block &block) {
  SmallVector<SmallVector<FixedReadOp>> chains;
  for (auto read : block.getOps<FixedReadOp>()) {
    // One source is what folding makes of the read.
    if (read.getRule() != depth::FixedRule::Uniform ||
        read.getSources().size() < 2)
      continue;
    if (chains.empty() || !continues(read, chains.back().back()))
      chains.emplace_back();
    chains.back().push_back(read);
  }
  return chains;
}

/// read = (Σ_closed s + partial) / N, with Σ_closed continued from read to read
static void sumUp(IRRewriter &rewriter, ArrayRef<FixedReadOp> chain) {
  Value sum;
  size_t summed = 0; // closed sources
  for (FixedReadOp read : chain) {
    rewriter.setInsertionPoint(read);
    Location loc = read.getLoc();
    auto add = [&](Value total, Value source) -> Value {
      return total ? RunningSumOp::create(rewriter, loc, total, source)
                   : source;
    };
    for (Value source : read.getClosed().drop_front(summed))
      sum = add(sum, source);
    summed = read.getClosed().size();
    Value total = read.getPartial() ? add(sum, read.getPartial()) : sum;
    double share = 1.0 / static_cast<double>(read.getSources().size());
    rewriter.replaceOpWithNewOp<net::ScaleOp>(read, total,
                                              rewriter.getF64FloatAttr(share));
  }
}

void SumUniformReads::runOnOperation() {
  IRRewriter rewriter(&getContext());
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      for (ArrayRef<FixedReadOp> chain : findChains(block)) {
        SmallVector<Operation *> operations = routing::asOperations(chain);
        if (chain.size() < 2) {
          remarks.missed("NotSummed", operations)
              << remark::reason("no other uniform read continues it");
          continue;
        }
        FixedReadOp last = chain.back();
        int64_t reads = 0, closed = last.getClosed().size();
        for (FixedReadOp read : chain)
          reads += read.getSources().size();
        remarks.passed("Summed", operations) << remark::add(
            "{0} reads of {1} sources in all continue one sum of {2}",
            chain.size(), reads, closed);
        sumUp(rewriter, chain);
      }
}
