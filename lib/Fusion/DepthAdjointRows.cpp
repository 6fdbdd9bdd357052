//===- DepthAdjointRows.cpp - What the adjoints of routes do to a token -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every source s, closed or partial, gets from each query and head, given α, δ,
// ℓ and r,
//
//     ∂s += α g + (δ r) u,    ∂s −= s (Σ δ ℓ) r² / D,    ∂u += Σ_tokens (δ r) s
//
// First all numbers, with a reduction for each source and query: the *slopes*
// δ r and the *shrinks* (Σ_{queries, heads} δ ℓ) r² / D. Then, without
// reductions, one pass over the sources for all queries.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Fusion/RowKernelOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::fusion;

static ArrayRef<int64_t> shape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
static int64_t channels(Value value) { return shape(value).back(); }
static int64_t countTokens(Value activation) {
  return shape(activation)[0] * shape(activation)[1];
}

namespace {
/// A number per query, head and source.
using SourceNumber = function_ref<Number(int64_t q, Index head, Index source)>;
/// What a token's channels are multiplied by, for a query and source.
using SourceFactor = function_ref<Numbers(int64_t q, Index source)>;

/// The adjoint of sources at one token.
struct SourceAdjoints {
  RowBuilder &k;
  int64_t D, heads;
  ArrayRef<Vector> queries;
  ArrayRef<Matrix> gradients;
  ArrayRef<Sum> queryGradients;
  Scalars slopes;  // [Q][heads, sources]
  Scalars shrinks; // [sources]
  Index sourceCount;

  int64_t queryCount() const { return queries.size(); }
  int64_t size() const { return D / heads; }
  Row load(RowPlace place, Index head) const {
    return heads == 1 ? place.load() : place.load(head * size(), size());
  }
  Index at(Index head, Index source) const {
    return heads == 1 ? source : head * sourceCount + source;
  }

  /// Stores the slopes and the shrink of source i.
  void addNumbers(RowPlace source, Index i, Number r, SourceNumber logit,
                  function_ref<Number(int64_t q, Index head, Row s)> delta) {
    // Σ δ ℓ over the queries of one head.
    auto addHead = [&](Index head) {
      Row s = load(source, head);
      std::optional<Number> total;
      for (int64_t q = 0; q < queryCount(); ++q) {
        Number d = delta(q, head, s);
        slopes.store(d * r, at(head, i), q);
        Number term = d * logit(q, head, i);
        total = total ? *total + term : term;
      }
      return *total;
    };
    Number total =
        heads == 1 ? addHead(k.index(0)) : k.sum(k.index(heads), addHead);
    shrinks.store(total * r * r / k.constant(D), i);
  }

  /// Stores ∂s of source i; returns the source's terms of the ∂u.
  SmallVector<Row> addSource(RowPlace source, RowPlace sourceGradient, Index i,
                             SourceFactor alpha) {
    Row s = source.load();
    Row total = -(shrinks.load(i) * s);
    SmallVector<Row> ofQueries;
    for (int64_t q = 0; q < queryCount(); ++q) {
      Numbers slope = slopes.spread(i, sourceCount, heads, D, q);
      total =
          total + alpha(q, i) * gradients[q].load() + slope * queries[q].load();
      ofQueries.push_back(slope * s);
    }
    sourceGradient.store(total);
    return ofQueries;
  }

  /// Adds ∂u to the sums over tokens.
  void addQueries(ArrayRef<Row> ofQueries) {
    for (auto [sum, row] : llvm::zip_equal(queryGradients, ofQueries))
      sum.add(row);
  }

  /// All closed sources, in one pass.
  void addSources(List closed, List closedGradients, SourceFactor alpha) {
    SmallVector<Row> zeros(queryCount(), k.filled(k.constant(0.0), D));
    auto addClosed = [&](Index i, ArrayRef<Row> sums) {
      SmallVector<Row> terms =
          addSource(closed[i], closedGradients[i], i, alpha);
      for (auto [term, sum] : llvm::zip_equal(terms, sums))
        term = sum + term;
      return terms;
    };
    addQueries(k.carry(k.index(0), closed.count(), zeros, addClosed));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

static void routeAdjointLocal(RouteAdjointLocalOp op, RowBuilder &k) {
  Value first = op.getGradients().front();
  int64_t D = channels(first), Q = op.getQueries().size();
  int64_t heads = shape(op.getWeights())[3];
  k.setRows(countTokens(first));
  if (!op.getPartial()) { // then only the dots are wanted
    SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
    SmallVector<Matrix> mixes = k.matrices("mix", op.getMixes(), D);
    Scalars dots = k.scalarsOutput("dots", op.getDots(), Q);
    k.loop(heads, [&](Index head) {
      int64_t size = D / heads;
      for (int64_t q = 0; q < Q; ++q)
        dots.store(heads == 1 ? dot(gradients[q].load(), mixes[q].load())
                              : dot(gradients[q].load(head * size, size),
                                    mixes[q].load(head * size, size)),
                   head, q);
    });
    return;
  }

  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
  SmallVector<Matrix> mixes = k.matrices("mix", op.getMixes(), D);
  Matrix partial = k.matrix("partial", op.getPartial(), D);
  Scalars weights = k.scalars("weights", op.getWeights(), Q);
  Scalars logits = k.scalars("logits", op.getLogits(), Q);
  Scalars rstd = k.scalars("rstd", op.getRstd());
  Scalars dots = k.scalarsOutput("dots", op.getDots(), Q);
  Matrix partialGradient =
      k.matrixOutput("gpartial", op.getPartialGradient(), D);
  SmallVector<Sum> queryGradients =
      k.sumOutputs("gquery", op.getQueryGradients());
  Scalars slopes = k.scratch("slopes", Q, heads);
  Scalars shrinks = k.scratch("shrinks", 1, 1);

  Index only = k.index(0);
  SourceAdjoints adjoints{k,       D,         heads,
                          queries, gradients, queryGradients,
                          slopes,  shrinks,   k.index(1)};
  // The partial is the last source of the saved numbers, each of which may have
  // others in front.
  auto loadLast = [&](Scalars saved, int64_t q, Index head) {
    Index count = saved.width() / heads;
    return saved.load(heads == 1 ? count - 1 : head * count + (count - 1), q);
  };
  auto alpha = [&](int64_t q, Index head) {
    return loadLast(weights, q, head);
  };
  auto logit = [&](int64_t q, Index head, Index) {
    return loadLast(logits, q, head);
  };
  adjoints.addNumbers(partial, only, rstd.load(rstd.width() - 1), logit,
                      [&](int64_t q, Index head, Row p) {
                        Row g = adjoints.load(gradients[q], head);
                        Number gh = dot(g, adjoints.load(mixes[q], head));
                        dots.store(gh, head, q);
                        return alpha(q, head) * (dot(g, p) - gh);
                      });
  adjoints.addQueries(
      adjoints.addSource(partial, partialGradient, only, [&](int64_t q, Index) {
        Index count = weights.width() / heads;
        return weights.spread(count - 1, count, heads, D, q);
      }));
}

// Code grows with the number of queries: each has its accumulators.
static void routeAdjointDeferred(RouteAdjointDeferredOp op, RowBuilder &k) {
  Value first = op.getClosed().front();
  int64_t D = channels(first), Q = op.getQueries().size(),
          C = op.getClosed().size(), heads = shape(op.getDots().front())[3];
  k.setRows(countTokens(first));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
  List closed = k.list("closed", op.getClosed(), D);
  // One for each route.
  SmallVector<Scalars> weights, logits, dots;
  // The route of each query, and its place there.
  SmallVector<std::pair<int64_t, int64_t>> places;
  for (auto [r, value] : llvm::enumerate(op.getWeights()))
    for (int64_t q = 0; q < shape(value)[0]; ++q)
      places.push_back({r, q});
  auto addScalars = [&](StringRef name, ValueRange values,
                        SmallVector<Scalars> &all) {
    for (auto [r, value] : llvm::enumerate(values))
      all.push_back(
          k.scalars(values.size() == 1 ? name.str() : (name + Twine(r)).str(),
                    value, shape(value)[0]));
  };
  addScalars("weights", op.getWeights(), weights);
  addScalars("logits", op.getLogits(), logits);
  addScalars("dots", op.getDots(), dots);
  Scalars rstd = k.scalars("rstd", op.getRstd());
  List closedGradients = k.listOutput("gclosed", op.getClosedGradients(), D);
  SmallVector<Sum> queryGradients =
      k.sumOutputs("gquery", op.getQueryGradients());
  Scalars slopes = k.scratch("slopes", Q, heads * C);
  Scalars shrinks = k.scratch("shrinks", 1, C);

  SourceAdjoints adjoints{k,       D,         heads,
                          queries, gradients, queryGradients,
                          slopes,  shrinks,   closed.count()};
  // A route may have read more sources than these: its heads' numbers lie
  // further apart.
  struct Saved {
    SmallVector<Scalars> &ofRoutes;
    SmallVector<Index> counts;
  };
  auto countSources = [&](SmallVector<Scalars> &ofRoutes) {
    Saved saved{ofRoutes, {}};
    for (Scalars ofRoute : ofRoutes)
      saved.counts.push_back(ofRoute.width() / heads);
    return saved;
  };
  // The place of source i's number among `count`.
  Index closedCount = closed.count();
  auto find = [&](Index i, Index count) {
    return op.getNewest() ? i + (count - closedCount) : i;
  };
  auto load = [&](const Saved &saved, int64_t q, Index head, Index i) {
    auto [r, place] = places[q];
    Index number = find(i, saved.counts[r]);
    Index at = heads == 1 ? number : head * saved.counts[r] + number;
    return saved.ofRoutes[r].load(at, place);
  };
  Saved savedWeights = countSources(weights),
        savedLogits = countSources(logits);
  auto alpha = [&](int64_t q, Index head, Index i) {
    return load(savedWeights, q, head, i);
  };
  auto logit = [&](int64_t q, Index head, Index i) {
    return load(savedLogits, q, head, i);
  };
  k.loop(closed.count(), [&](Index i) {
    adjoints.addNumbers(closed[i], i, rstd.load(find(i, rstd.width())), logit,
                        [&](int64_t q, Index head, Row s) {
                          auto [r, place] = places[q];
                          Row g = adjoints.load(gradients[q], head);
                          return alpha(q, head, i) *
                                 (dot(g, s) - dots[r].load(head, place));
                        });
  });
  adjoints.addSources(closed, closedGradients, [&](int64_t q, Index i) {
    auto [r, place] = places[q];
    Index count = savedWeights.counts[r];
    return weights[r].spread(find(i, count), count, heads, D, place);
  });
}

//===----------------------------------------------------------------------===//
// Two phases
//===----------------------------------------------------------------------===//

static void partialAdjoint(PartialAdjointOp op, RowBuilder &k) {
  Value first = op.getClosed().front();
  int64_t D = channels(first), Q = op.getQueries().size(),
          C = op.getClosed().size(), heads = shape(op.getLse())[3];
  k.setRows(countTokens(first));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
  SmallVector<Matrix> mixes = k.matrices("mix", op.getMixes(), D);
  List closed = k.list("closed", op.getClosed(), D);
  Scalars lseGradient = k.scalars("glse", op.getLseGradient(), Q);
  Scalars lse = k.scalars("lse", op.getLse(), Q);
  Scalars logits = k.scalars("logits", op.getLogits(), Q);
  Scalars rstd = k.scalars("rstd", op.getRstd());
  List closedGradients = k.listOutput("gclosed", op.getClosedGradients(), D);
  SmallVector<Sum> queryGradients =
      k.sumOutputs("gquery", op.getQueryGradients());
  Scalars slopes = k.scratch("slopes", Q, heads * C);
  Scalars shrinks = k.scratch("shrinks", 1, C);
  Scalars weights = k.scratch("weights", Q, heads * C);
  Scalars shifts = k.scratch("shifts", Q, heads);

  SourceAdjoints adjoints{k,       D,         heads,
                          queries, gradients, queryGradients,
                          slopes,  shrinks,   closed.count()};
  // The shift −∂o·o + ∂L is one for all sources.
  k.loop(heads, [&](Index head) {
    for (int64_t q = 0; q < Q; ++q)
      shifts.store(lseGradient.load(head, q) -
                       dot(adjoints.load(gradients[q], head),
                           adjoints.load(mixes[q], head)),
                   head, q);
  });
  auto logit = [&](int64_t q, Index head, Index i) {
    return logits.load(adjoints.at(head, i), q);
  };
  k.loop(closed.count(), [&](Index i) {
    adjoints.addNumbers(
        closed[i], i, rstd.load(i), logit, [&](int64_t q, Index head, Row s) {
          Number a = exp(logit(q, head, i) - lse.load(head, q));
          weights.store(a, adjoints.at(head, i), q);
          return a * (dot(adjoints.load(gradients[q], head), s) +
                      shifts.load(head, q));
        });
  });
  adjoints.addSources(closed, closedGradients, [&](int64_t q, Index i) {
    return weights.spread(i, closed.count(), heads, D, q);
  });
}

static void mergeAdjoint(MergeAdjointOp op, RowBuilder &k) {
  int64_t D = channels(op.getPartial()), Q = op.getQueries().size();
  int64_t heads = shape(op.getWeights())[3], first = op.getFirstQuery(),
          lseQueries = op.getLseQueries();
  k.setRows(countTokens(op.getPartial()));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> gradients = k.matrices("g", op.getGradients(), D);
  SmallVector<Matrix> closedMixes =
      k.matrices("closed_mix", op.getClosedMixes(), D);
  Matrix partial = k.matrix("partial", op.getPartial(), D);
  Scalars weights = k.scalars("weights", op.getWeights(), Q);
  Scalars logits = k.scalars("logits", op.getLogits(), Q);
  Scalars rstd = k.scalars("rstd", op.getRstd());
  Matrix partialGradient =
      k.matrixOutput("gpartial", op.getPartialGradient(), D);
  Scalars lseGradient =
      k.scalarsOutput("glse", op.getLseGradient(), lseQueries);
  SmallVector<Matrix> closedMixGradients =
      k.matrixOutputs("gclosed_mix", op.getClosedMixGradients(), D);
  SmallVector<Sum> queryGradients =
      k.sumOutputs("gquery", op.getQueryGradients());
  Scalars slopes = k.scratch("slopes", Q, heads);
  Scalars shrinks = k.scratch("shrinks", 1, 1);

  Index only = k.index(0);
  Number one = k.constant(1.0);
  SourceAdjoints adjoints{k,       D,         heads,
                          queries, gradients, queryGradients,
                          slopes,  shrinks,   k.index(1)};
  auto logit = [&](int64_t q, Index head, Index) {
    return logits.load(head, q);
  };
  adjoints.addNumbers(
      partial, only, rstd.load(only), logit, [&](int64_t q, Index head, Row p) {
        // g·(p − o): the difference first, before the two products can cancel.
        Row o = adjoints.load(closedMixes[q], head);
        Number a = weights.load(head, q);
        Number delta =
            a * (one - a) * dot(adjoints.load(gradients[q], head), p - o);
        lseGradient.store(-delta, head, first + q);
        return delta;
      });
  k.loop(heads, [&](Index head) {
    for (int64_t q = 0; q < lseQueries; ++q)
      if (q < first || q >= first + Q)
        lseGradient.store(k.constant(0.0), head, q);
  });
  auto alpha = [&](int64_t q, Index) {
    return weights.spread(only, k.index(1), heads, D, q);
  };
  for (int64_t q = 0; q < Q; ++q)
    closedMixGradients[q].store((one - alpha(q, only)) * gradients[q].load());
  adjoints.addQueries(
      adjoints.addSource(partial, partialGradient, only, alpha));
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void isobath::fusion::registerDepthAdjointRows(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    RouteAdjointLocalOp::attachInterface<
        RowModel<RouteAdjointLocalOp, routeAdjointLocal>>(*context);
    RouteAdjointDeferredOp::attachInterface<
        RowModel<RouteAdjointDeferredOp, routeAdjointDeferred>>(*context);
    PartialAdjointOp::attachInterface<
        RowModel<PartialAdjointOp, partialAdjoint>>(*context);
    MergeAdjointOp::attachInterface<RowModel<MergeAdjointOp, mergeAdjoint>>(
        *context);
  });
}
