//===- TwoPhaseLoops.cpp - What routes in two phases compute, in loops ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DepthLoops.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::reference;

using Buffers = ArrayRef<Buffer>;

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

static void extend(ExtendOp op, LoopBuilder &k, Buffers in, Buffers out) {
  size_t Q = op.getQueries().size(), m = op.getNewer().size();
  int64_t first = op.getFirstQuery();
  BufferList queries(k, in.take_front(Q)), olderMixes(k, in.slice(Q, Q)),
      newer(k, in.slice(2 * Q, m));
  BufferList mixes(k, out.take_front(Q));
  Buffer lse = in.back();
  Buffer weights = out[Q], logits = out[Q + 1], rstd = out[Q + 2];
  TokenLoops loops(k, newer.front(), lse.dim(3));
  buildLogits(loops, queries, newer, op.getEpsilon().convertToDouble(), logits,
              rstd);
  loops.forEachQuery(Q, [&](Index q, ArrayRef<Index> token, Index head) {
    Scalar older = lse.load(at(q + first, token, head));
    Scalar largest = k.larger(largestLogit(k, logits, q, token, head), older);
    auto numerator = [&](Index i) {
      return k.exp(logits.load(at(q, token, head, i)) - largest);
    };
    Scalar share = k.exp(older - largest);
    Scalar total = share + k.sum(m, numerator);
    k.loop(m, [&](Index i) {
      weights.store(at(q, token, head, i), numerator(i) / total);
    });
    k.loop(loops.size, [&](Index offset) {
      Index c = head * loops.size + offset;
      Scalar sum = k.sum(m, [&](Index i) {
        return weights.load(at(q, token, head, i)) *
               newer[i].load({token[0], token[1], c});
      });
      mixes[q].store(
          {token[0], token[1], c},
          share / total * olderMixes[q].load({token[0], token[1], c}) + sum);
    });
  });
}

static void extendedStatistics(ExtendedStatisticsOp op, LoopBuilder &k,
                               Buffers in, Buffers out) {
  int64_t first = op.getFirstQuery();
  Buffer lse = in[0], logits = in[1], rstd = in[2], newWeights = in[3],
         newLogits = in[4], newRstd = in[5];
  Buffer weights = out[0], allLogits = out[1], allRstd = out[2];
  int64_t older = logits.dim(4), newer = newLogits.dim(4);
  auto shape = llvm::to_vector(newWeights.shape().drop_back());
  k.loops(shape, [&](ArrayRef<Index> position) {
    Index q = position[0], head = position[3];
    ArrayRef<Index> token = position.slice(1, 2);
    Scalar share = k.constant(1.0) - k.sum(newer, [&](Index i) {
      return newWeights.load(at(q, token, head, i));
    });
    k.loop(older, [&](Index i) {
      Scalar logit = logits.load(at(q + first, token, head, i));
      Scalar logSumExp = lse.load(at(q + first, token, head));
      weights.store(at(q, token, head, i), share * k.exp(logit - logSumExp));
      allLogits.store(at(q, token, head, i), logit);
      allRstd.store({token[0], token[1], i},
                    rstd.load({token[0], token[1], i}));
    });
    k.loop(newer, [&](Index i) {
      Index place = i + older;
      weights.store(at(q, token, head, place),
                    newWeights.load(at(q, token, head, i)));
      allLogits.store(at(q, token, head, place),
                      newLogits.load(at(q, token, head, i)));
      allRstd.store({token[0], token[1], place},
                    newRstd.load({token[0], token[1], i}));
    });
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

void isobath::reference::registerTwoPhaseLoops(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    PartialOp::attachInterface<LoopModel<PartialOp, partial>>(*context);
    PartialAdjointOp::attachInterface<
        LoopModel<PartialAdjointOp, partialAdjoint>>(*context);
    MergeOp::attachInterface<LoopModel<MergeOp, merge>>(*context);
    ExtendOp::attachInterface<LoopModel<ExtendOp, extend>>(*context);
    ExtendedStatisticsOp::attachInterface<
        LoopModel<ExtendedStatisticsOp, extendedStatistics>>(*context);
    ClosedStatisticsOp::attachInterface<
        LoopModel<ClosedStatisticsOp, closedStatistics>>(*context);
    MergeAdjointOp::attachInterface<LoopModel<MergeAdjointOp, mergeAdjoint>>(
        *context);
  });
}
