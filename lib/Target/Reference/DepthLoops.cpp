//===- DepthLoops.cpp - What every depth operation computes, in plain loops
//===//
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

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::reference;

using Buffers = ArrayRef<Buffer>;

namespace {

/// Where a route stands: one token, and the channels of one head.
struct TokenLoops {
  TokenLoops(LoopBuilder &k, Buffer activation, int64_t heads)
      : k(k), B(activation.dim(0)), T(activation.dim(1)), D(activation.dim(2)),
        heads(heads), size(D / heads) {}

  /// Σ over the channels of head `head` of left · right at one token.
  Scalar dot(Buffer left, Buffer right, ArrayRef<Index> token, Index head) {
    return k.sum(size, [&](Index i) {
      Index c = head * size + i;
      return left.load({token[0], token[1], c}) *
             right.load({token[0], token[1], c});
    });
  }

  /// Σ over the channels of head `head` of source · query.
  Scalar dotQuery(Buffer source, Buffer query, ArrayRef<Index> token,
                  Index head) {
    return k.sum(size, [&](Index i) {
      Index c = head * size + i;
      return source.load({token[0], token[1], c}) * query.load({c});
    });
  }

  /// r = 1 / sqrt(mean(s²) + epsilon) over all channels.
  Scalar rstd(Buffer source, ArrayRef<Index> token, double epsilon) {
    Scalar squares = k.sum(D, [&](Index c) {
      Scalar value = source.load({token[0], token[1], c});
      return value * value;
    });
    return k.rsqrt(squares / k.constant(D) + k.constant(epsilon));
  }

  /// Runs `body` for every token, head and each of `count` queries.
  void forEachQuery(int64_t count,
                    function_ref<void(Index, ArrayRef<Index>, Index)> body) {
    k.loops({B, T, heads, count}, [&](ArrayRef<Index> position) {
      body(position[3], position.take_front(2), position[2]);
    });
  }

  LoopBuilder &k;
  int64_t B, T, D, heads, size;
};

/// The position of a query's number at one token and head.
SmallVector<Index> at(Index query, ArrayRef<Index> token, Index head) {
  return {query, token[0], token[1], head};
}

/// The same with a source.
SmallVector<Index> at(Index query, ArrayRef<Index> token, Index head,
                      Index source) {
  return {query, token[0], token[1], head, source};
}

} // namespace

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

/// Stores r_i of every source and ℓ_i of every source, query and head.
static void buildLogits(TokenLoops &loops, const BufferList &queries,
                        const BufferList &sources, double epsilon,
                        Buffer logits, Buffer rstd) {
  LoopBuilder &k = loops.k;
  k.loops({loops.B, loops.T, sources.size()}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index i = position[2];
    Buffer source = sources[i];
    Scalar r = loops.rstd(source, token, epsilon);
    rstd.store(position, r);
    k.loops({queries.size(), loops.heads}, [&](ArrayRef<Index> queryAndHead) {
      Index q = queryAndHead[0], head = queryAndHead[1];
      logits.store(at(q, token, head, i),
                   r * loops.dotQuery(source, queries[q], token, head));
    });
  });
}

/// The largest logit of one query, token and head.
static Scalar largestLogit(LoopBuilder &k, Buffer logits, Index q,
                           ArrayRef<Index> token, Index head) {
  return k.maximum(logits.dim(4),
                   [&](Index i) { return logits.load(at(q, token, head, i)); });
}

/// Stores Σ_i weight(i) s_i for the channels of one head.
static void storeMix(TokenLoops &loops, const BufferList &sources,
                     function_ref<Scalar(Index)> weight, ArrayRef<Index> token,
                     Index head, Buffer mix) {
  LoopBuilder &k = loops.k;
  k.loop(loops.size, [&](Index offset) {
    Index c = head * loops.size + offset;
    mix.store({token[0], token[1], c}, k.sum(sources.size(), [&](Index i) {
      return weight(i) * sources[i].load({token[0], token[1], c});
    }));
  });
}

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

//===----------------------------------------------------------------------===//
// What the adjoints of all reads share
//===----------------------------------------------------------------------===//

namespace {
/// The contribution of one query and one source: given α, δ, ℓ and r of a
/// token and head,
///     ∂s += α g + δ (r u − ℓ r² s / D),   ∂u += δ r s
/// where the term with ℓ concerns all D channels, whatever the head.
struct SourceAdjoint {
  TokenLoops &loops;
  Buffer source, query, gradient;
  Buffer sourceGradient, queryGradient;

  void add(ArrayRef<Index> token, Index head, Scalar alpha, Scalar delta,
           Scalar logit, Scalar r) {
    LoopBuilder &k = loops.k;
    Index b = token[0], t = token[1];
    k.loop(loops.size, [&](Index offset) {
      Index c = head * loops.size + offset;
      Scalar s = source.load({b, t, c});
      sourceGradient.add({b, t, c}, alpha * gradient.load({b, t, c}) +
                                        delta * r * query.load({c}));
      queryGradient.add({c}, delta * r * s);
    });
    Scalar shrink = delta * logit * r * r / k.constant(loops.D);
    k.loop(loops.D, [&](Index c) {
      sourceGradient.add({b, t, c}, -(shrink * source.load({b, t, c})));
    });
  }
};
} // namespace

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
// Two phases
//===----------------------------------------------------------------------===//

static void partial(PartialOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size();
  BufferList queries(k, in.take_front(Q)), closed(k, in.drop_front(Q));
  BufferList mixes(k, out.take_front(Q));
  Buffer lse = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, closed.front(), op.getHeads());
  buildLogits(loops, queries, closed, op.getEpsilon().convertToDouble(), logits,
              rstd);
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    Scalar largest = largestLogit(k, logits, q, token, head);
    Scalar total = k.sum(C, [&](Index i) {
      return k.exp(logits.load(at(q, token, head, i)) - largest);
    });
    Scalar logSumExp = largest + k.log(total);
    lse.store(at(q, token, head), logSumExp);
    auto alpha = [&](Index i) {
      return k.exp(logits.load(at(q, token, head, i)) - logSumExp);
    };
    storeMix(loops, closed, alpha, token, head, mixes[q]);
  });
}

static void partialAdjoint(PartialAdjointOp op, LoopBuilder &k, Buffers in,
                           Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size();
  BufferList queries(k, in.take_front(Q)), gradients(k, in.slice(Q, Q)),
      mixes(k, in.slice(2 * Q, Q)), closed(k, in.slice(3 * Q, C));
  Buffer lseGradient = in[3 * Q + C], lse = in[3 * Q + C + 1],
         logits = in[3 * Q + C + 2], rstd = in[3 * Q + C + 3];
  BufferList closedGradients(k, out.take_front(C)),
      queryGradients(k, out.drop_front(C));
  TokenLoops loops(k, closed.front(), lse.dim(3));
  for (Buffer gradient : out)
    k.fill(gradient, k.constant(0.0));
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    Scalar dot = loops.dot(gradients[q], mixes[q], token, head);
    k.loop(C, [&](Index i) {
      Scalar logit = logits.load(at(q, token, head, i));
      Scalar alpha = k.exp(logit - lse.load(at(q, token, head)));
      Scalar delta = alpha * (loops.dot(gradients[q], closed[i], token, head) -
                              dot + lseGradient.load(at(q, token, head)));
      SourceAdjoint adjoint{
          loops,        closed[i],          queries[q],
          gradients[q], closedGradients[i], queryGradients[q]};
      adjoint.add(token, head, alpha, delta, logit,
                  rstd.load({token[0], token[1], i}));
    });
  });
}

static void merge(MergeOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size();
  int64_t first = op.getFirstQuery();
  BufferList queries(k, in.take_front(Q)), closedMixes(k, in.slice(Q, Q));
  BufferList mixes(k, out.take_front(Q));
  Buffer partial = in[2 * Q], lse = in[2 * Q + 1];
  Buffer weights = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, partial, lse.dim(3));
  Index only = k.index(0); // of the sources that a merge adds
  buildLogits(loops, queries, BufferList(k, {partial}),
              op.getEpsilon().convertToDouble(), logits, rstd);
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    Scalar logit = logits.load(at(q, token, head, only));
    Scalar a = k.sigmoid(logit - lse.load(at(q + first, token, head)));
    weights.store(at(q, token, head, only), a);
    k.loop(loops.size, [&](Index offset) {
      Index c = head * loops.size + offset;
      Scalar o = closedMixes[q].load({token[0], token[1], c});
      Scalar p = partial.load({token[0], token[1], c});
      mixes[q].store({token[0], token[1], c}, o + a * (p - o));
    });
  });
}

static void closedStatistics(ClosedStatisticsOp op, LoopBuilder &k, Buffers in,
                             Buffers out) {
  int64_t first = op.getFirstQuery();
  Buffer lse = in[0], logits = in[1], weights = out[0], closedLogits = out[1];
  std::optional<Buffer> merged;
  if (op.getMerged())
    merged = in[2];
  k.loops(weights.shape(), [&](ArrayRef<Index> position) {
    Index q = position[0], head = position[3], i = position[4];
    ArrayRef<Index> token = position.slice(1, 2);
    Scalar logit = logits.load(at(q + first, token, head, i));
    Scalar weight = k.exp(logit - lse.load(at(q + first, token, head)));
    if (merged) {
      Scalar a = merged->load(at(q, token, head, k.index(0)));
      weight = (k.constant(1.0) - a) * weight;
    }
    weights.store(position, weight);
    closedLogits.store(position, logit);
  });
}

static void mergeAdjoint(MergeAdjointOp op, LoopBuilder &k, Buffers in,
                         Buffers out) {
  size_t Q = op.getQueries().size();
  int64_t first = op.getFirstQuery();
  BufferList queries(k, in.take_front(Q)), gradients(k, in.slice(Q, Q)),
      closedMixes(k, in.slice(2 * Q, Q));
  Buffer partial = in[3 * Q], weights = in[3 * Q + 1], logits = in[3 * Q + 2],
         rstd = in[3 * Q + 3];
  Buffer partialGradient = out[0], lseGradient = out[1];
  BufferList closedMixGradients(k, out.slice(2, Q)),
      queryGradients(k, out.drop_front(2 + Q));
  TokenLoops loops(k, partial, weights.dim(3));
  Index only = k.index(0); // of the sources that a merge adds
  k.fill(partialGradient, k.constant(0.0));
  k.fill(lseGradient, k.constant(0.0));
  for (Buffer gradient : out.drop_front(2 + Q))
    k.fill(gradient, k.constant(0.0));
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    Scalar a = weights.load(at(q, token, head, only));
    Scalar one = k.constant(1.0);
    // g·(p − o): the difference first, before the two products can cancel.
    Scalar difference = k.sum(loops.size, [&](Index offset) {
      Index c = head * loops.size + offset;
      return gradients[q].load({token[0], token[1], c}) *
             (partial.load({token[0], token[1], c}) -
              closedMixes[q].load({token[0], token[1], c}));
    });
    Scalar delta = a * (one - a) * difference;
    SourceAdjoint adjoint{loops,        partial,         queries[q],
                          gradients[q], partialGradient, queryGradients[q]};
    adjoint.add(token, head, a, delta, logits.load(at(q, token, head, only)),
                rstd.load({token[0], token[1], only}));
    lseGradient.store(at(q + first, token, head), -delta);
    k.loop(loops.size, [&](Index offset) {
      Index c = head * loops.size + offset;
      closedMixGradients[q].store(
          {token[0], token[1], c},
          (one - a) * gradients[q].load({token[0], token[1], c}));
    });
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
    FixedDistributionOp::attachInterface<
        LoopModel<FixedDistributionOp, fixedDistribution>>(*context);
    PartialOp::attachInterface<LoopModel<PartialOp, partial>>(*context);
    PartialAdjointOp::attachInterface<
        LoopModel<PartialAdjointOp, partialAdjoint>>(*context);
    MergeOp::attachInterface<LoopModel<MergeOp, merge>>(*context);
    ClosedStatisticsOp::attachInterface<
        LoopModel<ClosedStatisticsOp, closedStatistics>>(*context);
    MergeAdjointOp::attachInterface<LoopModel<MergeAdjointOp, mergeAdjoint>>(
        *context);
  });
}
