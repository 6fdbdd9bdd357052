//===- routes.h - Which depths a model's routes read ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Averages, over the tokens of a validation set, of the distributions that the
// entry `routes` returns. It looks at distributions only and never at sources.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_ROUTES_H
#define ISOBATH_RUNTIME_ROUTES_H

#include "isobath/runtime/buffers.h"
#include "isobath/runtime/windows.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace isobath::runtime {

/// The depth distribution of one group of roles at one site.
struct SiteRoutes {
  std::string name;  // layers.{l}.attn, layers.{l}.mlp or final
  std::string group; // of the manifest: qkv, qk, v, …
  std::vector<std::string> sources;
  std::vector<double> weights; // [sources]: mean over tokens and depth heads
  double entropy = 0;          // mean over tokens and depth heads, in nats
};

/// How far the group with v reads from the group with q in one layer: the
/// Jensen–Shannon divergence, mean over tokens and depth heads, in nats.
struct LayerDivergence {
  std::uint64_t layer = 0;
  double value = 0;
};

struct RoutesReport {
  std::vector<SiteRoutes> sites;
  std::vector<LayerDivergence> divergences;
  std::uint64_t tokens = 0; // positions that counted
};

class RoutesReporter {
public:
  /// Plans the buffers of the entry `routes`. The unit and the buffers outlive
  /// the reporter. Throws Error for a model without routes.
  RoutesReporter(const Unit &unit, Buffers &buffers);

  /// Runs the parameters that the buffers hold over `data`.
  RoutesReport report(const EvaluationData &data) const;

private:
  const Unit &unit;
  Buffers &buffers;
  Buffers::Call routes;
};

/// {"sites": […], "js": […], "tokens"}.
nlohmann::ordered_json toJson(const RoutesReport &report);

/// The same as a table for people.
void printTable(const RoutesReport &report, std::ostream &output);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_ROUTES_H
