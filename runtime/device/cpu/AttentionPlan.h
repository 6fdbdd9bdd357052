//===- AttentionPlan.h - How attention is divided -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of blocks, tasks, workspace and scratch. All of them follow from the
// sizes of the tensors alone, so that neither the results nor the compiler's
// plan of memory depends on the machine. Everything is static, for the reason
// in bfloat16.h.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DEVICE_CPU_ATTENTIONPLAN_H
#define ISOBATH_DEVICE_CPU_ATTENTIONPLAN_H

#include <stdint.h>

namespace isobath::runtime {

/// Sizes, in the letters of cpu_library.h.
struct AttentionShape {
  int64_t B, T, H, K, d;

  int64_t groupHeads() const { return H / K; } // query heads of a group
};

/// Matrices are cut into panels of this many columns, whatever the vectors of
/// the machine.
static constexpr int64_t panelWidth = 16;

/// Positions in a block of queries. Those of a block of keys are a multiple, so
/// that the diagonal passes through no block of keys but a query block's last.
static constexpr int64_t queryBlock = 64;
static constexpr int64_t forwardKeyBlock = 256;
static constexpr int64_t adjointKeyBlock = 128;

static inline int64_t roundUpTo(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static inline int64_t queryBlocks(const AttentionShape &shape) {
  return (shape.T + queryBlock - 1) / queryBlock;
}

/// A task is one share of the work of one K/V head of one sequence. That work
/// is a list of items, each a query head of the group and a block of queries;
/// share s of n takes items s, s + n, …: as many late blocks, which see many
/// keys, as early ones. Each share copies the whole head, so it has a few items
/// to do with it.
static inline int64_t sharesPerHead(const AttentionShape &shape) {
  const int64_t enoughTasks = 32, leastItems = 4;
  const int64_t heads = shape.B * shape.K;
  const int64_t items = shape.groupHeads() * queryBlocks(shape);
  const int64_t wanted = (enoughTasks + heads - 1) / heads;
  const int64_t most = (items + leastItems - 1) / leastItems;
  return wanted < most ? wanted : most;
}

static inline int64_t attentionTasks(const AttentionShape &shape) {
  return shape.B * shape.K * sharesPerHead(shape);
}

/// Floats between rows of a block of scores: not a multiple of the distance at
/// which addresses compete for one place in a cache.
static inline int64_t scorePitch(int64_t keyBlock) {
  return keyBlock + panelWidth;
}

/// The memory of one task, in floats; each part is a multiple of 16 of them.
struct AttentionWorkspace {
  int64_t paddedT, paddedD; // rounded up to whole panels

  // Of the K/V head.
  int64_t keysTransposed; // panels of 16 positions, [paddedT/16, d, 16]
  int64_t values;         // forward: panels of 16 columns, [paddedD/16, T, 16]
  int64_t keys;           // adjoint: the same of k
  int64_t valuesTransposed; // adjoint: as keysTransposed, of v
  int64_t dKeys, dValues;   // adjoint: [T, paddedD]

  // Of a block of queries.
  int64_t queries;   // times 1/√d, [64, paddedD]
  int64_t dOut;      // adjoint: [64, paddedD]
  int64_t result;    // o or dq, [64, paddedD]
  int64_t scores;    // [64, scorePitch]
  int64_t dScores;   // adjoint: the same
  int64_t statistic; // forward: maxima and sums, adjoint: lse and D; [2, 64]

  int64_t floats; // in all
};

static inline AttentionWorkspace planForward(const AttentionShape &shape) {
  AttentionWorkspace plan = {};
  plan.paddedT = roundUpTo(shape.T, panelWidth);
  plan.paddedD = roundUpTo(shape.d, panelWidth);
  const int64_t rows = queryBlock * plan.paddedD;
  plan.values = plan.keysTransposed + plan.paddedT * shape.d;
  plan.queries = plan.values + shape.T * plan.paddedD;
  plan.result = plan.queries + rows;
  plan.scores = plan.result + rows;
  plan.statistic = plan.scores + queryBlock * scorePitch(forwardKeyBlock);
  plan.floats = plan.statistic + 2 * queryBlock;
  return plan;
}

static inline AttentionWorkspace planAdjoint(const AttentionShape &shape) {
  AttentionWorkspace plan = {};
  plan.paddedT = roundUpTo(shape.T, panelWidth);
  plan.paddedD = roundUpTo(shape.d, panelWidth);
  const int64_t rows = queryBlock * plan.paddedD;
  const int64_t scores = queryBlock * scorePitch(adjointKeyBlock);
  plan.valuesTransposed = plan.keysTransposed + plan.paddedT * shape.d;
  plan.keys = plan.valuesTransposed + plan.paddedT * shape.d;
  plan.dKeys = plan.keys + shape.T * plan.paddedD;
  plan.dValues = plan.dKeys + shape.T * plan.paddedD;
  plan.queries = plan.dValues + shape.T * plan.paddedD;
  plan.dOut = plan.queries + rows;
  plan.result = plan.dOut + rows;
  plan.scores = plan.result + rows;
  plan.dScores = plan.scores + scores;
  plan.statistic = plan.dScores + scores;
  plan.floats = plan.statistic + 2 * queryBlock;
  return plan;
}

/// Where a head's work is shared, each share leaves its part of dk and dv in
/// scratch, [B·K, shares, 2, T, d] in f32. A head with one share needs none.
static inline int64_t adjointScratchFloats(const AttentionShape &shape) {
  const int64_t shares = sharesPerHead(shape);
  return shares == 1 ? 0 : shape.B * shape.K * shares * 2 * shape.T * shape.d;
}

} // namespace isobath::runtime

#endif // ISOBATH_DEVICE_CPU_ATTENTIONPLAN_H
