//===- DepthRows.cpp - What routes do to a token ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is a token. Sources are a list that loops count through, so that one
// kernel serves every number of them; the partial is a matrix of its own, which
// comes after the loop. A route first computes all logits, with two reductions
// for each source and query, then the softmax, with scalars alone, and last the
// mixes of all queries in one pass over the sources. Loops over depth heads are
// there only if there are several, and only where dots and scalars are
// computed: rows are weighed whole, by a number for the channels of each head.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Fusion/RowKernelOpInterface.h"

using namespace mlir;
using namespace isobath::depth;
using namespace isobath::fusion;

static int64_t channels(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}
static int64_t dimension(Value value, unsigned axis) {
  return cast<RankedTensorType>(value.getType()).getDimSize(axis);
}
static int64_t countTokens(Value activation) {
  return dimension(activation, 0) * dimension(activation, 1);
}

namespace {
/// The channels of a token, cut into heads.
struct Heads {
  RowBuilder &k;
  int64_t D, heads;

  int64_t size() const { return D / heads; }
  void forEach(function_ref<void(Index)> body) const { k.loop(heads, body); }
  /// The channels of one head.
  Row load(RowPlace place, Index head) const {
    return heads == 1 ? place.load() : place.load(head * size(), size());
  }
  /// What a token's channels are to be multiplied by: number `first` + head ·
  /// `stride` of `scalars`.
  Numbers spread(Scalars scalars, Index first, Index stride, int64_t q) const {
    return scalars.spread(first, stride, heads, D, q);
  }
};

/// Logits, and what a softmax makes of them: per query (a plane), head and
/// source one number, and the sources' r.
struct Logits {
  RowBuilder &k;
  Heads heads;
  Scalars logits, rstd;
  Index sourceCount;

  /// Where the number of a head and source stands.
  Index at(Index head, Index source) const {
    return heads.heads == 1 ? source : head * sourceCount + source;
  }

  /// Stores r = 1 / sqrt(mean(s²) + epsilon) and ℓ = r (s·u) of source i.
  void add(ArrayRef<Vector> queries, RowPlace source, Index i, double epsilon) {
    Row s = source.load();
    Number r = rsqrt(dot(s, s) / k.constant(heads.D) + k.constant(epsilon));
    rstd.store(r, i);
    heads.forEach([&](Index head) {
      Row channels = heads.load(source, head);
      for (auto [q, query] : llvm::enumerate(queries))
        logits.store(r * dot(channels, heads.load(query, head)), at(head, i),
                     q);
    });
  }

  /// max over i of ℓ_i
  Number largest(Index head, int64_t q) {
    return k.maximum(sourceCount,
                     [&](Index i) { return logits.load(at(head, i), q); });
  }
};
} // namespace

/// Stores Σ_i weight_i s_i of every query, all of them in one pass over the
/// closed sources. `start`, where given, is what the sum of a query begins
/// with. Rows are whole, whatever the heads: what reads them can be fused.
static void storeMixes(Logits &l, ArrayRef<Matrix> mixes, Scalars weights,
                       List closed, std::optional<Matrix> partial,
                       function_ref<Row(int64_t q)> start = nullptr) {
  RowBuilder &k = l.k;
  auto addSource = [&](ArrayRef<Row> sums, RowPlace source, Index i) {
    Row s = source.load();
    SmallVector<Row> next;
    for (auto [q, sum] : llvm::enumerate(sums))
      next.push_back(sum + l.heads.spread(weights, i, l.sourceCount, q) * s);
    return next;
  };
  SmallVector<Row> starts;
  for (size_t q = 0; q < mixes.size(); ++q)
    starts.push_back(start ? start(q) : k.filled(k.constant(0.0), l.heads.D));
  SmallVector<Row> sums = k.carry(k.index(0), closed.count(), starts,
                                  [&](Index i, ArrayRef<Row> sums) {
                                    return addSource(sums, closed[i], i);
                                  });
  if (partial)
    sums = addSource(sums, *partial, closed.count());
  for (auto [mix, sum] : llvm::zip_equal(mixes, sums))
    mix.store(sum);
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

static void route(RouteOp op, RowBuilder &k) {
  int64_t D = channels(op.getClosed().front()), Q = op.getQueries().size();
  k.setRows(countTokens(op.getClosed().front()));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  List closed = k.list("closed", op.getClosed(), D);
  std::optional<Matrix> partial;
  if (op.getPartial())
    partial = k.matrix("partial", op.getPartial(), D);
  SmallVector<Matrix> mixes = k.matrixOutputs("mix", op.getMixes(), D);
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);
  Scalars logits = k.scalarsOutput("logits", op.getLogits(), Q);
  Scalars rstd = k.scalarsOutput("rstd", op.getRstd());

  Heads heads{k, D, static_cast<int64_t>(op.getHeads())};
  Index count = closed.count();
  Logits l{k, heads, logits, rstd, partial ? count + 1 : count};
  double epsilon = op.getEpsilon().convertToDouble();
  k.loop(count, [&](Index i) { l.add(queries, closed[i], i, epsilon); });
  if (partial)
    l.add(queries, *partial, count, epsilon);

  // α = exp(ℓ − max) / Σ exp(ℓ − max)
  heads.forEach([&](Index head) {
    for (int64_t q = 0; q < Q; ++q) {
      Number largest = l.largest(head, q);
      Number total = k.sum(l.sourceCount, [&](Index i) {
        Number numerator = exp(logits.load(l.at(head, i), q) - largest);
        weights.store(numerator, l.at(head, i), q);
        return numerator;
      });
      k.loop(l.sourceCount, [&](Index i) {
        weights.store(weights.load(l.at(head, i), q) / total, l.at(head, i), q);
      });
    }
  });
  storeMixes(l, mixes, weights, closed, partial);
}

static void partial(PartialOp op, RowBuilder &k) {
  int64_t D = channels(op.getClosed().front()), Q = op.getQueries().size();
  k.setRows(countTokens(op.getClosed().front()));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  List closed = k.list("closed", op.getClosed(), D);
  SmallVector<Matrix> mixes = k.matrixOutputs("mix", op.getMixes(), D);
  Scalars lse = k.scalarsOutput("lse", op.getLse(), Q);
  Scalars logits = k.scalarsOutput("logits", op.getLogits(), Q);
  Scalars rstd = k.scalarsOutput("rstd", op.getRstd());
  Scalars weights = k.scratch(
      "weights", Q, channels(op.getLogits()) * dimension(op.getLogits(), 3));

  Heads heads{k, D, static_cast<int64_t>(op.getHeads())};
  Logits l{k, heads, logits, rstd, closed.count()};
  double epsilon = op.getEpsilon().convertToDouble();
  k.loop(l.sourceCount,
         [&](Index i) { l.add(queries, closed[i], i, epsilon); });
  heads.forEach([&](Index head) {
    for (int64_t q = 0; q < Q; ++q) {
      Number largest = l.largest(head, q);
      Number total = k.sum(l.sourceCount, [&](Index i) {
        return exp(logits.load(l.at(head, i), q) - largest);
      });
      Number logSumExp = largest + log(total);
      lse.store(logSumExp, head, q);
      k.loop(l.sourceCount, [&](Index i) {
        weights.store(exp(logits.load(l.at(head, i), q) - logSumExp),
                      l.at(head, i), q);
      });
    }
  });
  storeMixes(l, mixes, weights, closed, std::nullopt);
}

static void merge(MergeOp op, RowBuilder &k) {
  int64_t D = channels(op.getPartial()), Q = op.getQueries().size();
  k.setRows(countTokens(op.getPartial()));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> closedMixes =
      k.matrices("closed_mix", op.getClosedMixes(), D);
  Matrix partial = k.matrix("partial", op.getPartial(), D);
  Scalars lse = k.scalarsFrom("lse", op.getLse(), op.getFirstQuery(), Q);
  SmallVector<Matrix> mixes = k.matrixOutputs("mix", op.getMixes(), D);
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);
  Scalars logits = k.scalarsOutput("logits", op.getLogits(), Q);
  Scalars rstd = k.scalarsOutput("rstd", op.getRstd());

  Heads heads{k, D, dimension(op.getLse(), 3)};
  Row whole = partial.load();
  Number r = rsqrt(dot(whole, whole) / k.constant(D) +
                   k.constant(op.getEpsilon().convertToDouble()));
  rstd.store(r, k.index(0));
  heads.forEach([&](Index head) {
    Row p = heads.load(partial, head);
    for (int64_t q = 0; q < Q; ++q) {
      Number logit = r * dot(p, heads.load(queries[q], head));
      Number a = sigmoid(logit - lse.load(head, q));
      logits.store(logit, head, q);
      weights.store(a, head, q);
    }
  });
  for (int64_t q = 0; q < Q; ++q) {
    Row o = closedMixes[q].load();
    Numbers a = heads.spread(weights, k.index(0), k.index(1), q);
    mixes[q].store(o + a * (whole - o));
  }
}

static void extend(ExtendOp op, RowBuilder &k) {
  int64_t D = channels(op.getNewer().front()), Q = op.getQueries().size();
  k.setRows(countTokens(op.getNewer().front()));
  SmallVector<Vector> queries = k.vectors("query", op.getQueries());
  SmallVector<Matrix> olderMixes =
      k.matrices("older_mix", op.getOlderMixes(), D);
  List newer = k.list("newer", op.getNewer(), D);
  Scalars lse = k.scalarsFrom("lse", op.getLse(), op.getFirstQuery(), Q);
  SmallVector<Matrix> mixes = k.matrixOutputs("mix", op.getMixes(), D);
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);
  Scalars logits = k.scalarsOutput("logits", op.getLogits(), Q);
  Scalars rstd = k.scalarsOutput("rstd", op.getRstd());
  Heads heads{k, D, dimension(op.getLse(), 3)};
  Scalars shares = k.scratch("shares", Q, heads.heads); // of the older mixes

  Logits l{k, heads, logits, rstd, newer.count()};
  double epsilon = op.getEpsilon().convertToDouble();
  k.loop(l.sourceCount, [&](Index i) { l.add(queries, newer[i], i, epsilon); });
  heads.forEach([&](Index head) {
    for (int64_t q = 0; q < Q; ++q) {
      Number older = lse.load(head, q);
      Number largest = larger(l.largest(head, q), older);
      Number share = exp(older - largest);
      Number total = share + k.sum(l.sourceCount, [&](Index i) {
        return exp(logits.load(l.at(head, i), q) - largest);
      });
      shares.store(share / total, head, q);
      k.loop(l.sourceCount, [&](Index i) {
        weights.store(exp(logits.load(l.at(head, i), q) - largest) / total,
                      l.at(head, i), q);
      });
    }
  });
  storeMixes(l, mixes, weights, newer, std::nullopt, [&](int64_t q) {
    return heads.spread(shares, k.index(0), k.index(1), q) *
           olderMixes[q].load();
  });
}

static void closedStatistics(ClosedStatisticsOp op, RowBuilder &k) {
  int64_t Q = op.getQueryCount(), first = op.getFirstQuery(),
          heads = dimension(op.getLogits(), 3);
  k.setRows(dimension(op.getLogits(), 1) * dimension(op.getLogits(), 2));
  Scalars lse = k.scalarsFrom("lse", op.getLse(), first, Q);
  Scalars logits = k.scalarsFrom("logits", op.getLogits(), first, Q);
  std::optional<Scalars> merged;
  if (op.getMerged())
    merged = k.scalars("merged", op.getMerged(), Q);
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);
  Scalars closedLogits =
      k.scalarsOutput("closed_logits", op.getClosedLogits(), Q);

  Index sources = weights.width() / heads;
  k.loop(heads, [&](Index head) {
    for (int64_t q = 0; q < Q; ++q) {
      Number logSumExp = lse.load(head, q);
      std::optional<Number> share; // of the closed sources in the merged mix
      if (merged)
        share = k.constant(1.0) - merged->load(head, q);
      k.loop(sources, [&](Index i) {
        Index place = heads == 1 ? i : head * sources + i;
        Number logit = logits.load(place, q);
        Number weight = exp(logit - logSumExp);
        weights.store(share ? *share * weight : weight, place, q);
        closedLogits.store(logit, place, q);
      });
    }
  });
}

static void extendedStatistics(ExtendedStatisticsOp op, RowBuilder &k) {
  int64_t Q = dimension(op.getNewWeights(), 0), first = op.getFirstQuery(),
          heads = dimension(op.getLogits(), 3);
  k.setRows(dimension(op.getLogits(), 1) * dimension(op.getLogits(), 2));
  Scalars lse = k.scalarsFrom("lse", op.getLse(), first, Q);
  Scalars logits = k.scalarsFrom("logits", op.getLogits(), first, Q);
  Scalars rstd = k.scalars("rstd", op.getRstd());
  Scalars newWeights = k.scalars("new_weights", op.getNewWeights(), Q);
  Scalars newLogits = k.scalars("new_logits", op.getNewLogits(), Q);
  Scalars newRstd = k.scalars("new_rstd", op.getNewRstd());
  Scalars weights = k.scalarsOutput("weights", op.getWeights(), Q);
  Scalars allLogits = k.scalarsOutput("all_logits", op.getAllLogits(), Q);
  Scalars allRstd = k.scalarsOutput("all_rstd", op.getAllRstd());

  Index older = rstd.width(), newer = newRstd.width(), all = older + newer;
  k.loop(older, [&](Index i) { allRstd.store(rstd.load(i), i); });
  k.loop(newer, [&](Index i) { allRstd.store(newRstd.load(i), older + i); });
  auto at = [&](Index head, Index sources, Index i) {
    return heads == 1 ? i : head * sources + i;
  };
  k.loop(heads, [&](Index head) {
    for (int64_t q = 0; q < Q; ++q) {
      Number logSumExp = lse.load(head, q);
      Number share = k.constant(1.0) - k.sum(newer, [&](Index i) {
        return newWeights.load(at(head, newer, i), q);
      });
      k.loop(older, [&](Index i) {
        Number logit = logits.load(at(head, older, i), q);
        weights.store(share * exp(logit - logSumExp), at(head, all, i), q);
        allLogits.store(logit, at(head, all, i), q);
      });
      k.loop(newer, [&](Index i) {
        Index from = at(head, newer, i), to = at(head, all, older + i);
        weights.store(newWeights.load(from, q), to, q);
        allLogits.store(newLogits.load(from, q), to, q);
      });
    }
  });
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

static void fixedRead(FixedReadOp op, RowBuilder &k) {
  int64_t D = channels(op.getMix());
  k.setRows(countTokens(op.getMix()));
  // The rules that read one source alone are copies of it.
  if (op.getRule() != FixedRule::Uniform) {
    SmallVector<Value> sources = op.getSources();
    Matrix source = k.matrix(
        "source",
        op.getRule() == FixedRule::Newest ? sources.back() : sources.front(),
        D);
    Matrix mix = k.matrixOutput("mix", op.getMix(), D);
    return mix.store(source.load());
  }
  List closed = k.list("closed", op.getClosed(), D);
  std::optional<Matrix> partial;
  if (op.getPartial())
    partial = k.matrix("partial", op.getPartial(), D);
  Matrix mix = k.matrixOutput("mix", op.getMix(), D);
  Index count = closed.count();
  Row total = k.carry(k.index(0), count, k.filled(k.constant(0.0), D),
                      [&](Index i, ArrayRef<Row> sum) -> SmallVector<Row> {
                        return {sum[0] + closed[i].load()};
                      })[0];
  if (partial)
    total = total + partial->load();
  mix.store(total / k.toNumber(partial ? count + 1 : count));
}

static void runningSum(RunningSumOp op, RowBuilder &k) {
  int64_t D = channels(op.getSum());
  k.setRows(countTokens(op.getSum()));
  Matrix older = k.matrix("older", op.getOlder(), D),
         source = k.matrix("source", op.getSource(), D),
         sum = k.matrixOutput("sum", op.getSum(), D);
  sum.store(older.load() + source.load());
}

static void fixedDistribution(FixedDistributionOp op, RowBuilder &k) {
  k.setRows(countTokens(op.getSource()));
  Scalars weights = k.scalarsOutput("weights", op.getWeights());
  Index count = weights.width();
  Number zero = k.constant(0.0), one = k.constant(1.0);
  k.loop(count, [&](Index i) {
    switch (op.getRule()) {
    case FixedRule::Uniform:
      return weights.store(one / k.toNumber(count), i);
    case FixedRule::Newest:
      return weights.store(k.select(k.isEqual(i, count - 1), one, zero), i);
    case FixedRule::Embedding:
      return weights.store(k.select(k.isEqual(i, k.index(0)), one, zero), i);
    }
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void isobath::fusion::registerDepthRows(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DepthDialect *) {
    RouteOp::attachInterface<RowModel<RouteOp, route>>(*context);
    PartialOp::attachInterface<RowModel<PartialOp, ::partial>>(*context);
    MergeOp::attachInterface<RowModel<MergeOp, merge>>(*context);
    ExtendOp::attachInterface<RowModel<ExtendOp, extend>>(*context);
    ClosedStatisticsOp::attachInterface<
        RowModel<ClosedStatisticsOp, closedStatistics>>(*context);
    ExtendedStatisticsOp::attachInterface<
        RowModel<ExtendedStatisticsOp, extendedStatistics>>(*context);
    FixedReadOp::attachInterface<RowModel<FixedReadOp, fixedRead>>(*context);
    RunningSumOp::attachInterface<RowModel<RunningSumOp, runningSum>>(*context);
    FixedDistributionOp::attachInterface<
        RowModel<FixedDistributionOp, fixedDistribution>>(*context);
  });
}
