//===- StaticReadLoops.cpp - What static reads compute, in plain loops ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::reference;

using Buffers = ArrayRef<Buffer>;

namespace {
/// α = exp(m − max) / Σ exp(m − max) of one mixture.
struct Softmax {
  Softmax(LoopBuilder &k, Buffer mixture)
      : k(k), mixture(mixture),
        largest(k.maximum(mixture.dim(0),
                          [&](Index i) { return mixture.load({i}); })),
        total(k.sum(mixture.dim(0), [&](Index i) { return numerator(i); })) {}

  Scalar numerator(Index i) const { return k.exp(mixture.load({i}) - largest); }
  Scalar weight(Index i) const { return numerator(i) / total; }

  LoopBuilder &k;
  Buffer mixture;
  Scalar largest, total;
};
} // namespace

static void staticRead(StaticReadOp op, LoopBuilder &k, Buffers in,
                       Buffers out) {
  size_t Q = op.getMixtures().size(), N = op.getSourceCount();
  BufferList sources(k, in.drop_front(Q));
  Buffer weights = out[Q];
  for (size_t q = 0; q < Q; ++q) {
    Softmax alpha(k, in[q]);
    k.loops({weights.dim(1), weights.dim(2)}, [&](ArrayRef<Index> token) {
      k.loop(N, [&](Index i) {
        weights.store({k.index(q), token[0], token[1], k.index(0), i},
                      alpha.weight(i));
      });
    });
    k.loops(out[q].shape(), [&](ArrayRef<Index> position) {
      out[q].store(position, k.sum(N, [&](Index i) {
        return alpha.weight(i) * sources[i].load(position);
      }));
    });
  }
}

static void staticReadAdjoint(StaticReadAdjointOp op, LoopBuilder &k,
                              Buffers in, Buffers out) {
  size_t Q = op.getMixtures().size(), N = op.getSourceCount();
  BufferList sources(k, in.drop_front(2 * Q)),
      sourceGradients(k, out.take_front(N));
  for (Buffer gradient : out)
    k.fill(gradient, k.constant(0.0));
  int64_t B = in[Q].dim(0), T = in[Q].dim(1), D = in[Q].dim(2);
  for (size_t q = 0; q < Q; ++q) {
    Softmax alpha(k, in[q]);
    Buffer gradient = in[Q + q], mixtureGradient = out[N + q];
    k.loops({B, T}, [&](ArrayRef<Index> token) {
      auto dot = [&](Index i) {
        return k.sum(D, [&](Index c) {
          return gradient.load({token[0], token[1], c}) *
                 sources[i].load({token[0], token[1], c});
        });
      };
      Scalar mean = k.sum(N, [&](Index i) { return alpha.weight(i) * dot(i); });
      k.loop(N, [&](Index i) {
        Scalar weight = alpha.weight(i);
        mixtureGradient.add({i}, weight * (dot(i) - mean));
        k.loop(D, [&](Index c) {
          sourceGradients[i].add({token[0], token[1], c},
                                 weight *
                                     gradient.load({token[0], token[1], c}));
        });
      });
    });
  }
}

void isobath::reference::registerStaticReadLoops(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    StaticReadOp::attachInterface<LoopModel<StaticReadOp, staticRead>>(
        *context);
    StaticReadAdjointOp::attachInterface<
        LoopModel<StaticReadAdjointOp, staticReadAdjoint>>(*context);
  });
}
