//===- AttentionTasks.h - One task of attention ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once a source, which says for which processor: see
// AttentionGeneric.cpp. Everything is static, for the reason in bfloat16.h.
//
// Forward, one pass over blocks of keys with running maxima m and sums l:
// S = QKᵀ/√d, m' = max(m, S), P = exp(S - m'), l ← l e^(m-m') + ΣP,
// O ← O e^(m-m') + PV; at the end O/l, lse = m + log l.
//
// Adjoint, from the saved lse: P = exp(S - lse), dP = dO Vᵀ, dS = P(dP - D),
// dV += Pᵀ dO, dK += dSᵀ Q, dQ += dS K.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernels.h"
#include "TileProducts.h"

namespace isobath::runtime {

static constexpr float infinity = __builtin_huge_valf();

//===----------------------------------------------------------------------===//
// Copies in and out
//===----------------------------------------------------------------------===//

/// Rows of d elements, `pitch` apart, as f32 times `scale`: element (row,
/// column) goes to to[column/16 · panel + row · toRow + column%16], padded with
/// zeros to whole panels.
template <typename Element>
static void copyRows(Right to, const Element *from, int64_t pitch, int64_t rows,
                     int64_t d, float scale) {
  auto *data = const_cast<float *>(to.data);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < d; column += lanes)
      store(data + column / lanes * to.panel + row * to.row,
            loadPart(from + row * pitch + column, d - column) * scale);
}

typedef float Quad __attribute__((vector_size(16)));

ISOBATH_INLINE Quad loadQuad(const float *from) {
  Quad result;
  memcpy(&result, from, sizeof result);
  return result;
}
ISOBATH_INLINE Quad loadQuad(const Bfloat16 *from) {
  return Quad{toFloat(from[0]), toFloat(from[1]), toFloat(from[2]),
              toFloat(from[3])};
}

/// Rows as above, transposed: element (row, column) goes to
/// to[row/16 · 16d + column · 16 + row%16], padded to whole panels.
template <typename Element>
static void copyTransposed(float *to, const Element *from, int64_t pitch,
                           int64_t rows, int64_t d) {
  for (; rows > 0;
       rows -= panelWidth, from += panelWidth * pitch, to += panelWidth * d) {
    int64_t column = 0;
    for (; rows >= panelWidth && column + 4 <= d; column += 4)
      for (int64_t row = 0; row < panelWidth; row += 4) {
        const Element *corner = from + row * pitch + column;
        const Quad a = loadQuad(corner), b = loadQuad(corner + pitch),
                   c = loadQuad(corner + 2 * pitch),
                   e = loadQuad(corner + 3 * pitch);
        const Quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                   ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                   ce0 = __builtin_shufflevector(c, e, 0, 4, 1, 5),
                   ce2 = __builtin_shufflevector(c, e, 2, 6, 3, 7);
        const Quad columns[4] = {__builtin_shufflevector(ab0, ce0, 0, 1, 4, 5),
                                 __builtin_shufflevector(ab0, ce0, 2, 3, 6, 7),
                                 __builtin_shufflevector(ab2, ce2, 0, 1, 4, 5),
                                 __builtin_shufflevector(ab2, ce2, 2, 3, 6, 7)};
        for (int64_t i = 0; i < 4; ++i)
          memcpy(to + (column + i) * panelWidth + row, &columns[i],
                 sizeof(Quad));
      }
    for (; column < d; ++column)
      for (int64_t row = 0; row < panelWidth; ++row)
        to[column * panelWidth + row] =
            row < rows ? toFloat(from[row * pitch + column]) : 0.0f;
  }
}

/// Rows of d f32, `fromPitch` apart, times `scale`.
template <typename Element>
static void storeRows(Element *to, int64_t pitch, const float *from,
                      int64_t fromPitch, int64_t rows, int64_t d, float scale) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < d; column += lanes)
      storePart(to + row * pitch + column,
                load(from + row * fromPitch + column) * scale, d - column);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {
/// Where a K/V head of a sequence is, and which share of its work is meant.
struct Task {
  Task(const AttentionShape &shape, int64_t task)
      : shares(sharesPerHead(shape)), share(task % shares), head(task / shares),
        sequence(head / shape.K), keyHead(head % shape.K),
        keyPitch(shape.K * shape.d), queryPitch(shape.H * shape.d),
        keyOffset(sequence * shape.T * keyPitch + keyHead * shape.d) {}

  int64_t shares, share;
  int64_t head, sequence, keyHead; // head = sequence · K + keyHead
  int64_t keyPitch, queryPitch;    // elements between positions
  int64_t keyOffset;               // of the head's first position
};

/// A query head of the group and a block of its positions.
struct Item {
  Item(const AttentionShape &shape, const Task &task, int64_t item)
      : queryHead(task.keyHead * shape.groupHeads() +
                  item / queryBlocks(shape)),
        begin(item % queryBlocks(shape) * queryBlock),
        rows(shape.T - begin < queryBlock ? shape.T - begin : queryBlock),
        offset((task.sequence * shape.T + begin) * task.queryPitch +
               queryHead * shape.d),
        statistics((task.sequence * shape.T + begin) * shape.H + queryHead) {}

  int64_t queryHead;
  int64_t begin, rows; // positions begin … begin + rows - 1
  int64_t offset;      // of q's, o's, … element
  int64_t statistics;  // of lse's element; positions are H apart
};
} // namespace

template <typename Body>
ISOBATH_INLINE void forEachItem(const AttentionShape &shape, const Task &task,
                                Body &&body) {
  const int64_t items = shape.groupHeads() * queryBlocks(shape);
  for (int64_t item = task.share; item < items; item += task.shares)
    body(Item(shape, task, item));
}

/// Calls `body(key, block)` for the blocks of keys that an item sees.
template <typename Body>
ISOBATH_INLINE void forEachKeyBlock(const Item &item, int64_t keyBlock,
                                    Body &&body) {
  const int64_t end = item.begin + item.rows;
  for (int64_t key = 0; key < end; key += keyBlock)
    body(key,
         CausalBlock{item.rows, end - key < keyBlock ? end - key : keyBlock,
                     item.begin - key});
}

/// How many keys of the block a query sees.
ISOBATH_INLINE int64_t seenKeys(CausalBlock block, int64_t query) {
  const int64_t seen = query + block.shift + 1;
  return seen < block.keys ? seen : block.keys;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Turns a query's scores into exp(score - maximum), in the precision of their
/// product, and brings the maximum, the sum and the row of o up to date.
template <typename Element>
static void updateSoftmax(float *scores, int64_t keys, bool isFirst,
                          float &maximumSoFar, float &sumSoFar, float *row,
                          int64_t paddedD) {
  Vector most = splat(isFirst ? -infinity : maximumSoFar);
  for (int64_t key = 0; key < keys; key += lanes)
    most = maximum(select(keys - key, load(scores + key), -infinity), most);
  const float newMaximum = maximum(most);
  Vector total = {};
  for (int64_t key = 0; key < keys; key += lanes) {
    const Vector p = exponential(
        select(keys - key, load(scores + key) - newMaximum, -infinity));
    total += p;
    store(scores + key, roundTo<Element>(p));
  }
  if (isFirst) {
    sumSoFar = sum(total);
  } else {
    const Vector decay = exponential(splat(maximumSoFar - newMaximum));
    sumSoFar = sumSoFar * decay[0] + sum(total);
    for (int64_t column = 0; column < paddedD; column += lanes)
      store(row + column, load(row + column) * decay);
  }
  maximumSoFar = newMaximum;
}

template <typename Element>
static void runForward(const AttentionForward &arguments, int64_t number,
                       float *workspace) {
  const AttentionShape &shape = arguments.shape;
  const AttentionWorkspace plan = planForward(shape);
  const Task task(shape, number);
  const int64_t panels = plan.paddedD / panelWidth;
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(shape.d));
  const auto *q = static_cast<const Element *>(arguments.q);
  auto *o = static_cast<Element *>(arguments.o);
  float *keys = workspace + plan.keysTransposed;
  float *values = workspace + plan.values;
  float *queries = workspace + plan.queries;
  float *result = workspace + plan.result;
  float *scores = workspace + plan.scores;
  float *maxima = workspace + plan.statistic, *sums = maxima + queryBlock;
  const int64_t pitch = scorePitch(forwardKeyBlock);

  copyTransposed(keys,
                 static_cast<const Element *>(arguments.k) + task.keyOffset,
                 task.keyPitch, shape.T, shape.d);
  copyRows({values, panelWidth, shape.T * panelWidth},
           static_cast<const Element *>(arguments.v) + task.keyOffset,
           task.keyPitch, shape.T, shape.d, 1.0f);

  forEachItem(shape, task, [&](const Item &item) {
    copyRows({queries, plan.paddedD, panelWidth}, q + item.offset,
             task.queryPitch, item.rows, shape.d, scale);
    forEachKeyBlock(item, forwardKeyBlock, [&](int64_t key, CausalBlock block) {
      multiplyScores(block, shape.d, {queries, plan.paddedD},
                     {keys + key * shape.d, panelWidth, shape.d * panelWidth},
                     {scores, pitch, /*accumulate=*/false});
      for (int64_t row = 0; row < item.rows; ++row)
        updateSoftmax<Element>(scores + row * pitch, seenKeys(block, row),
                               /*isFirst=*/key == 0, maxima[row], sums[row],
                               result + row * plan.paddedD, plan.paddedD);
      multiplySeen(
          block, panels, {scores, pitch},
          {values + key * panelWidth, panelWidth, shape.T * panelWidth},
          {result, plan.paddedD, /*accumulate=*/key != 0});
    });
    for (int64_t row = 0; row < item.rows; ++row) {
      storeRows(o + item.offset + row * task.queryPitch, task.queryPitch,
                result + row * plan.paddedD, plan.paddedD, 1, shape.d,
                1.0f / sums[row]);
      arguments.lse[item.statistics + row * shape.H] =
          maxima[row] + __builtin_logf(sums[row]);
    }
  });
}

//===----------------------------------------------------------------------===//
// Adjoint
//===----------------------------------------------------------------------===//

/// D of the formula, for each row.
template <typename Element>
static void dotRows(float *dots, const Element *o, int64_t pitch,
                    const float *dOut, int64_t paddedD, int64_t rows,
                    int64_t d) {
  for (int64_t row = 0; row < rows; ++row) {
    Vector total = {};
    for (int64_t column = 0; column < d; column += lanes)
      total += loadPart(o + row * pitch + column, d - column) *
               load(dOut + row * paddedD + column);
    dots[row] = sum(total);
  }
}

/// S becomes P, in the precision of its product, and dP becomes dS. Lanes
/// beyond the last key hold anything: no product reads them.
template <typename Element>
static void differentiateSoftmax(float *scores, float *dScores, int64_t keys,
                                 float lse, float dot) {
  for (int64_t key = 0; key < keys; key += lanes) {
    const Vector p = exponential(load(scores + key) - lse);
    store(scores + key, roundTo<Element>(p));
    store(dScores + key, p * (load(dScores + key) - dot));
  }
}

/// dk and dv of a head, [T, paddedD] each, to where the task's part belongs.
template <typename Element>
static void storeKeyGradients(const AttentionAdjoint &arguments,
                              const Task &task, const float *dKeys,
                              const float *dValues, int64_t paddedD) {
  const AttentionShape &shape = arguments.shape;
  if (task.shares == 1) {
    storeRows(static_cast<Element *>(arguments.dk) + task.keyOffset,
              task.keyPitch, dKeys, paddedD, shape.T, shape.d, 1.0f);
    storeRows(static_cast<Element *>(arguments.dv) + task.keyOffset,
              task.keyPitch, dValues, paddedD, shape.T, shape.d, 1.0f);
    return;
  }
  const int64_t size = shape.T * shape.d;
  float *part =
      arguments.scratch + (task.head * task.shares + task.share) * 2 * size;
  storeRows(part, shape.d, dKeys, paddedD, shape.T, shape.d, 1.0f);
  storeRows(part + size, shape.d, dValues, paddedD, shape.T, shape.d, 1.0f);
}

template <typename Element>
static void runAdjoint(const AttentionAdjoint &arguments, int64_t number,
                       float *workspace) {
  const AttentionShape &shape = arguments.shape;
  const AttentionWorkspace plan = planAdjoint(shape);
  const Task task(shape, number);
  const int64_t panels = plan.paddedD / panelWidth;
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(shape.d));
  const auto *k = static_cast<const Element *>(arguments.k) + task.keyOffset;
  const auto *v = static_cast<const Element *>(arguments.v) + task.keyOffset;
  const auto *q = static_cast<const Element *>(arguments.q);
  const auto *o = static_cast<const Element *>(arguments.o);
  const auto *dOut = static_cast<const Element *>(arguments.dOut);
  auto *dq = static_cast<Element *>(arguments.dq);
  float *keysTransposed = workspace + plan.keysTransposed;
  float *valuesTransposed = workspace + plan.valuesTransposed;
  float *keys = workspace + plan.keys;
  float *dKeys = workspace + plan.dKeys, *dValues = workspace + plan.dValues;
  float *queries = workspace + plan.queries, *dRows = workspace + plan.dOut;
  float *result = workspace + plan.result;
  float *scores = workspace + plan.scores, *dScores = workspace + plan.dScores;
  float *dots = workspace + plan.statistic;
  const int64_t pitch = scorePitch(adjointKeyBlock);
  const int64_t transposedPanel = shape.d * panelWidth;

  copyTransposed(keysTransposed, k, task.keyPitch, shape.T, shape.d);
  copyTransposed(valuesTransposed, v, task.keyPitch, shape.T, shape.d);
  copyRows({keys, panelWidth, shape.T * panelWidth}, k, task.keyPitch, shape.T,
           shape.d, 1.0f);
  memset(dKeys, 0, shape.T * plan.paddedD * sizeof(float));
  memset(dValues, 0, shape.T * plan.paddedD * sizeof(float));

  forEachItem(shape, task, [&](const Item &item) {
    const Right queryRows = {queries, plan.paddedD, panelWidth};
    const Right outRows = {dRows, plan.paddedD, panelWidth};
    copyRows(queryRows, q + item.offset, task.queryPitch, item.rows, shape.d,
             scale);
    copyRows(outRows, dOut + item.offset, task.queryPitch, item.rows, shape.d,
             1.0f);
    dotRows(dots, o + item.offset, task.queryPitch, dRows, plan.paddedD,
            item.rows, shape.d);
    forEachKeyBlock(item, adjointKeyBlock, [&](int64_t key, CausalBlock block) {
      multiplyScores(
          block, shape.d, {queries, plan.paddedD},
          {keysTransposed + key * shape.d, panelWidth, transposedPanel},
          {scores, pitch, /*accumulate=*/false});
      multiplyScores(
          block, shape.d, {dRows, plan.paddedD},
          {valuesTransposed + key * shape.d, panelWidth, transposedPanel},
          {dScores, pitch, /*accumulate=*/false});
      for (int64_t row = 0; row < item.rows; ++row)
        differentiateSoftmax<Element>(
            scores + row * pitch, dScores + row * pitch, seenKeys(block, row),
            arguments.lse[item.statistics + row * shape.H], dots[row]);
      // The first position sees itself alone: its weight is 1 whatever the
      // score, so that nothing but rounding could come of it.
      if (item.begin == 0 && key == 0)
        dScores[0] *= 0; // a NaN stays one
      multiplySeeing(block, panels, {scores, pitch}, outRows,
                     {dValues + key * plan.paddedD, plan.paddedD, true});
      multiplySeeing(block, panels, {dScores, pitch}, queryRows,
                     {dKeys + key * plan.paddedD, plan.paddedD, true});
      multiplySeen(block, panels, {dScores, pitch},
                   {keys + key * panelWidth, panelWidth, shape.T * panelWidth},
                   {result, plan.paddedD, /*accumulate=*/key != 0});
    });
    storeRows(dq + item.offset, task.queryPitch, result, plan.paddedD,
              item.rows, shape.d, scale);
  });
  storeKeyGradients<Element>(arguments, task, dKeys, dValues, plan.paddedD);
}

template <typename Element>
static void addShares(const AttentionAdjoint &arguments, int64_t head) {
  const AttentionShape &shape = arguments.shape;
  const Task task(shape, head * sharesPerHead(shape));
  const int64_t size = shape.T * shape.d;
  const float *parts = arguments.scratch + head * task.shares * 2 * size;
  void *const gradients[] = {arguments.dk, arguments.dv};
  for (void *gradient : gradients) {
    auto *to = static_cast<Element *>(gradient) + task.keyOffset;
    for (int64_t position = 0; position < shape.T; ++position)
      for (int64_t column = 0; column < shape.d; column += lanes) {
        const int64_t count = shape.d - column;
        const float *from = parts + position * shape.d + column;
        Vector total = loadPart(from, count);
        for (int64_t share = 1; share < task.shares; ++share)
          total += loadPart(from + share * 2 * size, count);
        storePart(to + position * task.keyPitch + column, total, count);
      }
    parts += size;
  }
}

template <typename Element> static constexpr AttentionKernels makeKernels() {
  return {runForward<Element>, runAdjoint<Element>, addShares<Element>};
}

} // namespace isobath::runtime
