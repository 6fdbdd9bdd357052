//===- WarpClocks.h - What happens before what in a block -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks, one for each warp: clock(v, w) is how much of w's past v has
// synchronised with. Lanes of a warp share one, so a barrier of some of its
// lanes orders all of them, and a race between such lanes can be missed.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_WARPCLOCKS_H
#define ISOBATH_LIB_SIMULATOR_WARPCLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace isobath::simulator {

class WarpClocks {
public:
  /// A new block. All that the one before did is in the past of its warps.
  void startBlock(std::uint32_t count) {
    for (std::uint32_t clock : clocks)
      base = std::max(base, clock);
    ++base;
    warps = count;
    clocks.assign(warps * warps, base);
  }

  /// When an access of `warp` is made now.
  std::uint32_t now(std::uint32_t warp) const { return at(warp, warp); }

  /// Whether what `warp` did at `clock` is in the past of `viewer`.
  bool isOrdered(std::uint32_t viewer, std::uint32_t warp,
                 std::uint32_t clock) const {
    return at(viewer, warp) > clock;
  }

  /// A barrier that the warps of `arrived` come to, and those of `waiting` wait
  /// at for all of them. Bit w stands for warp w.
  void synchronize(std::uint32_t arrived, std::uint32_t waiting) {
    std::vector<std::uint32_t> joined(warps);
    for (std::uint32_t v = 0; v < warps; ++v)
      if (arrived >> v & 1) {
        for (std::uint32_t w = 0; w < warps; ++w)
          joined[w] = std::max(joined[w], at(v, w));
        // What it did so far is over: others see it as past.
        ++joined[v];
      }
    for (std::uint32_t v = 0; v < warps; ++v) {
      if (waiting >> v & 1)
        for (std::uint32_t w = 0; w < warps; ++w)
          clocks[v * warps + w] = std::max(at(v, w), joined[w]);
      else if (arrived >> v & 1)
        clocks[v * warps + v] = joined[v];
    }
  }

private:
  std::uint32_t at(std::uint32_t v, std::uint32_t w) const {
    return clocks[v * warps + w];
  }

  std::uint32_t warps = 0;
  std::uint32_t base = 0;
  std::vector<std::uint32_t> clocks;
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_WARPCLOCKS_H
