//===- Schedule.h - Which routes are batched ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place where it is decided whether the routes of a block read their
// closed sources together, from the bytes that either way moves for a token and
// what they cost.
// Passes ask; nothing else counts bytes to choose.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_ROUTING_SCHEDULE_H
#define ISOBATH_ROUTING_SCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace isobath::routing {

/// How the routes over the same closed sources are run, in one direction.
enum class Schedule {
  Each,    // one after the other, where they stand
  Batched, // together, where the block starts
  Auto     // whichever costs less
};

/// What a machine pays for memory, and how much it keeps at hand.
struct Machine {
  double readCost = 1; // of a byte
  /// Of a byte. A processor reads the line that it writes to first.
  double writeCost = 2;
  /// Routes that one kernel serves at most. It has accumulators and addresses
  /// for each of their queries.
  int64_t mostRoutes = 8;
};

/// Routes over the same closed sources. They are counted as if each had one
/// query: RD with equal queries is to run as its parent does.
struct RouteGroup {
  int64_t sources; // closed ones that all of them read
  int64_t routes;
  int64_t sourceBytes; // of an element of a source; all else is f32
};

/// Bytes for each column of a source.
struct Traffic {
  double read;
  double written;

  double bytes() const { return read + written; }
  double cost(const Machine &machine) const {
    return read * machine.readCost + written * machine.writeCost;
  }
};

/// Whether the routes of a group are batched, and why.
struct Decision {
  bool batched;
  bool isAskedFor; // by a schedule other than Auto
  Traffic saved;   // what batching moves less
  Traffic added;   // and more
};

/// About the forward parts of `group`.
Decision decideForward(Schedule schedule, const RouteGroup &group,
                       const Machine &machine);

/// About what the adjoints of `group` do to the closed sources.
Decision decideBackward(Schedule schedule, const RouteGroup &group,
                        const Machine &machine);

/// Batches of at most `most`, of about equal size.
template <typename T>
llvm::SmallVector<llvm::ArrayRef<T>> divide(llvm::ArrayRef<T> routes,
                                            int64_t most) {
  llvm::SmallVector<llvm::ArrayRef<T>> batches;
  for (int64_t left = llvm::divideCeil(routes.size(), most); left > 0; --left) {
    size_t size = llvm::divideCeil(routes.size(), left);
    batches.push_back(routes.take_front(size));
    routes = routes.drop_front(size);
  }
  return batches;
}

/// Batches of neighbours in a chain of routes, each of which reads one source
/// more than the one before. Batches of G read the sources older than all of
/// them together and the others one by one: of N(N − 1)/2 reads about
/// N²/(2 G) + N G / 2 are left, fewest for G = √N.
template <typename T>
llvm::SmallVector<llvm::ArrayRef<T>> divideChain(llvm::ArrayRef<T> routes,
                                                 int64_t most) {
  int64_t size = 2;
  while ((size + 1) * (size + 1) <= static_cast<int64_t>(routes.size()))
    ++size;
  return divide(routes, std::min(size, most));
}

} // namespace isobath::routing

#endif // ISOBATH_ROUTING_SCHEDULE_H
