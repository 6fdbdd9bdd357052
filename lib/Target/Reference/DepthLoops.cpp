//===- DepthLoops.cpp - What routes and fixed reads compute, in loops -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op; each follows the formula in the op's documentation.
// Sources, queries and gradients are lists that loops count through; sums over
// them are added in the order of the lists.
//
//===----------------------------------------------------------------------===//

#include "DepthLoops.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::reference;

using Buffers = ArrayRef<Buffer>;

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

static void route(RouteOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), N = op.getSourceCount();
  BufferList queries(k, in.take_front(Q)), sources(k, in.drop_front(Q));
  BufferList mixes(k, out.take_front(Q));
  Buffer weights = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, sources.front(), op.getHeads());
  buildLogits(loops, queries, sources, op.getEpsilon().convertToDouble(),
              logits, rstd);
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    // softmax: exp(ℓ − max) / Σ exp(ℓ − max)
    Scalar largest = largestLogit(k, logits, q, token, head);
    auto numerator = [&](Index i) {
      return k.exp(logits.load(at(q, token, head, i)) - largest);
    };
    Scalar total = k.sum(N, numerator);
    k.loop(N, [&](Index i) {
      weights.store(at(q, token, head, i), numerator(i) / total);
    });
    auto alpha = [&](Index i) { return weights.load(at(q, token, head, i)); };
    storeMix(loops, sources, alpha, token, head, mixes[q]);
  });
}

static void routeAdjointLocal(RouteAdjointLocalOp op, LoopBuilder &k,
                              Buffers in, Buffers out) {
  size_t Q = op.getQueries().size();
  BufferList queries(k, in.take_front(Q)), gradients(k, in.slice(Q, Q)),
      mixes(k, in.slice(2 * Q, Q));
  Buffer weights = in[in.size() - 3], logits = in[in.size() - 2],
         rstd = in[in.size() - 1], dots = out[0];
  TokenLoops loops(k, gradients.front(), weights.dim(3));
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    dots.store(at(q, token, head),
               loops.dot(gradients[q], mixes[q], token, head));
  });
  if (!op.getPartial())
    return;

  Buffer partial = in[3 * Q], partialGradient = out[1];
  BufferList queryGradients(k, out.drop_front(2));
  for (Buffer gradient : out.drop_front())
    k.fill(gradient, k.constant(0.0));
  // Each may have numbers of other sources in front.
  auto last = [&](Buffer numbers) {
    return k.index(numbers.shape().back() - 1);
  };
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    SourceAdjoint adjoint{loops,        partial,         queries[q],
                          gradients[q], partialGradient, queryGradients[q]};
    Scalar alpha = weights.load(at(q, token, head, last(weights)));
    Scalar delta = alpha * (loops.dot(gradients[q], partial, token, head) -
                            dots.load(at(q, token, head)));
    adjoint.add(token, head, alpha, delta,
                logits.load(at(q, token, head, last(logits))),
                rstd.load({token[0], token[1], last(rstd)}));
  });
}

static void routeAdjointDeferred(RouteAdjointDeferredOp op, LoopBuilder &k,
                                 Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size(),
         R = op.getWeights().size();
  BufferList queries(k, in.take_front(Q)), gradients(k, in.slice(Q, Q)),
      closed(k, in.slice(2 * Q, C));
  Buffers weights = in.slice(2 * Q + C, R), logits = in.slice(2 * Q + C + R, R),
          dots = in.slice(2 * Q + C + 2 * R, R);
  Buffer rstd = in.back();
  BufferList closedGradients(k, out.take_front(C)),
      queryGradients(k, out.drop_front(C));
  for (Buffer gradient : out)
    k.fill(gradient, k.constant(0.0));
  int64_t firstQuery = 0; // of this route, in the lists of all queries
  for (size_t r = 0; r < R; ++r) {
    TokenLoops loops(k, closed.front(), weights[r].dim(3));
    int64_t queriesOfRoute = weights[r].dim(0);
    loops.forEachQuery(queriesOfRoute, [&](Index q, ArrayRef<Index> token,
                                           Index head) {
      Index query = q + firstQuery;
      Scalar dot = dots[r].load(at(q, token, head));
      k.loop(C, [&](Index i) {
        SourceAdjoint adjoint{loops,
                              closed[i],
                              queries[query],
                              gradients[query],
                              closedGradients[i],
                              queryGradients[query]};
        // Of the sources that the route read, these are the first or last.
        auto find = [&](Buffer numbers) {
          return op.getNewest() ? i + (numbers.shape().back() - C) : i;
        };
        Scalar alpha = weights[r].load(at(q, token, head, find(weights[r])));
        Scalar delta =
            alpha * (loops.dot(gradients[query], closed[i], token, head) - dot);
        adjoint.add(token, head, alpha, delta,
                    logits[r].load(at(q, token, head, find(logits[r]))),
                    rstd.load({token[0], token[1], find(rstd)}));
      });
    });
    firstQuery += queriesOfRoute;
  }
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

static void fixedRead(FixedReadOp op, LoopBuilder &k, Buffers in, Buffers out) {
  BufferList sources(k, in);
  k.loops(out[0].shape(), [&](ArrayRef<Index> position) {
    switch (op.getRule()) {
    case FixedRule::Newest:
      return out[0].store(position, in.back().load(position));
    case FixedRule::Embedding:
      return out[0].store(position, in.front().load(position));
    case FixedRule::Uniform:
      Scalar total = k.sum(sources.size(),
                           [&](Index i) { return sources[i].load(position); });
      return out[0].store(position, total / k.constant(sources.size()));
    }
  });
}

static void runningSum(RunningSumOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> position) {
    out[0].store(position, in[0].load(position) + in[1].load(position));
  });
}

static void fixedDistribution(FixedDistributionOp op, LoopBuilder &k,
                              Buffers in, Buffers out) {
  int64_t N = op.getSourceCount();
  Buffer weights = out[0];
  // The source that is read alone, if one is.
  std::optional<int64_t> chosen;
  if (op.getRule() != FixedRule::Uniform)
    chosen = op.getRule() == FixedRule::Newest ? N - 1 : 0;
  k.fill(weights, k.constant(chosen ? 0.0 : 1.0 / N));
  if (chosen)
    k.loops({weights.dim(1), weights.dim(2)}, [&](ArrayRef<Index> token) {
      weights.store(at(k.index(0), token, k.index(0), k.index(*chosen)),
                    k.constant(1.0));
    });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void isobath::reference::registerDepthLoops(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    RouteOp::attachInterface<LoopModel<RouteOp, route>>(*context);
    RouteAdjointLocalOp::attachInterface<
        LoopModel<RouteAdjointLocalOp, routeAdjointLocal>>(*context);
    RouteAdjointDeferredOp::attachInterface<
        LoopModel<RouteAdjointDeferredOp, routeAdjointDeferred>>(*context);
    FixedReadOp::attachInterface<LoopModel<FixedReadOp, fixedRead>>(*context);
    RunningSumOp::attachInterface<LoopModel<RunningSumOp, runningSum>>(
        *context);
    FixedDistributionOp::attachInterface<
        LoopModel<FixedDistributionOp, fixedDistribution>>(*context);
  });
}
