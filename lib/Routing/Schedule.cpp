//===- Schedule.cpp - Which routes are batched ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With b sources, M routes and s bytes an element of a source, 4 of anything
// else; D-vectors, in bytes an element:
//
//               one by one               batched
//     forward   M b reads of s           b reads of s; M mixes o written, read
//     backward  M b of: s and ∂s read,   b of the same; M gradients g written,
//               ∂s written               read
//
//===----------------------------------------------------------------------===//

#include "isobath/Routing/Schedule.h"

using namespace isobath::routing;

static constexpr double numberBytes = 4;

/// Batching moves `perSource` for each source once a batch and not once a
/// route, but writes and reads a vector of each route.
static Decision decide(Schedule schedule, const RouteGroup &group,
                       Traffic perSource, const Machine &machine) {
  int64_t batches = llvm::divideCeil(group.routes, machine.mostRoutes);
  double times = group.sources * (group.routes - batches);
  double vectors = numberBytes * group.routes;
  Decision decision;
  decision.saved = {perSource.read * times, perSource.written * times};
  decision.added = {vectors, vectors};
  decision.isAskedFor = schedule != Schedule::Auto;
  bool isWorthIt = decision.saved.cost(machine) > decision.added.cost(machine);
  decision.batched =
      group.routes > 1 &&
      (decision.isAskedFor ? schedule == Schedule::Batched : isWorthIt);
  return decision;
}

Decision isobath::routing::decideForward(Schedule schedule,
                                         const RouteGroup &group,
                                         const Machine &machine) {
  return decide(schedule, group, {double(group.sourceBytes), 0}, machine);
}

Decision isobath::routing::decideBackward(Schedule schedule,
                                          const RouteGroup &group,
                                          const Machine &machine) {
  return decide(schedule, group, {group.sourceBytes + numberBytes, numberBytes},
                machine);
}
