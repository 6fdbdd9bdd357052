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

/// Whether batching saves more than it adds: `perSource` for each source is
/// spent once a batch and not once a route, but a vector of each route is
/// written and read.
static bool isBatched(Schedule schedule, const RouteGroup &group,
                      double perSource, const Machine &machine) {
  if (group.routes < 2)
    return false;
  if (schedule != Schedule::Auto)
    return schedule == Schedule::Batched;
  int64_t batches = llvm::divideCeil(group.routes, machine.mostRoutes);
  double saved = perSource * group.sources * (group.routes - batches);
  double added =
      numberBytes * (machine.writeCost + machine.readCost) * group.routes;
  return saved > added;
}

bool isobath::routing::isForwardBatched(Schedule schedule,
                                        const RouteGroup &group,
                                        const Machine &machine) {
  double perSource = machine.readCost * group.sourceBytes;
  return isBatched(schedule, group, perSource, machine);
}

bool isobath::routing::isBackwardBatched(Schedule schedule,
                                         const RouteGroup &group,
                                         const Machine &machine) {
  double perSource = machine.readCost * (group.sourceBytes + numberBytes) +
                     machine.writeCost * numberBytes;
  return isBatched(schedule, group, perSource, machine);
}
