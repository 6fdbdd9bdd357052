//===- DepthCanonicalization.cpp - Canonical forms of routes and fixed reads
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace isobath::depth;

namespace {
/// A route over one source is that source, whatever its query. A repeated
/// route is left alone: it is there for its cost.
struct RouteOverOneSource : OpRewritePattern<RouteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RouteOp route,
                                PatternRewriter &rewriter) const override {
    if (route.getSourceCount() != 1)
      return rewriter.notifyMatchFailure(route, "expected one source");
    if (route.getRepeated())
      return rewriter.notifyMatchFailure(route, "repeated for its cost");
    if (!route.getWeights().use_empty() || !route.getLogits().use_empty() ||
        !route.getRstd().use_empty())
      return rewriter.notifyMatchFailure(route, "its statistics are in use");
    Value source = route.getClosed().front();
    for (Value mix : route.getMixes())
      rewriter.replaceAllUsesWith(mix, source);
    rewriter.eraseOp(route);
    return success();
  }
};
} // namespace

void RouteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<RouteOverOneSource>(context);
}

OpFoldResult FixedReadOp::fold(FoldAdaptor) {
  SmallVector<Value> sources = getSources();
  switch (getRule()) {
  case FixedRule::Newest:
    return sources.back();
  case FixedRule::Embedding:
    return sources.front();
  case FixedRule::Uniform:
    // (s) / 1
    return sources.size() == 1 ? OpFoldResult(sources.front()) : OpFoldResult();
  }
  llvm_unreachable("a fixed read has one of three rules");
}
