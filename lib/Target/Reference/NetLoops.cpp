//===- NetLoops.cpp - What every net operation computes, in plain loops -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op. Each follows the formula in the op's documentation, in
// the order of the op definitions; letters are those of the whole project.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"
#include <cmath>

using namespace mlir;
using namespace isobath::net;
using namespace isobath::reference;

using Buffers = ArrayRef<Buffer>;

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

static void embedding(EmbeddingOp, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer table = in[0], ids = in[1], output = out[0];
  k.loops(output.shape(), [&](ArrayRef<Index> at) {
    Index row = k.toIndex(ids.loadId(at.take_front(2)));
    output.store(at, table.load({row, at[2]}));
  });
}

static void embeddingAdjoint(EmbeddingAdjointOp, LoopBuilder &k, Buffers in,
                             Buffers out) {
  Buffer gradient = in[0], ids = in[1], tableGradient = out[0];
  k.fill(tableGradient, k.constant(0.0));
  k.loops(gradient.shape(), [&](ArrayRef<Index> at) {
    Index row = k.toIndex(ids.loadId(at.take_front(2)));
    tableGradient.add({row, at[2]}, gradient.load(at));
  });
}

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

/// 1 / sqrt(mean(x²) + epsilon) of the `size` channels from `first` on.
static Scalar reciprocalRms(LoopBuilder &k, Buffer x, Index b, Index t,
                            Index first, int64_t size, double epsilon) {
  Scalar squares = k.sum(size, [&](Index c) {
    Scalar value = x.load({b, t, first + c});
    return value * value;
  });
  return k.rsqrt(squares / k.constant(size) + k.constant(epsilon));
}

static void rmsNorm(RMSNormOp op, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer x = in[0], weight = in[1], y = out[0];
  int64_t size = weight.dim(0), groups = x.dim(2) / size;
  double epsilon = op.getEpsilon().convertToDouble();
  k.loops({x.dim(0), x.dim(1), groups}, [&](ArrayRef<Index> at) {
    Index b = at[0], t = at[1], first = at[2] * size;
    Scalar rstd = reciprocalRms(k, x, b, t, first, size, epsilon);
    k.loop(size, [&](Index c) {
      y.store({b, t, first + c},
              x.load({b, t, first + c}) * rstd * weight.load({c}));
    });
  });
}

static void rmsNormAdjoint(RMSNormAdjointOp op, LoopBuilder &k, Buffers in,
                           Buffers out) {
  Buffer x = in[0], weight = in[1], gradient = in[2];
  Buffer inputGradient = out[0], weightGradient = out[1];
  int64_t size = weight.dim(0), groups = x.dim(2) / size;
  double epsilon = op.getEpsilon().convertToDouble();
  k.fill(weightGradient, k.constant(0.0));
  k.loops({x.dim(0), x.dim(1), groups}, [&](ArrayRef<Index> at) {
    Index b = at[0], t = at[1], first = at[2] * size;
    Scalar rstd = reciprocalRms(k, x, b, t, first, size, epsilon);
    Scalar dot = k.sum(size, [&](Index c) {
      return gradient.load({b, t, first + c}) * weight.load({c}) *
             x.load({b, t, first + c});
    });
    // r³ (a·x) / n
    Scalar shrink = rstd * rstd * rstd * dot / k.constant(size);
    k.loop(size, [&](Index c) {
      Scalar g = gradient.load({b, t, first + c});
      Scalar value = x.load({b, t, first + c});
      inputGradient.store({b, t, first + c},
                          rstd * g * weight.load({c}) - value * shrink);
      weightGradient.add({c}, g * value * rstd);
    });
  });
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

static void linear(LinearOp, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer x = in[0], weight = in[1], y = out[0];
  k.loops(y.shape(), [&](ArrayRef<Index> at) {
    y.store(at, k.sum(x.dim(2), [&](Index i) {
      return x.load({at[0], at[1], i}) * weight.load({at[2], i});
    }));
  });
}

static void linearInputAdjoint(LinearInputAdjointOp, LoopBuilder &k, Buffers in,
                               Buffers out) {
  Buffer gradient = in[0], weight = in[1], inputGradient = out[0];
  k.fill(inputGradient, k.constant(0.0));
  k.loops(gradient.shape(), [&](ArrayRef<Index> at) {
    Scalar g = gradient.load(at);
    k.loop(weight.dim(1), [&](Index i) {
      inputGradient.add({at[0], at[1], i}, g * weight.load({at[2], i}));
    });
  });
}

static void linearWeightAdjoint(LinearWeightAdjointOp op, LoopBuilder &k,
                                Buffers in, Buffers out) {
  Buffer gradient = in[0], x = in[1], weightGradient = out[0];
  k.loops(weightGradient.shape(), [&](ArrayRef<Index> at) {
    weightGradient.store(at, op.getSum() ? in[2].load(at) : k.constant(0.0));
  });
  k.loops(gradient.shape(), [&](ArrayRef<Index> at) {
    Scalar g = gradient.load(at);
    k.loop(x.dim(2), [&](Index i) {
      weightGradient.add({at[2], i}, g * x.load({at[0], at[1], i}));
    });
  });
}

//===----------------------------------------------------------------------===//
// Rotary position embedding
//===----------------------------------------------------------------------===//

static void rotary(RotaryOp op, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer x = in[0], y = out[0];
  int64_t heads = op.getHeads(), size = x.dim(2) / heads, half = size / 2;
  double base = op.getBase().convertToDouble();
  LoopBuilder wide(k.getBuilder(), k.getLoc(), k.getBuilder().getF64Type());
  k.loops({x.dim(1), half}, [&](ArrayRef<Index> at) {
    Index t = at[0], i = at[1];
    // base^(−2i/d) = exp(−2i/d · log base). In f32 the angle of a late position
    // would be off by more than the rounding of everything else together.
    Scalar frequency = wide.exp(wide.toScalar(i) * wide.constant(-2.0 / size) *
                                wide.constant(std::log(base)));
    Scalar angle = wide.toScalar(t) * frequency;
    Scalar cosine = k.convert(wide.cosine(angle));
    Scalar sine = k.convert(wide.sine(angle));
    if (op.getInverse())
      sine = -sine;
    k.loops({x.dim(0), heads}, [&](ArrayRef<Index> sequenceAndHead) {
      Index b = sequenceAndHead[0], low = sequenceAndHead[1] * size + i;
      Index high = low + half;
      Scalar u = x.load({b, t, low}), v = x.load({b, t, high});
      y.store({b, t, low}, u * cosine - v * sine);
      y.store({b, t, high}, v * cosine + u * sine);
    });
  });
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Sizes of an attention, and the products within one head.
struct AttentionHeads {
  template <typename OpTy>
  AttentionHeads(OpTy op, LoopBuilder &k, Buffer query)
      : k(k), heads(op.getHeads()), group(heads / op.getKvHeads()),
        size(query.dim(2) / heads), scale(1.0 / std::sqrt(double(size))) {}

  /// First channel of query head j, and of the key/value head it uses.
  Index queryChannel(Index j) { return j * size; }
  Index keyChannel(Index j) { return j / group * size; }

  /// Dot product of one head of two rows.
  Scalar dot(Buffer left, Index b, Index t, Index leftChannel, Buffer right,
             Index s, Index rightChannel) {
    return k.sum(size, [&](Index c) {
      return left.load({b, t, leftChannel + c}) *
             right.load({b, s, rightChannel + c});
    });
  }

  LoopBuilder &k;
  int64_t heads, group, size;
  double scale;
};
} // namespace

static void attention(AttentionOp op, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer query = in[0], key = in[1], value = in[2];
  Buffer output = out[0], lse = out[1];
  AttentionHeads head(op, k, query);
  k.loops({query.dim(0), head.heads, query.dim(1)}, [&](ArrayRef<Index> at) {
    Index b = at[0], j = at[1], t = at[2];
    Index qc = head.queryChannel(j), kc = head.keyChannel(j);
    auto score = [&](Index s) {
      return head.dot(query, b, t, qc, key, s, kc) * k.constant(head.scale);
    };
    Scalar largest = k.maximum(t + 1, score);
    Scalar total =
        k.sum(t + 1, [&](Index s) { return k.exp(score(s) - largest); });
    Scalar logSumExp = largest + k.log(total);
    lse.store({b, j, t}, logSumExp);
    k.loop(head.size,
           [&](Index c) { output.store({b, t, qc + c}, k.constant(0.0)); });
    k.loop(t + 1, [&](Index s) {
      Scalar probability = k.exp(score(s) - logSumExp);
      k.loop(head.size, [&](Index c) {
        output.add({b, t, qc + c}, probability * value.load({b, s, kc + c}));
      });
    });
  });
}

static void attentionAdjoint(AttentionAdjointOp op, LoopBuilder &k, Buffers in,
                             Buffers out) {
  Buffer query = in[0], key = in[1], value = in[2], output = in[3], lse = in[4],
         gradient = in[5];
  Buffer queryGradient = out[0], keyGradient = out[1], valueGradient = out[2];
  AttentionHeads head(op, k, query);
  for (Buffer result : out)
    k.fill(result, k.constant(0.0));
  k.loops({query.dim(0), head.heads, query.dim(1)}, [&](ArrayRef<Index> at) {
    Index b = at[0], j = at[1], t = at[2];
    Index qc = head.queryChannel(j), kc = head.keyChannel(j);
    Scalar c = head.dot(gradient, b, t, qc, output, t, qc);
    k.loop(t + 1, [&](Index s) {
      Scalar score =
          head.dot(query, b, t, qc, key, s, kc) * k.constant(head.scale);
      Scalar probability = k.exp(score - lse.load({b, j, t}));
      Scalar delta = probability *
                     (head.dot(gradient, b, t, qc, value, s, kc) - c) *
                     k.constant(head.scale);
      k.loop(head.size, [&](Index i) {
        valueGradient.add({b, s, kc + i},
                          probability * gradient.load({b, t, qc + i}));
        queryGradient.add({b, t, qc + i}, delta * key.load({b, s, kc + i}));
        keyGradient.add({b, s, kc + i}, delta * query.load({b, t, qc + i}));
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

static void crossEntropy(CrossEntropyOp, LoopBuilder &k, Buffers in,
                         Buffers out) {
  Buffer logits = in[0], targets = in[1], losses = out[0], lse = out[1];
  int64_t V = logits.dim(2);
  k.loops(losses.shape(), [&](ArrayRef<Index> at) {
    Index b = at[0], t = at[1];
    Scalar largest =
        k.maximum(V, [&](Index v) { return logits.load({b, t, v}); });
    Scalar total = k.sum(
        V, [&](Index v) { return k.exp(logits.load({b, t, v}) - largest); });
    Scalar logSumExp = largest + k.log(total);
    lse.store(at, logSumExp);
    losses.store(at, k.constant(0.0));
    Value target = targets.loadId(at);
    k.onlyIf(k.isNotNegative(target), [&] {
      losses.store(at, logSumExp - logits.load({b, t, k.toIndex(target)}));
    });
  });
}

static void crossEntropyAdjoint(CrossEntropyAdjointOp, LoopBuilder &k,
                                Buffers in, Buffers out) {
  Buffer logits = in[0], targets = in[1], lse = in[2], gradient = in[3];
  Buffer logitsGradient = out[0];
  k.loops({logits.dim(0), logits.dim(1)}, [&](ArrayRef<Index> at) {
    Index b = at[0], t = at[1];
    Value target = targets.loadId(at);
    Value counts = k.isNotNegative(target);
    Scalar g = k.select(counts, gradient.load(at), k.constant(0.0));
    Scalar logSumExp = lse.load(at);
    k.loop(logits.dim(2), [&](Index v) {
      Scalar probability = k.exp(logits.load({b, t, v}) - logSumExp);
      logitsGradient.store({b, t, v}, g * probability);
    });
    k.onlyIf(counts,
             [&] { logitsGradient.add({b, t, k.toIndex(target)}, -g); });
  });
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

static void add(AddOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    out[0].store(at, in[0].load(at) + in[1].load(at));
  });
}

static void multiply(MultiplyOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    out[0].store(at, in[0].load(at) * in[1].load(at));
  });
}

static void scale(ScaleOp op, LoopBuilder &k, Buffers in, Buffers out) {
  double factor = op.getFactor().convertToDouble();
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    out[0].store(at, k.constant(factor) * in[0].load(at));
  });
}

static void changeType(CastOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(),
          [&](ArrayRef<Index> at) { out[0].store(at, in[0].load(at)); });
}

static void addVector(AddVectorOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    out[0].store(at, in[0].load(at) + in[1].load({at[2]}));
  });
}

static void sumTokens(SumTokensOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.fill(out[0], k.constant(0.0));
  k.loops(in[0].shape(),
          [&](ArrayRef<Index> at) { out[0].add({at[2]}, in[0].load(at)); });
}

static void broadcast(BroadcastOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.fill(out[0], in[0].load({}));
}

static void swiglu(SwiGLUOp, LoopBuilder &k, Buffers in, Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    Scalar gate = in[0].load(at);
    out[0].store(at, gate * k.sigmoid(gate) * in[1].load(at));
  });
}

static void swigluAdjoint(SwiGLUAdjointOp, LoopBuilder &k, Buffers in,
                          Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    Scalar gate = in[0].load(at), up = in[1].load(at), g = in[2].load(at);
    Scalar sigma = k.sigmoid(gate), one = k.constant(1.0);
    out[0].store(at, g * up * sigma * (one + gate * (one - sigma)));
    out[1].store(at, g * gate * sigma);
  });
}

//===----------------------------------------------------------------------===//
// Parts of the tokens
//===----------------------------------------------------------------------===//

/// The position of token number `token` among sequences of T tokens, and `rest`
/// within it.
static SmallVector<Index> findToken(Index token, int64_t T,
                                    ArrayRef<Index> rest) {
  SmallVector<Index> position{token / T, token % T};
  llvm::append_range(position, rest);
  return position;
}

static void takeTokens(TakeTokensOp op, LoopBuilder &k, Buffers in,
                       Buffers out) {
  k.loops(out[0].shape(), [&](ArrayRef<Index> at) {
    Index token = at[1] + static_cast<int64_t>(op.getFirst());
    out[0].copy(at, in[0], findToken(token, in[0].dim(1), at.drop_front(2)));
  });
}

static void joinTokens(JoinTokensOp, LoopBuilder &k, Buffers in, Buffers out) {
  int64_t first = 0;
  for (Buffer part : in) {
    k.loops(part.shape(), [&](ArrayRef<Index> at) {
      Index token = at[0] * part.dim(1) + at[1] + first;
      out[0].copy(findToken(token, out[0].dim(1), at.drop_front(2)), part, at);
    });
    first += part.dim(0) * part.dim(1);
  }
}

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

static void squaredNorm(SquaredNormOp, LoopBuilder &k, Buffers in,
                        Buffers out) {
  out[0].store({}, k.sum(in[0].dim(0), [&](Index i) {
    Scalar x = in[0].load({i});
    return x * x;
  }));
}

static void adamw(AdamWOp op, LoopBuilder &k, Buffers in, Buffers out) {
  Buffer parameters = in[0], gradient = in[1], first = in[2], second = in[3];
  Buffer scalars = in[4];
  Scalar learningRate = scalars.load({k.index(0)});
  Scalar clip = scalars.load({k.index(1)});
  Scalar firstCorrection = scalars.load({k.index(2)});
  Scalar secondCorrection = scalars.load({k.index(3)});
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  Scalar epsilon = k.constant(op.getEpsilon().convertToDouble());
  Scalar decay = k.constant(op.getWeightDecay().convertToDouble());
  k.loop(parameters.dim(0), [&](Index i) {
    Scalar theta = parameters.load({i});
    Scalar g = clip * gradient.load({i});
    Scalar m = k.constant(beta1) * first.load({i}) + k.constant(1 - beta1) * g;
    Scalar v =
        k.constant(beta2) * second.load({i}) + k.constant(1 - beta2) * g * g;
    Scalar lambda =
        k.select(k.isLess(i, op.getDecayElements()), decay, k.constant(0.0));
    Scalar direction =
        (m / firstCorrection) / (k.sqrt(v / secondCorrection) + epsilon);
    out[0].store({i}, theta - learningRate * (direction + lambda * theta));
    out[1].store({i}, m);
    out[2].store({i}, v);
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void isobath::reference::registerNetLoops(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NetDialect *) {
    CastOp::attachInterface<LoopModel<CastOp, changeType>>(*context);
    EmbeddingOp::attachInterface<LoopModel<EmbeddingOp, embedding>>(*context);
    EmbeddingAdjointOp::attachInterface<
        LoopModel<EmbeddingAdjointOp, embeddingAdjoint>>(*context);
    RMSNormOp::attachInterface<LoopModel<RMSNormOp, rmsNorm>>(*context);
    RMSNormAdjointOp::attachInterface<
        LoopModel<RMSNormAdjointOp, rmsNormAdjoint>>(*context);
    LinearOp::attachInterface<LoopModel<LinearOp, linear>>(*context);
    LinearInputAdjointOp::attachInterface<
        LoopModel<LinearInputAdjointOp, linearInputAdjoint>>(*context);
    LinearWeightAdjointOp::attachInterface<
        LoopModel<LinearWeightAdjointOp, linearWeightAdjoint>>(*context);
    RotaryOp::attachInterface<LoopModel<RotaryOp, rotary>>(*context);
    AttentionOp::attachInterface<LoopModel<AttentionOp, attention>>(*context);
    AttentionAdjointOp::attachInterface<
        LoopModel<AttentionAdjointOp, attentionAdjoint>>(*context);
    CrossEntropyOp::attachInterface<LoopModel<CrossEntropyOp, crossEntropy>>(
        *context);
    CrossEntropyAdjointOp::attachInterface<
        LoopModel<CrossEntropyAdjointOp, crossEntropyAdjoint>>(*context);
    AddOp::attachInterface<LoopModel<AddOp, add>>(*context);
    MultiplyOp::attachInterface<LoopModel<MultiplyOp, multiply>>(*context);
    ScaleOp::attachInterface<LoopModel<ScaleOp, scale>>(*context);
    AddVectorOp::attachInterface<LoopModel<AddVectorOp, addVector>>(*context);
    SumTokensOp::attachInterface<LoopModel<SumTokensOp, sumTokens>>(*context);
    BroadcastOp::attachInterface<LoopModel<BroadcastOp, broadcast>>(*context);
    SwiGLUOp::attachInterface<LoopModel<SwiGLUOp, swiglu>>(*context);
    SwiGLUAdjointOp::attachInterface<LoopModel<SwiGLUAdjointOp, swigluAdjoint>>(
        *context);
    TakeTokensOp::attachInterface<LoopModel<TakeTokensOp, takeTokens>>(
        *context);
    JoinTokensOp::attachInterface<LoopModel<JoinTokensOp, joinTokens>>(
        *context);
    SquaredNormOp::attachInterface<LoopModel<SquaredNormOp, squaredNorm>>(
        *context);
    AdamWOp::attachInterface<LoopModel<AdamWOp, adamw>>(*context);
  });
}
