//===- DepthLoops.h - What loops of routes have in common -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_REFERENCE_DEPTHLOOPS_H
#define ISOBATH_LIB_TARGET_REFERENCE_DEPTHLOOPS_H

#include "isobath/Target/Reference/LoopBuilder.h"

namespace isobath::reference {

/// Where a route stands: one token, and the channels of one head.
struct TokenLoops {
  TokenLoops(LoopBuilder &k, Buffer activation, int64_t heads)
      : k(k), B(activation.dim(0)), T(activation.dim(1)), D(activation.dim(2)),
        heads(heads), size(D / heads) {}

  /// Σ over the channels of head `head` of left · right at one token.
  Scalar dot(Buffer left, Buffer right, llvm::ArrayRef<Index> token,
             Index head) {
    return k.sum(size, [&](Index i) {
      Index c = head * size + i;
      return left.load({token[0], token[1], c}) *
             right.load({token[0], token[1], c});
    });
  }

  /// Σ over the channels of head `head` of source · query.
  Scalar dotQuery(Buffer source, Buffer query, llvm::ArrayRef<Index> token,
                  Index head) {
    return k.sum(size, [&](Index i) {
      Index c = head * size + i;
      return source.load({token[0], token[1], c}) * query.load({c});
    });
  }

  /// r = 1 / sqrt(mean(s²) + epsilon) over all channels.
  Scalar rstd(Buffer source, llvm::ArrayRef<Index> token, double epsilon) {
    Scalar squares = k.sum(D, [&](Index c) {
      Scalar value = source.load({token[0], token[1], c});
      return value * value;
    });
    return k.rsqrt(squares / k.constant(D) + k.constant(epsilon));
  }

  /// Runs `body` for every token, head and each of `count` queries.
  void forEachQuery(
      int64_t count,
      llvm::function_ref<void(Index, llvm::ArrayRef<Index>, Index)> body) {
    k.loops({B, T, heads, count}, [&](llvm::ArrayRef<Index> position) {
      body(position[3], position.take_front(2), position[2]);
    });
  }

  LoopBuilder &k;
  int64_t B, T, D, heads, size;
};

/// The position of a query's number at one token and head.
inline llvm::SmallVector<Index> at(Index query, llvm::ArrayRef<Index> token,
                                   Index head) {
  return {query, token[0], token[1], head};
}

/// The same with a source.
inline llvm::SmallVector<Index> at(Index query, llvm::ArrayRef<Index> token,
                                   Index head, Index source) {
  return {query, token[0], token[1], head, source};
}

/// Stores r_i of every source and ℓ_i of every source, query and head.
inline void buildLogits(TokenLoops &loops, const BufferList &queries,
                        const BufferList &sources, double epsilon,
                        Buffer logits, Buffer rstd) {
  LoopBuilder &k = loops.k;
  k.loops({loops.B, loops.T, sources.size()},
          [&](llvm::ArrayRef<Index> position) {
            llvm::ArrayRef<Index> token = position.take_front(2);
            Index i = position[2];
            Buffer source = sources[i];
            Scalar r = loops.rstd(source, token, epsilon);
            rstd.store(position, r);
            k.loops({queries.size(), loops.heads},
                    [&](llvm::ArrayRef<Index> queryAndHead) {
                      Index q = queryAndHead[0], head = queryAndHead[1];
                      logits.store(
                          at(q, token, head, i),
                          r * loops.dotQuery(source, queries[q], token, head));
                    });
          });
}

/// The largest logit of one query, token and head.
inline Scalar largestLogit(LoopBuilder &k, Buffer logits, Index q,
                           llvm::ArrayRef<Index> token, Index head) {
  return k.maximum(logits.dim(4),
                   [&](Index i) { return logits.load(at(q, token, head, i)); });
}

/// Stores Σ_i weight(i) s_i for the channels of one head.
inline void storeMix(TokenLoops &loops, const BufferList &sources,
                     llvm::function_ref<Scalar(Index)> weight,
                     llvm::ArrayRef<Index> token, Index head, Buffer mix) {
  LoopBuilder &k = loops.k;
  k.loop(loops.size, [&](Index offset) {
    Index c = head * loops.size + offset;
    mix.store({token[0], token[1], c}, k.sum(sources.size(), [&](Index i) {
      return weight(i) * sources[i].load({token[0], token[1], c});
    }));
  });
}

/// The contribution of one query and one source: given α, δ, ℓ and r of a
/// token and head,
///     ∂s += α g + δ (r u − ℓ r² s / D),   ∂u += δ r s
/// where the term with ℓ concerns all D channels, whatever the head.
struct SourceAdjoint {
  TokenLoops &loops;
  Buffer source, query, gradient;
  Buffer sourceGradient, queryGradient;

  void add(llvm::ArrayRef<Index> token, Index head, Scalar alpha, Scalar delta,
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

} // namespace isobath::reference

#endif // ISOBATH_LIB_TARGET_REFERENCE_DEPTHLOOPS_H
