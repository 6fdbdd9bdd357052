//===- DepthPlanTest.cpp - Which sources every route reads ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/DepthPlan.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace isobath;

static DepthPlan plan(ResidualKind kind, int64_t layers, int64_t block) {
  ModelSection model;
  model.layers = layers;
  model.residual.kind = kind;
  model.residual.block = block;
  return planDepth(model);
}

/// One line a site and a block, as a reader would write them.
static std::vector<std::string> describe(const DepthPlan &plan) {
  std::vector<std::string> lines;
  for (const DepthSite &site : plan.sites) {
    lines.push_back(site.name + ": " + llvm::join(site.sourceNames(), ", "));
    EXPECT_EQ(site.sources(), static_cast<int64_t>(site.sourceNames().size()));
  }
  for (const DepthBlock &block : plan.blocks)
    lines.push_back((block.closed ? "closed: " : "open: ") +
                    llvm::join(block.sublayers, ", "));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(DepthPlan, StandardHasNoSites) {
  EXPECT_EQ(describe(plan(ResidualKind::standard, 3, 4)), Lines{});
}

TEST(DepthPlan, FullClosesEverySublayer) {
  Lines expected = {
      "layers.0.attn: embedding",
      "layers.0.mlp: embedding, block 0",
      "final: embedding, block 0, block 1",
      "closed: layers.0.attn",
      "closed: layers.0.mlp",
  };
  EXPECT_EQ(describe(plan(ResidualKind::full, 1, 4)), expected);
  EXPECT_EQ(describe(plan(ResidualKind::block, 1, 1)), expected);
}

TEST(DepthPlan, TheLastBlockMayBeShort) {
  Lines expected = {
      "layers.0.attn: embedding",
      "layers.0.mlp: embedding, partial",
      "layers.1.attn: embedding, partial",
      "layers.1.mlp: embedding, block 0",
      "final: embedding, block 0, partial",
      "closed: layers.0.attn, layers.0.mlp, layers.1.attn",
      "open: layers.1.mlp",
  };
  EXPECT_EQ(describe(plan(ResidualKind::block, 2, 3)), expected);
}

TEST(DepthPlan, ABlockThatDividesLeavesNoPartial) {
  Lines expected = {
      "layers.0.attn: embedding",
      "layers.0.mlp: embedding, partial",
      "layers.1.attn: embedding, block 0",
      "layers.1.mlp: embedding, block 0, partial",
      "final: embedding, block 0, block 1",
      "closed: layers.0.attn, layers.0.mlp",
      "closed: layers.1.attn, layers.1.mlp",
  };
  EXPECT_EQ(describe(plan(ResidualKind::block, 2, 2)), expected);
}

TEST(DepthPlan, ABlockMayBeLongerThanTheModel) {
  Lines expected = {
      "layers.0.attn: embedding",
      "layers.0.mlp: embedding, partial",
      "final: embedding, partial",
      "open: layers.0.attn, layers.0.mlp",
  };
  EXPECT_EQ(describe(plan(ResidualKind::block, 1, 100)), expected);
  EXPECT_EQ(describe(plan(ResidualKind::block, 1, INT64_MAX)), expected);
}

TEST(DepthPlan, ThirtyFiveSources) {
  DepthPlan deep = plan(ResidualKind::full, 17, 1);
  EXPECT_EQ(deep.sites.size(), 35u);
  EXPECT_EQ(deep.sites.back().sources(), 35);
}
