//===- TileProducts.h - Small matrix products -----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C (+)= A·B where B is in panels of 16 columns and C in tiles that stay in
// registers: some rows of A times one or two panels. Every element of C is one
// sum over the depth in ascending order, so the sizes of tiles change no bits.
//
// Included once a source, after the sizes of its tiles: ISOBATH_TILE_ROWS and
// ISOBATH_TILE_PANELS. Everything is static, for the reason in bfloat16.h.
//
//===----------------------------------------------------------------------===//

#include "AttentionPlan.h"
#include "Vectors.h"

namespace isobath::runtime {

static constexpr int64_t tileRows = ISOBATH_TILE_ROWS;
static constexpr int64_t tilePanels = ISOBATH_TILE_PANELS;

namespace {
/// Element (row, k) is data[row · pitch + k], or data[k · pitch + row].
struct Left {
  const float *data;
  int64_t pitch;
};

/// Element (k, column) is data[column/16 · panel + k · row + column%16].
struct Right {
  const float *data;
  int64_t row, panel;
};

/// Element (row, column) is data[row · pitch + column].
struct Target {
  float *data;
  int64_t pitch;
  bool accumulate; // else what it holds is overwritten
};

/// Which elements of A take part: all, or those that causality allows.
///   upTo   element (row, k) for k ≤ row + depth - 1: `depth` is that of row 0
///   from   element (row, k) for k ≥ row
enum class Part { all, upTo, from };
} // namespace

template <int Rows, int Panels, bool IsTransposed, Part Allowed>
static void multiplyTile(Left a, Right b, Target c, int64_t depth) {
  Vector sums[Rows][Panels];
  if (c.accumulate) {
    for (int row = 0; row < Rows; ++row)
      for (int panel = 0; panel < Panels; ++panel)
        sums[row][panel] = load(c.data + row * c.pitch + panel * panelWidth);
  } else {
    for (int row = 0; row < Rows; ++row)
      for (int panel = 0; panel < Panels; ++panel)
        sums[row][panel] = Vector{};
  }
  const auto step = [&](int64_t k, int begin,
                        int end) __attribute__((always_inline)) {
    Vector right[Panels];
    for (int panel = 0; panel < Panels; ++panel)
      right[panel] = load(b.data + k * b.row + panel * b.panel);
    for (int row = begin; row < end; ++row) {
      const Vector left = splat(IsTransposed ? a.data[k * a.pitch + row]
                                             : a.data[row * a.pitch + k]);
      for (int panel = 0; panel < Panels; ++panel)
        sums[row][panel] += left * right[panel];
    }
  };
  int64_t k = 0;
  if (Allowed == Part::from)
#pragma clang loop unroll(full)
    for (int first = 0; first < Rows - 1; ++first)
      step(k++, 0, first + 1);
  for (; k < depth; ++k)
    step(k, 0, Rows);
  if (Allowed == Part::upTo)
#pragma clang loop unroll(full)
    for (int first = 1; first < Rows; ++first)
      step(k++, first, Rows);
  for (int row = 0; row < Rows; ++row)
    for (int panel = 0; panel < Panels; ++panel)
      store(c.data + row * c.pitch + panel * panelWidth, sums[row][panel]);
}

/// The rows of the next tile, where `remaining` are left.
static inline int64_t nextTileRows(int64_t remaining) {
  if (remaining >= tileRows)
    return tileRows;
  int64_t rows = 8;
  while (rows > remaining || rows > tileRows)
    rows /= 2;
  return rows;
}

template <int Panels, bool IsTransposed, Part Allowed>
static void multiplyRows(int64_t rows, Left a, Right b, Target c,
                         int64_t depth) {
  if (rows == tileRows)
    return multiplyTile<tileRows, Panels, IsTransposed, Allowed>(a, b, c,
                                                                 depth);
  if constexpr (tileRows > 8)
    if (rows == 8)
      return multiplyTile<8, Panels, IsTransposed, Allowed>(a, b, c, depth);
  if constexpr (tileRows > 4)
    if (rows == 4)
      return multiplyTile<4, Panels, IsTransposed, Allowed>(a, b, c, depth);
  if constexpr (tileRows > 2)
    if (rows == 2)
      return multiplyTile<2, Panels, IsTransposed, Allowed>(a, b, c, depth);
  return multiplyTile<1, Panels, IsTransposed, Allowed>(a, b, c, depth);
}

/// Calls `body(constant, panel)` for groups of panels, with the number of
/// panels in the group as the type of `constant`.
template <int Value> struct Constant {};
template <typename Body>
ISOBATH_INLINE void forEachPanels(int64_t count, Body &&body) {
  int64_t panel = 0;
  for (; panel + tilePanels <= count; panel += tilePanels)
    body(Constant<tilePanels>{}, panel);
  if constexpr (tilePanels > 1)
    for (; panel < count; ++panel)
      body(Constant<1>{}, panel);
}

/// Calls `body(row, rows)` for tiles.
template <typename Body>
ISOBATH_INLINE void forEachTile(int64_t rows, Body &&body) {
  for (int64_t row = 0, step; row < rows; row += step) {
    step = nextTileRows(rows - row);
    body(row, step);
  }
}

/// A block of queries and a block of keys. Query i sees key j if j ≤ i + shift.
struct CausalBlock {
  int64_t queries; // at most queryBlock
  int64_t keys;    // that any of them sees
  int64_t shift;   // a multiple of queryBlock
};

/// c [queries, keys] = a [queries, depth] · b [depth, keys], of which only the
/// pairs that causality allows mean anything.
static void multiplyScores(CausalBlock block, int64_t depth, Left a, Right b,
                           Target c) {
  const int64_t panels = (block.keys + panelWidth - 1) / panelWidth;
  forEachPanels(panels, [&]<int Count>(Constant<Count>, int64_t panel) {
    const Right right = {b.data + panel * b.panel, b.row, b.panel};
    forEachTile(block.queries, [&](int64_t row, int64_t rows) {
      if (panel * panelWidth > row + rows - 1 + block.shift)
        return; // none of them sees these keys
      multiplyRows<Count, false, Part::all>(
          rows, {a.data + row * a.pitch, a.pitch}, right,
          {c.data + row * c.pitch + panel * panelWidth, c.pitch, c.accumulate},
          depth);
    });
  });
}

/// c [queries, 16·panels] (+)= a [queries, keys] · b [keys, 16·panels], each
/// query's sum over the keys that it sees.
static void multiplySeen(CausalBlock block, int64_t panels, Left a, Right b,
                         Target c) {
  forEachPanels(panels, [&]<int Count>(Constant<Count>, int64_t panel) {
    const Right right = {b.data + panel * b.panel, b.row, b.panel};
    forEachTile(block.queries, [&](int64_t row, int64_t rows) {
      const Left left = {a.data + row * a.pitch, a.pitch};
      const Target target = {c.data + row * c.pitch + panel * panelWidth,
                             c.pitch, c.accumulate};
      const int64_t seenByFirst = row + block.shift + 1;
      if (seenByFirst >= block.keys)
        multiplyRows<Count, false, Part::all>(rows, left, right, target,
                                              block.keys);
      else
        multiplyRows<Count, false, Part::upTo>(rows, left, right, target,
                                               seenByFirst);
    });
  });
}

/// c [keys, 16·panels] += aᵀ [keys, queries] · b [queries, 16·panels], each
/// key's sum over the queries that see it.
static void multiplySeeing(CausalBlock block, int64_t panels, Left a, Right b,
                           Target c) {
  forEachPanels(panels, [&]<int Count>(Constant<Count>, int64_t panel) {
    const Right right = {b.data + panel * b.panel, b.row, b.panel};
    // Tiles start anew where the diagonal may: it passes through whole tiles.
    for (int64_t begin = 0; begin < block.keys; begin += queryBlock) {
      const int64_t left = block.keys - begin;
      forEachTile(left < queryBlock ? left : queryBlock, [&](int64_t offset,
                                                             int64_t rows) {
        const int64_t key = begin + offset;
        const Target target = {c.data + key * c.pitch + panel * panelWidth,
                               c.pitch, c.accumulate};
        const int64_t first = key - block.shift; // query that sees `key`
        if (first < 0)
          multiplyRows<Count, true, Part::all>(rows, {a.data + key, a.pitch},
                                               right, target, block.queries);
        else
          multiplyRows<Count, true, Part::from>(
              rows, {a.data + first * a.pitch + key, a.pitch},
              {right.data + first * right.row, right.row, right.panel}, target,
              block.queries - first);
      });
    }
  });
}

} // namespace isobath::runtime
