//===- DepthPlan.cpp - Which sources every route of a model reads ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over the sublayers that counts how many the open block holds.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/DepthPlan.h"

using namespace isobath;

std::vector<std::string> DepthSite::sourceNames() const {
  std::vector<std::string> names = {"embedding"};
  for (int64_t block = 0; block + 1 < closedSources; ++block)
    names.push_back("block " + std::to_string(block));
  if (readsPartial)
    names.push_back("partial");
  return names;
}

DepthPlan isobath::planDepth(const ModelSection &model) {
  DepthPlan plan;
  if (model.residual.kind == ResidualKind::standard)
    return plan;
  int64_t blockSize =
      model.residual.kind == ResidualKind::full ? 1 : model.residual.block;

  int64_t closedSources = 1; // the embedding output
  bool open = false;         // whether the partial holds anything
  for (int64_t sublayer = 0; sublayer < 2 * model.layers; ++sublayer) {
    std::string name = "layers." + std::to_string(sublayer / 2) +
                       (sublayer % 2 == 0 ? ".attn" : ".mlp");
    plan.sites.push_back({name, closedSources, open});

    if (!open)
      plan.blocks.push_back({{}, /*closed=*/false});
    DepthBlock &block = plan.blocks.back();
    block.sublayers.push_back(name);
    block.closed = static_cast<int64_t>(block.sublayers.size()) == blockSize;
    closedSources += block.closed;
    open = !block.closed;
  }
  plan.sites.push_back({"final", closedSources, open});
  return plan;
}
