//===- Requests.cpp - What warps ask of memory ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Requests.h"
#include "GlobalMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <tuple>

using namespace isobath::simulator;

/// Of shared memory; a bank is 4 bytes wide.
static constexpr std::uint64_t banks = 32, bankBytes = 4;

/// Of one site and warp: a lane that runs ahead of the others by more is
/// counted without them.
static constexpr std::size_t maxOpenRequests = 4096;

void RequestCounter::startBlock(std::uint32_t count) {
  warps.resize(count);
  for (Warp &warp : warps)
    warp.sites.resize(sites.size());
}

void RequestCounter::add(std::uint32_t warpIndex, std::uint32_t lane,
                         std::uint32_t lanes, std::uint32_t site,
                         MemorySpace space, std::uint64_t address,
                         std::uint64_t bytes, std::uint64_t elements) {
  Warp &warp = warps[warpIndex];
  std::unique_ptr<Open> &open = warp.sites[site];
  if (!open)
    open = std::make_unique<Open>();
  if (open->first == 0 && open->requests.empty())
    warp.touched.push_back(site);
  // What a lane that is far behind would belong to may have been counted.
  std::uint64_t number = std::max(open->next[lane], open->first);
  open->next[lane] = number + 1;
  while (number - open->first >= open->requests.size())
    open->requests.emplace_back();
  Request &request = open->requests[number - open->first];
  request.space = space;
  request.bytes = bytes;
  request.lanes |= 1u << lane;
  request.addresses[lane] = address;
  request.elements[lane] = elements;
  while (!open->requests.empty() &&
         ((open->requests.front().lanes & lanes) == lanes ||
          open->requests.size() > maxOpenRequests)) {
    count(site, open->requests.front());
    open->requests.pop_front();
    ++open->first;
  }
}

void RequestCounter::meet(std::uint32_t warpIndex) {
  Warp &warp = warps[warpIndex];
  for (std::uint32_t site : warp.touched) {
    Open &open = *warp.sites[site];
    for (const Request &request : open.requests)
      count(site, request);
    open = Open();
  }
  warp.touched.clear();
}

//===----------------------------------------------------------------------===//
// One request
//===----------------------------------------------------------------------===//

void RequestCounter::count(std::uint32_t site, const Request &request) {
  std::uint64_t pieceBytes =
      std::min<std::uint64_t>(sites[site].pieceBytes, request.bytes);
  for (std::uint64_t piece = 0; piece * pieceBytes < request.bytes; ++piece) {
    llvm::SmallVector<std::uint64_t, warpSize> addresses;
    std::uint64_t byLane[warpSize];
    std::uint32_t lanes = 0;
    std::uint64_t width =
        std::min(pieceBytes, request.bytes - piece * pieceBytes);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!(request.lanes >> lane & 1) ||
          !(piece >= 64 || request.elements[lane] >> piece & 1))
        continue;
      lanes |= 1u << lane;
      byLane[lane] = request.addresses[lane] + piece * pieceBytes;
      addresses.push_back(byLane[lane]);
    }
    if (lanes == 0)
      continue;
    if (request.space == MemorySpace::Shared)
      countShared(site, byLane, lanes, width);
    else
      countGlobal(site, addresses, width);
  }
}

/// The number of different values in `values`, which are sorted for that.
static std::uint64_t
countDistinct(llvm::SmallVectorImpl<std::uint64_t> &values) {
  if (!llvm::is_sorted(values))
    llvm::sort(values);
  std::uint64_t distinct = values.empty() ? 0 : 1;
  for (std::size_t i = 1; i < values.size(); ++i)
    distinct += values[i] != values[i - 1];
  return distinct;
}

void RequestCounter::countGlobal(std::uint32_t site,
                                 llvm::ArrayRef<std::uint64_t> addresses,
                                 std::uint64_t pieceBytes) {
  llvm::SmallVector<std::uint64_t, warpSize> values(addresses);
  std::uint64_t distinct = countDistinct(values);
  // Pieces are aligned and no larger than a sector.
  for (std::uint64_t &value : values)
    value /= sectorBytes;
  std::uint64_t sectors = countDistinct(values);
  std::uint64_t ideal = llvm::divideCeil(distinct * pieceBytes, sectorBytes);
  auto countIn = [&](GlobalCounts &direction) {
    direction.bytes += addresses.size() * pieceBytes;
    ++direction.requests;
    direction.sectors += sectors;
    direction.idealSectors += ideal;
  };
  if (sites[site].reads())
    countIn(counts.loads);
  if (sites[site].writes())
    countIn(counts.stores);
  SiteCounts &here = siteCounts[site];
  ++here.requests[0];
  here.actual[0] += sectors;
  here.ideal[0] += ideal;
}

void RequestCounter::countShared(std::uint32_t site,
                                 const std::uint64_t *addresses,
                                 std::uint32_t lanes,
                                 std::uint64_t pieceBytes) {
  // Wide accesses take several passes, each for as many lanes as the banks have
  // bytes for.
  std::uint64_t lanesPerPass =
      warpSize * bankBytes / llvm::bit_ceil(std::max(pieceBytes, bankBytes));
  std::uint64_t wavefronts = 0, ideal = 0, bytes = 0;
  for (std::uint64_t first = 0; first < warpSize; first += lanesPerPass) {
    llvm::SmallVector<std::uint64_t, warpSize> words;
    for (std::uint64_t lane = first; lane < first + lanesPerPass; ++lane) {
      if (!(lanes >> lane & 1))
        continue;
      bytes += pieceBytes;
      for (std::uint64_t at = 0; at < pieceBytes; at += bankBytes)
        words.push_back((addresses[lane] + at) / bankBytes);
    }
    if (words.empty())
      continue;
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    std::uint64_t inBank[banks] = {};
    for (std::uint64_t word : words)
      ++inBank[word % banks];
    wavefronts += *std::max_element(inBank, inBank + banks);
    ideal += llvm::divideCeil(words.size(), banks);
  }
  counts.shared.bytes += bytes;
  ++counts.shared.requests;
  counts.shared.wavefronts += wavefronts;
  counts.shared.idealWavefronts += ideal;
  SiteCounts &here = siteCounts[site];
  ++here.requests[1];
  here.actual[1] += wavefronts;
  here.ideal[1] += ideal;
}

std::vector<SiteReport> RequestCounter::reportSites() const {
  // Copies of one instruction, as of an unrolled loop, are one place.
  std::map<std::pair<std::string, unsigned>, SiteReport> places;
  for (auto [site, found] : llvm::zip_equal(sites, siteCounts))
    for (unsigned space : {0, 1}) {
      SiteReport &report = places[{site.location, space}];
      report.location = site.location;
      report.space = space == 0 ? "global" : "shared";
      report.requests += found.requests[space];
      report.actual += found.actual[space];
      report.ideal += found.ideal[space];
    }
  std::vector<SiteReport> reports;
  for (auto &[place, report] : places)
    if (report.actual > report.ideal)
      reports.push_back(std::move(report));
  llvm::sort(reports, [](const SiteReport &a, const SiteReport &b) {
    return std::tuple(b.actual - b.ideal, a.location, a.space) <
           std::tuple(a.actual - a.ideal, b.location, b.space);
  });
  return reports;
}
