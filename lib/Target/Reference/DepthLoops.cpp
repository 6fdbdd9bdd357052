//===- DepthLoops.cpp - What every depth operation computes, in plain loops ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op; each follows the formula in the op's documentation.
// Sources, queries and gradients are compile-time lists, so loops over them are
// written out; sums over them are added in the order of the lists.
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

  LoopBuilder &k;
  int64_t B, T, D, heads, size;
};

/// [q, b, t, head] or, with a source, [q, b, t, head, i].
SmallVector<Index> at(LoopBuilder &k, int64_t query, ArrayRef<Index> token,
                      Index head) {
  return {k.index(query), token[0], token[1], head};
}
SmallVector<Index> at(LoopBuilder &k, int64_t query, ArrayRef<Index> token,
                      Index head, int64_t source) {
  return {k.index(query), token[0], token[1], head, k.index(source)};
}

} // namespace

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

/// Stores r_i of every source and ℓ_i of every source, query and head.
static void buildLogits(TokenLoops &loops, Buffers queries, Buffers sources,
                        double epsilon, Buffer logits, Buffer rstd) {
  LoopBuilder &k = loops.k;
  k.loops({loops.B, loops.T}, [&](ArrayRef<Index> token) {
    for (auto [i, source] : llvm::enumerate(sources))
      rstd.store({token[0], token[1], k.index(i)},
                 loops.rstd(source, token, epsilon));
    k.loop(loops.heads, [&](Index head) {
      for (auto [q, query] : llvm::enumerate(queries))
        for (auto [i, source] : llvm::enumerate(sources)) {
          Scalar r = rstd.load({token[0], token[1], k.index(i)});
          logits.store(at(k, q, token, head, i),
                       r * loops.dotQuery(source, query, token, head));
        }
    });
  });
}

/// log Σ_i exp ℓ_i for one query, token and head.
static Scalar logSumExp(LoopBuilder &k, Buffer logits, size_t count, int64_t q,
                        ArrayRef<Index> token, Index head) {
  Scalar largest = logits.load(at(k, q, token, head, 0));
  for (size_t i = 1; i < count; ++i)
    largest = k.larger(largest, logits.load(at(k, q, token, head, i)));
  Scalar total = k.constant(0.0);
  for (size_t i = 0; i < count; ++i)
    total =
        total + k.exp(logits.load(at(k, q, token, head, i)) - largest);
  return largest + k.log(total);
}

/// Stores Σ_i weight(i) s_i for the channels of one head.
static void storeMix(TokenLoops &loops, Buffers sources,
                     ArrayRef<Scalar> weights, ArrayRef<Index> token,
                     Index head, Buffer mix) {
  LoopBuilder &k = loops.k;
  k.loop(loops.size, [&](Index offset) {
    Index c = head * loops.size + offset;
    Scalar total = weights[0] * sources[0].load({token[0], token[1], c});
    for (auto [weight, source] :
         llvm::zip_equal(weights.drop_front(), sources.drop_front()))
      total = total + weight * source.load({token[0], token[1], c});
    mix.store({token[0], token[1], c}, total);
  });
}

static void route(RouteOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), N = op.getSourceCount();
  Buffers queries = in.take_front(Q), sources = in.drop_front(Q);
  Buffers mixes = out.take_front(Q);
  Buffer weights = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, sources[0], op.getHeads());
  buildLogits(loops, queries, sources, op.getEpsilon().convertToDouble(),
              logits, rstd);
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      // softmax: exp(ℓ − max) / Σ exp(ℓ − max)
      Scalar largest = logits.load(at(k, q, token, head, 0));
      for (size_t i = 1; i < N; ++i)
        largest = k.larger(largest, logits.load(at(k, q, token, head, i)));
      SmallVector<Scalar> alpha;
      Scalar total = k.constant(0.0);
      for (size_t i = 0; i < N; ++i) {
        alpha.push_back(
            k.exp(logits.load(at(k, q, token, head, i)) - largest));
        total = total + alpha[i];
      }
      for (size_t i = 0; i < N; ++i) {
        alpha[i] = alpha[i] / total;
        weights.store(at(k, q, token, head, i), alpha[i]);
      }
      storeMix(loops, sources, alpha, token, head, mixes[q]);
    }
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
  Buffers queries = in.take_front(Q), gradients = in.slice(Q, Q),
          mixes = in.slice(2 * Q, Q);
  Buffer weights = in[in.size() - 3], logits = in[in.size() - 2],
         rstd = in[in.size() - 1], dots = out[0];
  TokenLoops loops(k, gradients[0], weights.dim(3));
  int64_t last = weights.dim(4) - 1;
  for (Buffer gradient : out.drop_front())
    k.fill(gradient, k.constant(0.0));
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      Scalar dot = loops.dot(gradients[q], mixes[q], token, head);
      dots.store(at(k, q, token, head), dot);
      if (!op.getPartial())
        continue;
      Buffer partial = in[3 * Q];
      SourceAdjoint adjoint{loops,        partial, queries[q],
                            gradients[q], out[1],  out[2 + q]};
      Scalar alpha = weights.load(at(k, q, token, head, last));
      Scalar delta =
          alpha * (loops.dot(gradients[q], partial, token, head) - dot);
      adjoint.add(token, head, alpha, delta,
                  logits.load(at(k, q, token, head, last)),
                  rstd.load({token[0], token[1], k.index(last)}));
    }
  });
}

static void routeAdjointDeferred(RouteAdjointDeferredOp op, LoopBuilder &k,
                                 Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size(),
         R = op.getWeights().size();
  Buffers queries = in.take_front(Q), gradients = in.slice(Q, Q),
          closed = in.slice(2 * Q, C), weights = in.slice(2 * Q + C, R),
          logits = in.slice(2 * Q + C + R, R),
          dots = in.slice(2 * Q + C + 2 * R, R);
  Buffer rstd = in.back();
  for (Buffer gradient : out)
    k.fill(gradient, k.constant(0.0));
  size_t query = 0;
  for (size_t r = 0; r < R; ++r) {
    TokenLoops loops(k, closed[0], weights[r].dim(3));
    for (int64_t q = 0; q < weights[r].dim(0); ++q, ++query)
      k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
        ArrayRef<Index> token = position.take_front(2);
        Index head = position[2];
        Scalar dot = dots[r].load(at(k, q, token, head));
        for (size_t i = 0; i < C; ++i) {
          SourceAdjoint adjoint{loops,   closed[i],
                                queries[query], gradients[query],
                                out[i],  out[C + query]};
          Scalar alpha = weights[r].load(at(k, q, token, head, i));
          Scalar delta =
              alpha *
              (loops.dot(gradients[query], closed[i], token, head) - dot);
          adjoint.add(token, head, alpha, delta,
                      logits[r].load(at(k, q, token, head, i)),
                      rstd.load({token[0], token[1], k.index(i)}));
        }
      });
  }
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

static void fixedRead(FixedReadOp op, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> position) {
    if (op.getRule() != FixedRule::Uniform) {
      Buffer source =
          op.getRule() == FixedRule::Newest ? in.back() : in.front();
      return out[0].store(position, source.load(position));
    }
    Scalar total = in[0].load(position);
    for (Buffer source : in.drop_front())
      total = total + source.load(position);
    out[0].store(position, total / k.constant(in.size()));
  });
}

static void fixedDistribution(FixedDistributionOp op, LoopBuilder &k,
                              Buffers in, Buffers out) {
  int64_t N = op.getSourceCount();
  for (int64_t i = 0; i < N; ++i) {
    double weight = 0.0;
    switch (op.getRule()) {
    case FixedRule::Uniform:
      weight = 1.0 / N;
      break;
    case FixedRule::Newest:
      weight = i == N - 1;
      break;
    case FixedRule::Embedding:
      weight = i == 0;
      break;
    }
    k.loops({in[0].dim(0), in[0].dim(1)}, [&](ArrayRef<Index> token) {
      out[0].store(at(k, 0, token, k.index(0), i), k.constant(weight));
    });
  }
}

//===----------------------------------------------------------------------===//
// Two phases
//===----------------------------------------------------------------------===//

static void partial(PartialOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size();
  Buffers queries = in.take_front(Q), closed = in.drop_front(Q);
  Buffers mixes = out.take_front(Q);
  Buffer lse = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, closed[0], op.getHeads());
  buildLogits(loops, queries, closed, op.getEpsilon().convertToDouble(), logits,
              rstd);
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      Scalar L = logSumExp(k, logits, C, q, token, head);
      lse.store(at(k, q, token, head), L);
      SmallVector<Scalar> alpha;
      for (size_t i = 0; i < C; ++i)
        alpha.push_back(k.exp(logits.load(at(k, q, token, head, i)) - L));
      storeMix(loops, closed, alpha, token, head, mixes[q]);
    }
  });
}

static void partialAdjoint(PartialAdjointOp op, LoopBuilder &k, Buffers in,
                           Buffers out) {
  size_t Q = op.getQueries().size(), C = op.getClosed().size();
  Buffers queries = in.take_front(Q), gradients = in.slice(Q, Q),
          mixes = in.slice(2 * Q, Q), closed = in.slice(3 * Q, C);
  Buffer lseGradient = in[3 * Q + C], lse = in[3 * Q + C + 1],
         logits = in[3 * Q + C + 2], rstd = in[3 * Q + C + 3];
  TokenLoops loops(k, closed[0], lse.dim(3));
  for (Buffer gradient : out)
    k.fill(gradient, k.constant(0.0));
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      Scalar dot = loops.dot(gradients[q], mixes[q], token, head);
      for (size_t i = 0; i < C; ++i) {
        Scalar logit = logits.load(at(k, q, token, head, i));
        Scalar alpha = k.exp(logit - lse.load(at(k, q, token, head)));
        Scalar delta =
            alpha * (loops.dot(gradients[q], closed[i], token, head) - dot +
                     lseGradient.load(at(k, q, token, head)));
        SourceAdjoint adjoint{loops,        closed[i], queries[q],
                              gradients[q], out[i],    out[C + q]};
        adjoint.add(token, head, alpha, delta, logit,
                    rstd.load({token[0], token[1], k.index(i)}));
      }
    }
  });
}

static void merge(MergeOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size();
  int64_t first = op.getFirstQuery();
  Buffers queries = in.take_front(Q), closedMixes = in.slice(Q, Q);
  Buffer partial = in[2 * Q], lse = in[2 * Q + 1];
  Buffers mixes = out.take_front(Q);
  Buffer weights = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, partial, lse.dim(3));
  buildLogits(loops, queries, {partial}, op.getEpsilon().convertToDouble(),
              logits, rstd);
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      Scalar logit = logits.load(at(k, q, token, head, 0));
      Scalar a =
          k.sigmoid(logit - lse.load(at(k, first + q, token, head)));
      weights.store(at(k, q, token, head, 0), a);
      k.loop(loops.size, [&](Index offset) {
        Index c = head * loops.size + offset;
        Scalar o = closedMixes[q].load({token[0], token[1], c});
        Scalar p = partial.load({token[0], token[1], c});
        mixes[q].store({token[0], token[1], c}, o + a * (p - o));
      });
    }
  });
}

static void mergeAdjoint(MergeAdjointOp op, LoopBuilder &k, Buffers in,
                         Buffers out) {
  size_t Q = op.getQueries().size();
  int64_t first = op.getFirstQuery();
  Buffers queries = in.take_front(Q), gradients = in.slice(Q, Q),
          closedMixes = in.slice(2 * Q, Q);
  Buffer partial = in[3 * Q], weights = in[3 * Q + 1], logits = in[3 * Q + 2],
         rstd = in[3 * Q + 3];
  Buffer partialGradient = out[0], lseGradient = out[1];
  Buffers closedMixGradients = out.slice(2, Q), queryGradients =
                                                    out.drop_front(2 + Q);
  TokenLoops loops(k, partial, weights.dim(3));
  k.fill(partialGradient, k.constant(0.0));
  k.fill(lseGradient, k.constant(0.0));
  for (Buffer gradient : queryGradients)
    k.fill(gradient, k.constant(0.0));
  k.loops({loops.B, loops.T, loops.heads}, [&](ArrayRef<Index> position) {
    ArrayRef<Index> token = position.take_front(2);
    Index head = position[2];
    for (size_t q = 0; q < Q; ++q) {
      Scalar a = weights.load(at(k, q, token, head, 0));
      Scalar one = k.constant(1.0);
      // g·(p − o), taken before either product can cancel.
      Scalar difference = k.sum(loops.size, [&](Index offset) {
        Index c = head * loops.size + offset;
        return gradients[q].load({token[0], token[1], c}) *
               (partial.load({token[0], token[1], c}) -
                closedMixes[q].load({token[0], token[1], c}));
      });
      Scalar delta = a * (one - a) * difference;
      SourceAdjoint adjoint{loops,        partial,         queries[q],
                            gradients[q], partialGradient, queryGradients[q]};
      adjoint.add(token, head, a, delta,
                  logits.load(at(k, q, token, head, 0)),
                  rstd.load({token[0], token[1], k.index(0)}));
      lseGradient.store(at(k, first + q, token, head), -delta);
      k.loop(loops.size, [&](Index offset) {
        Index c = head * loops.size + offset;
        closedMixGradients[q].store(
            {token[0], token[1], c},
            (one - a) * gradients[q].load({token[0], token[1], c}));
      });
    }
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
    MergeAdjointOp::attachInterface<LoopModel<MergeAdjointOp, mergeAdjoint>>(
        *context);
  });
}
