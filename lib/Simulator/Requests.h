//===- Requests.h - What warps ask of memory ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a warp run one after the other here, but are one instruction on
// a GPU. Between two places where all lanes meet, the n-th time that a lane
// comes to a site belongs to the n-th time of the others.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_REQUESTS_H
#define ISOBATH_LIB_SIMULATOR_REQUESTS_H

#include "Sites.h"
#include "ThreadState.h"
#include "isobath/Simulator/LaunchReport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

namespace isobath::simulator {

/// All accesses of one site.
struct SiteCounts {
  std::uint64_t requests[2] = {0, 0}; // global, shared
  std::uint64_t actual[2] = {0, 0};
  std::uint64_t ideal[2] = {0, 0};
};

class RequestCounter {
public:
  RequestCounter(const SiteTable &sites, LaunchCounts &counts)
      : sites(sites), counts(counts), siteCounts(sites.size()) {}

  void startBlock(std::uint32_t warps);

  /// A lane accesses `bytes` bytes at `address`, or those of the vector's
  /// elements of pieceBytes that `elements` has bits for. `lanes` are those of
  /// the warp that have not ended. Addresses of shared memory are offsets.
  void add(std::uint32_t warp, std::uint32_t lane, std::uint32_t lanes,
           std::uint32_t site, MemorySpace space, std::uint64_t address,
           std::uint64_t bytes, std::uint64_t elements = ~std::uint64_t(0));

  /// All lanes of the warp are at one place.
  void meet(std::uint32_t warp);

  /// Sites that asked for more than they needed, the worst first.
  std::vector<SiteReport> reportSites() const;

private:
  struct Request {
    MemorySpace space = MemorySpace::Global;
    std::uint32_t lanes = 0; // that have come
    std::uint64_t bytes = 0; // of each
    std::uint64_t addresses[warpSize];
    std::uint64_t elements[warpSize];
  };
  /// The requests of a site that lanes are still to come to.
  struct Open {
    std::deque<Request> requests;
    std::uint64_t first = 0;           // the number of requests.front()
    std::uint64_t next[warpSize] = {}; // the request that a lane adds to
  };
  struct Warp {
    std::vector<std::unique_ptr<Open>> sites;
    std::vector<std::uint32_t> touched; // sites with open requests or numbers
  };

  void count(std::uint32_t site, const Request &request);
  void countGlobal(std::uint32_t site, llvm::ArrayRef<std::uint64_t> addresses,
                   std::uint64_t pieceBytes);
  void countShared(std::uint32_t site, const std::uint64_t *addresses,
                   std::uint32_t lanes, std::uint64_t pieceBytes);

  const SiteTable &sites;
  LaunchCounts &counts;
  std::vector<SiteCounts> siteCounts;
  std::vector<Warp> warps;
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_REQUESTS_H
