//===- RoutesTest.cpp - Which depths a model's routes read ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Averages of the made-up routes of the bigram model: at token t the first
// depth head of the group qk reads (t/6, 1 − t/6), the second mirrors it, and
// the group v reads (1, 0).
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/routes.h"

#include "BigramUnit.h"
#include "TestFiles.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
class RoutesTest : public testing::Test {
protected:
  RoutesReport report(const std::vector<std::uint32_t> &ids) {
    writeShard(folder / "valid_0.bin", ids, BigramUnit::vocabulary);
    const auto unit = bigram.load();
    Buffers buffers;
    const RoutesReporter reporter(*unit, buffers);
    buffers.allocate();
    return reporter.report(
        EvaluationData(openShards(findEvaluationShards(folder / "valid_0.bin"),
                                  BigramUnit::vocabulary),
                       BigramUnit::context));
  }
  TemporaryFolder folder;
  BigramUnit bigram;
};
} // namespace

static double entropyOf(double p) {
  return -(p * std::log(p) + (1 - p) * std::log(1 - p));
}

TEST_F(RoutesTest, MeansOverTokensAndHeads) {
  // The inputs are 2 and 0; padding has the token 0 and must not count.
  const RoutesReport result = report({2, 0, 5});
  EXPECT_EQ(result.tokens, 2u);
  ASSERT_EQ(result.sites.size(), 3u);
  const SiteRoutes &matching = result.sites[0], &content = result.sites[1];
  EXPECT_EQ(matching.name, "layers.0.attn");
  EXPECT_EQ(matching.group, "qk");
  EXPECT_EQ(matching.sources, (Names{"embedding", "partial"}));
  EXPECT_NEAR(matching.weights[0], 0.5, 1e-7);
  EXPECT_NEAR(matching.weights[1], 0.5, 1e-7);
  // At token 0 the weights are (0, 1): 0 · log 0 is 0.
  EXPECT_NEAR(matching.entropy, entropyOf(1.0 / 3) / 2, 1e-7);
  EXPECT_EQ(content.group, "v");
  EXPECT_EQ(content.weights, (std::vector<double>{1, 0}));
  EXPECT_EQ(content.entropy, 0);
  EXPECT_EQ(result.sites[2].name, "layers.0.mlp");
  EXPECT_NEAR(result.sites[2].weights[2], 1.0 / 3, 1e-7);
  EXPECT_NEAR(result.sites[2].entropy, std::log(3), 1e-6);
}

TEST_F(RoutesTest, DivergenceOfMatchingAndContent) {
  const RoutesReport result = report({2, 0, 5});
  ASSERT_EQ(result.divergences.size(), 1u);
  EXPECT_EQ(result.divergences[0].layer, 0u);
  // JS of (p, 1 − p) and (1, 0), with the middle (m, 1 − m).
  const auto js = [](double p) {
    const double m = (1 + p) / 2;
    return entropyOf(m) - (p > 0 && p < 1 ? entropyOf(p) / 2 : 0);
  };
  const double one = 0; // of equal distributions
  EXPECT_NEAR(result.divergences[0].value,
              (js(1.0 / 3) + js(2.0 / 3) + js(0) + one) / 4, 1e-7);
}

TEST_F(RoutesTest, GroupsMayComeFromSeveralBuffersOfASite) {
  // The code fills [2, B, T, 2, 2] as before; the second site's buffer is
  // declared as a distribution of the first site, with the group v.
  auto &list = bigram.manifest["entries"][5]["buffers"];
  list[2]["groups"] = {"q", "k"};
  list[3]["name"] = "layers.0.attn";
  list[3]["groups"] = {"v"};
  EXPECT_EQ(messageOf([&] { report({2, 0, 5}); }),
            "manifest: entry routes: buffers of the site layers.0.attn: given "
            "[2, 2, 4, 2, 2] and [1, 2, 4, 1, 3], expected the same sizes "
            "behind the first, or one depth head beside several");
  list[3]["shape"] = {1, 2, 4, 2, 2};
  list[3]["bytes"] = 128;
  list[3]["sources"] = {"embedding", "partial"};
  const RoutesReport result = report({2, 0, 5});
  ASSERT_EQ(result.divergences.size(), 1u);
  EXPECT_EQ(result.sites[2].group, "v");
}

TEST_F(RoutesTest, OneGroupHasNoDivergence) {
  auto &site = bigram.manifest["entries"][5]["buffers"][2];
  site["name"] = "final";
  EXPECT_TRUE(report({2, 0, 5}).divergences.empty());
  site["name"] = "layers.0.attn";
  site["groups"] = {"qkv", "other"};
  EXPECT_TRUE(report({2, 0, 5}).divergences.empty());
}

TEST_F(RoutesTest, ModelWithoutRoutesIsRefused) {
  auto &list = bigram.manifest["entries"][5]["buffers"];
  list.erase(3);
  list.erase(2);
  EXPECT_EQ(messageOf([&] { report({2, 0, 5}); }),
            "model bigram: given residual kind standard, which has no routes "
            "to report, expected full or block");
}

TEST_F(RoutesTest, JsonHasTheDocumentedKeys) {
  const nlohmann::ordered_json object = toJson(report({2, 0, 5}));
  EXPECT_EQ(
      object["sites"][1].dump(),
      "{\"name\":\"layers.0.attn\",\"group\":\"v\",\"sources\":"
      "[\"embedding\",\"partial\"],\"weights\":[1.0,0.0],\"entropy\":0.0}");
  EXPECT_EQ(object["js"][0]["layer"], 0);
  EXPECT_TRUE(object["js"][0]["value"].is_number_float());
  EXPECT_EQ(object["tokens"], 2);
}

TEST_F(RoutesTest, TableShowsEverySite) {
  std::ostringstream table;
  printTable(report({2, 0, 5}), table);
  EXPECT_EQ(table.str(),
            "depth weights, mean over 2 tokens\n"
            "site           group     entropy  weights\n"
            "layers.0.attn  qk        0.3183   embedding 0.5000  partial "
            "0.5000\n"
            "layers.0.attn  v         0.0000   embedding 1.0000  partial "
            "0.0000\n"
            "layers.0.mlp   mlp       1.0986   embedding 0.3333  block 0 "
            "0.3333  partial 0.3333\n"
            "\n"
            "Jensen-Shannon divergence between the group with q and the group "
            "with v, in nats\n"
            "layers.0.attn  0.2859\n");
}
