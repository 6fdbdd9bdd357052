//===- Routes.cpp - Which depths a model's routes read --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums in double, positions in their order. Sites, groups and sources are what
// the manifest says; only the names of attention sites are understood here, to
// find the two groups whose divergence is asked for.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/routes.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <optional>

namespace isobath::runtime {

namespace {

/// One group of one distribution buffer.
struct Group {
  std::string buffer;            // its name among the buffers
  const Buffer *shape = nullptr; // [groups, B, T, depth heads, sources]
  std::size_t index = 0;         // along the first axis

  std::uint64_t heads() const { return shape->shape[3]; }
  std::uint64_t sources() const { return shape->shape[4]; }
  const std::string &name() const { return shape->groups[index]; }

  /// The distribution of one position, 0 … B·T − 1, and depth head. A fixed
  /// route has one for all heads.
  template <typename Real>
  std::span<const Real> distribution(const Buffers &buffers,
                                     std::uint64_t position,
                                     std::uint64_t head) const {
    const std::uint64_t positions = shape->shape[1] * shape->shape[2];
    const std::uint64_t row =
        (index * positions + position) * heads() + (heads() > 1 ? head : 0);
    return buffers.read<Real>(buffer).subspan(row * sources(), sources());
  }
};

/// The group with q and the group with v of one layer.
struct Pair {
  std::uint64_t layer;
  Group matching, content;

  std::uint64_t heads() const {
    return std::max(matching.heads(), content.heads());
  }
};

} // namespace

static std::vector<Group> groupsOf(const EntrySignature &entry) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < entry.buffers.size(); ++i)
    if (entry.buffers[i].isDistribution)
      for (std::size_t g = 0; g < entry.buffers[i].groups.size(); ++g)
        groups.push_back({distributionName(entry, i), &entry.buffers[i], g});
  return groups;
}

/// l of `layers.{l}.attn`.
static std::optional<std::uint64_t> attentionLayer(std::string_view site) {
  constexpr std::string_view prefix = "layers.", suffix = ".attn";
  if (!site.starts_with(prefix) || !site.ends_with(suffix))
    return std::nullopt;
  site.remove_prefix(prefix.size());
  site.remove_suffix(suffix.size());
  std::uint64_t layer = 0;
  const char *end = site.data() + site.size();
  const auto [stop, failure] = std::from_chars(site.data(), end, layer);
  if (failure != std::errc() || stop != end)
    return std::nullopt;
  return layer;
}

/// Whether two distributions of one site can be compared element by element,
/// one for all heads with that of each head.
static bool comparable(const Group &first, const Group &second) {
  const auto &a = first.shape->shape, &b = second.shape->shape;
  return a[1] == b[1] && a[2] == b[2] && first.sources() == second.sources() &&
         (first.heads() == second.heads() || first.heads() == 1 ||
          second.heads() == 1);
}

static std::vector<Pair> pairsOf(const std::vector<Group> &groups) {
  const auto has = [](const Group &group, char role) {
    return group.name().find(role) != std::string::npos;
  };
  std::vector<Pair> pairs;
  for (const Group &matching : groups) {
    const auto layer = attentionLayer(matching.shape->name);
    if (!layer || !has(matching, 'q') || has(matching, 'v'))
      continue;
    for (const Group &content : groups) {
      if (content.shape->name != matching.shape->name || !has(content, 'v'))
        continue;
      if (!comparable(matching, content))
        fail("manifest: entry routes: buffers of the site ",
             matching.shape->name, ": given ", describe(matching.shape->shape),
             " and ", describe(content.shape->shape),
             ", expected the same sizes behind the first, or one depth head "
             "beside several");
      pairs.push_back({*layer, matching, content});
    }
  }
  return pairs;
}

/// x ln x, continued to 0.
static double xLogX(double x) { return x > 0 ? x * std::log(x) : 0; }

template <typename Real>
static void addDistribution(std::span<const Real> distribution,
                            SiteRoutes &site) {
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    const double weight = static_cast<double>(distribution[i]);
    site.weights[i] += weight;
    site.entropy -= xLogX(weight);
  }
}

/// JS(p, q) = (KL(p ‖ m) + KL(q ‖ m)) / 2 with m = (p + q) / 2.
template <typename Real>
static double divergence(std::span<const Real> first,
                         std::span<const Real> second) {
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double p = static_cast<double>(first[i]);
    const double q = static_cast<double>(second[i]);
    sum += (xLogX(p) + xLogX(q)) / 2 - xLogX((p + q) / 2);
  }
  return std::max(sum, 0.0); // equal distributions may round below 0
}

/// Adds what one call returned for one position.
template <typename Real>
static void addPosition(const Buffers &buffers, std::uint64_t position,
                        const std::vector<Group> &groups,
                        const std::vector<Pair> &pairs, RoutesReport &report) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::uint64_t head = 0; head < groups[i].heads(); ++head)
      addDistribution(groups[i].distribution<Real>(buffers, position, head),
                      report.sites[i]);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::uint64_t head = 0; head < pairs[i].heads(); ++head)
      report.divergences[i].value += divergence(
          pairs[i].matching.distribution<Real>(buffers, position, head),
          pairs[i].content.distribution<Real>(buffers, position, head));
}

/// Turns sums over tokens and depth heads into means.
static void divide(const std::vector<Group> &groups,
                   const std::vector<Pair> &pairs, RoutesReport &report) {
  const double tokens = static_cast<double>(report.tokens);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double count = tokens * static_cast<double>(groups[i].heads());
    report.sites[i].entropy /= count;
    for (double &weight : report.sites[i].weights)
      weight /= count;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    report.divergences[i].value /=
        tokens * static_cast<double>(pairs[i].heads());
}

RoutesReporter::RoutesReporter(const Unit &unit, Buffers &buffers)
    : unit(unit), buffers(buffers), routes(buffers.plan(unit.entry("routes"))) {
  if (groupsOf(routes.signature()).empty())
    fail("model ", printable(unit.manifest().name),
         ": given residual kind standard, which has no routes to report, "
         "expected full or block");
}

RoutesReport RoutesReporter::report(const EvaluationData &data) const {
  const std::vector<Group> groups = groupsOf(routes.signature());
  const std::vector<Pair> pairs = pairsOf(groups);
  RoutesReport report;
  for (const Group &group : groups)
    report.sites.push_back({group.shape->name, group.name(),
                            group.shape->sources,
                            std::vector<double>(group.sources()), 0});
  for (const Pair &pair : pairs)
    report.divergences.push_back({pair.layer, 0});

  const std::uint64_t batch = routes.signature().batch;
  std::vector<std::int32_t> targets(batch * unit.manifest().context);
  for (std::uint64_t i = 0; i < data.batches(batch); ++i) {
    report.tokens += data.fill(
        i, buffers.write<std::int32_t>("tokens").first(targets.size()),
        targets);
    routes.run();
    withElementType(unit.manifest().elementType, [&](auto zero) {
      for (std::size_t position = 0; position < targets.size(); ++position)
        if (targets[position] != ignoredTarget)
          addPosition<decltype(zero)>(buffers, position, groups, pairs, report);
    });
  }
  divide(groups, pairs, report);
  return report;
}

nlohmann::ordered_json toJson(const RoutesReport &report) {
  using nlohmann::ordered_json;
  ordered_json sites = ordered_json::array();
  for (const SiteRoutes &site : report.sites)
    sites.push_back({{"name", site.name},
                     {"group", site.group},
                     {"sources", site.sources},
                     {"weights", site.weights},
                     {"entropy", site.entropy}});
  ordered_json divergences = ordered_json::array();
  for (const LayerDivergence &divergence : report.divergences)
    divergences.push_back(
        {{"layer", divergence.layer}, {"value", divergence.value}});
  return {{"sites", sites}, {"js", divergences}, {"tokens", report.tokens}};
}

void printTable(const RoutesReport &report, std::ostream &output) {
  std::size_t width = 4;
  for (const SiteRoutes &site : report.sites)
    width = std::max(width, site.name.size());
  const auto column = static_cast<int>(width) + 2;
  output << std::fixed << std::setprecision(4) << std::left;
  output << "depth weights, mean over " << report.tokens << " tokens\n"
         << std::setw(column) << "site"
         << "group     entropy  weights\n";
  for (const SiteRoutes &site : report.sites) {
    output << std::setw(column) << site.name << std::setw(10) << site.group
           << std::setw(9) << site.entropy;
    for (std::size_t i = 0; i < site.sources.size(); ++i)
      output << (i ? "  " : "") << site.sources[i] << ' ' << site.weights[i];
    output << '\n';
  }
  if (report.divergences.empty())
    return;
  output << "\nJensen-Shannon divergence between the group with q and the "
            "group with v, in nats\n";
  for (const LayerDivergence &divergence : report.divergences)
    output << std::setw(column)
           << "layers." + std::to_string(divergence.layer) + ".attn"
           << divergence.value << '\n';
}

} // namespace isobath::runtime
