//===- StaticReadRows.cpp - What static reads do to a token -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every token computes the weights from the mixtures, with a handful of
// scalars, as many as the list has sources, and then reads every source once
// for all mixtures. The adjoint reads them once too, for the dots g·s; the
// gradients of sources need g alone.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Fusion/RowKernelOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::fusion;

static ArrayRef<int64_t> shape(Value activation) {
  return cast<RankedTensorType>(activation.getType()).getShape();
}

namespace {
/// The closed sources and, after them, the partial.
struct Sources {
  Sources(RowBuilder &k, ValueRange closed, Value partial, int64_t D)
      : k(k), closed(k.list("closed", closed, D)), count(this->closed.count()) {
    if (!partial)
      return;
    this->partial = k.matrix("partial", partial, D);
    count = count + 1;
  }

  void forEach(function_ref<void(Row, Index)> body) const {
    k.loop(closed.count(), [&](Index i) { body(closed[i].load(), i); });
    if (partial)
      body(partial->load(), count - 1);
  }

  RowBuilder &k;
  List closed;
  std::optional<Matrix> partial;
  Index count;
};
} // namespace

/// Stores α = exp(m − max) / Σ exp(m − max) of every mixture.
static void storeWeights(RowBuilder &k, ArrayRef<Vector> mixtures, Index count,
                         Scalars weights) {
  for (auto [q, mixture] : llvm::enumerate(mixtures)) {
    auto logit = [&](Index i) { return mixture.number(i); };
    Number largest = k.maximum(count, logit);
    Number total = k.sum(count, [&](Index i) {
      Number numerator = exp(logit(i) - largest);
      weights.store(numerator, i, q);
      return numerator;
    });
    k.loop(count,
           [&](Index i) { weights.store(weights.load(i, q) / total, i, q); });
  }
}

static void staticRead(StaticReadOp op, RowBuilder &k) {
  ArrayRef<int64_t> sizes = shape(op.getClosed().front());
  int64_t D = sizes[2], Q = op.getMixtures().size();
  k.setRows(sizes[0] * sizes[1]);
  SmallVector<Vector> mixtures =
      k.vectorsOfAnyWidth("mixture", op.getMixtures());
  Sources sources(k, op.getClosed(), op.getPartial(), D);
  SmallVector<Matrix> mixes = k.matrixOutputs("mix", op.getMixes(), D);
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);

  storeWeights(k, mixtures, sources.count, weights);
  auto addSource = [&](ArrayRef<Row> sums, RowPlace source, Index i) {
    Row s = source.load();
    SmallVector<Row> next;
    for (auto [q, sum] : llvm::enumerate(sums))
      next.push_back(sum + weights.load(i, q) * s);
    return next;
  };
  SmallVector<Row> zeros(Q, k.filled(k.constant(0.0), D));
  SmallVector<Row> sums =
      k.carry(k.index(0), sources.closed.count(), zeros,
              [&](Index i, ArrayRef<Row> sums) {
                return addSource(sums, sources.closed[i], i);
              });
  if (sources.partial)
    sums = addSource(sums, *sources.partial, sources.count - 1);
  for (auto [mix, sum] : llvm::zip_equal(mixes, sums))
    mix.store(sum);
}

static void staticReadAdjoint(StaticReadAdjointOp op, RowBuilder &k) {
  ArrayRef<int64_t> sizes = shape(op.getClosed().front());
  int64_t D = sizes[2], Q = op.getMixtures().size(), N = op.getSourceCount(),
          C = op.getClosed().size();
  k.setRows(sizes[0] * sizes[1]);
  SmallVector<Vector> mixtures =
      k.vectorsOfAnyWidth("mixture", op.getMixtures());
  SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
  Sources sources(k, op.getClosed(), op.getPartial(), D);
  List closedGradients =
      k.listOutput("gclosed", op.getSourceGradients().take_front(C), D);
  std::optional<Matrix> partialGradient;
  if (op.getPartial())
    partialGradient =
        k.matrixOutput("gpartial", op.getSourceGradients().back(), D);
  SmallVector<Sum> mixtureGradients =
      k.sumOutputsOfAnyWidth("gmixture", op.getMixtureGradients());
  Scalars weights = k.scratch("weights", Q, N);
  Scalars dots = k.scratch("dots", Q, N);

  storeWeights(k, mixtures, sources.count, weights);
  sources.forEach([&](Row s, Index i) {
    for (auto [q, gradient] : llvm::enumerate(gradients))
      dots.store(dot(gradient.load(), s), i, q);
  });
  // ∂m_i = Σ_tokens α_i (g·s_i − Σ_j α_j g·s_j)
  for (auto [q, mixtureGradient] : llvm::enumerate(mixtureGradients)) {
    Number mean = k.sum(sources.count, [&](Index i) {
      return weights.load(i, q) * dots.load(i, q);
    });
    k.loop(sources.count, [&](Index i) {
      Number delta = weights.load(i, q) * (dots.load(i, q) - mean);
      mixtureGradient.add(k.filled(delta, 1), i);
    });
  }
  // ∂s_i = Σ_mixtures α_i g
  auto sourceGradient = [&](Index i) {
    Row total = weights.load(i) * gradients.front().load();
    for (int64_t q = 1; q < Q; ++q)
      total = total + weights.load(i, q) * gradients[q].load();
    return total;
  };
  k.loop(sources.closed.count(),
         [&](Index i) { closedGradients[i].store(sourceGradient(i)); });
  if (partialGradient)
    partialGradient->store(sourceGradient(sources.count - 1));
}

void isobath::fusion::registerStaticReadRows(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    StaticReadOp::attachInterface<RowModel<StaticReadOp, staticRead>>(*context);
    StaticReadAdjointOp::attachInterface<
        RowModel<StaticReadAdjointOp, staticReadAdjoint>>(*context);
  });
}
