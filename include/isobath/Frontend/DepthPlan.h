//===- DepthPlan.h - Which sources every route of a model reads -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When blocks are closed, and therefore what stands in the list of sources at
// each site. It is a function of the residual settings and the number of layers
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_DEPTHPLAN_H
#define ISOBATH_FRONTEND_DEPTHPLAN_H

#include "isobath/Frontend/ModelDescription.h"
#include <string>
#include <vector>

namespace isobath {

/// A place where a route stands.
struct DepthSite {
  /// `layers.{l}.attn`, `layers.{l}.mlp` or `final`.
  std::string name;
  /// Closed sources that are read: the embedding output, then whole blocks.
  int64_t closedSources = 1;
  /// Whether the sum of the open block is read after them.
  bool readsPartial = false;

  /// How many sources are read.
  int64_t sources() const { return closedSources + readsPartial; }

  /// The names of the sources in the order in which they are read:
  /// `embedding`, `block 0`, `block 1`, …, `partial`.
  std::vector<std::string> sourceNames() const;
};

/// A sum of consecutive sublayer outputs.
struct DepthBlock {
  /// Names of the sublayers, as those of their sites.
  std::vector<std::string> sublayers;
  /// Whether the block reached its full size. The last one may not: routes
  /// read it as `partial` to the end.
  bool closed = true;
};

/// All sites in the order in which they run, and all blocks. Both are empty for
/// the residual kind standard.
struct DepthPlan {
  std::vector<DepthSite> sites;
  std::vector<DepthBlock> blocks;
};

/// Plans the routes of `model`.
DepthPlan planDepth(const ModelSection &model);

} // namespace isobath

#endif // ISOBATH_FRONTEND_DEPTHPLAN_H
