//===- LaunchReport.cpp - What a launch on the simulated device showed ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Simulator/LaunchReport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace isobath::simulator;
using llvm::raw_ostream;

std::string isobath::simulator::toString(const Dim3 &place) {
  return ("(" + llvm::Twine(place.x) + ", " + llvm::Twine(place.y) + ", " +
          llvm::Twine(place.z) + ")")
      .str();
}

llvm::StringRef isobath::simulator::toString(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::UseAfterFree:
    return "use-after-free";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::UninitializedRead:
    return "uninitialized-read";
  case FindingKind::SharedRace:
    return "shared-race";
  case FindingKind::GlobalRace:
    return "global-race";
  case FindingKind::BarrierDivergence:
    return "barrier-divergence";
  case FindingKind::WarpDivergence:
    return "warp-divergence";
  case FindingKind::ConstantWrite:
    return "constant-write";
  case FindingKind::Division:
    return "division";
  case FindingKind::Endless:
    return "endless";
  case FindingKind::Trap:
    return "trap";
  }
  llvm_unreachable("all kinds are above");
}

LaunchCounts &LaunchCounts::operator+=(const LaunchCounts &other) {
  auto addGlobal = [](GlobalCounts &to, const GlobalCounts &from) {
    to.bytes += from.bytes;
    to.requests += from.requests;
    to.sectors += from.sectors;
    to.idealSectors += from.idealSectors;
  };
  addGlobal(loads, other.loads);
  addGlobal(stores, other.stores);
  shared.bytes += other.shared.bytes;
  shared.requests += other.shared.requests;
  shared.wavefronts += other.shared.wavefronts;
  shared.idealWavefronts += other.shared.idealWavefronts;
  dramBytesRead += other.dramBytesRead;
  dramBytesWritten += other.dramBytesWritten;
  barriers += other.barriers;
  warpBarriers += other.warpBarriers;
  shuffles += other.shuffles;
  votes += other.votes;
  matrixOperations += other.matrixOperations;
  asyncCopies += other.asyncCopies;
  atomics += other.atomics;
  return *this;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void isobath::simulator::printFinding(const Finding &finding, raw_ostream &os) {
  os << "error: " << toString(finding.kind) << ": " << finding.message << '\n'
     << "  kernel @" << finding.kernel << ", block " << toString(finding.block)
     << ", thread " << toString(finding.thread) << '\n'
     << "  at " << finding.location << '\n';
  for (const std::string &note : finding.notes)
    os << "  " << note << '\n';
  if (finding.occurrences > 1)
    os << "  " << finding.occurrences << " times at this place\n";
}

/// `3.98 a request, ideal 2.00`, or nothing without requests.
static void printPerRequest(std::uint64_t actual, std::uint64_t ideal,
                            std::uint64_t requests, raw_ostream &os) {
  if (requests != 0)
    os << llvm::format(", %.2f a request, ideal %.2f",
                       double(actual) / double(requests),
                       double(ideal) / double(requests));
}

static void printGlobal(llvm::StringRef name, const GlobalCounts &counts,
                        raw_ostream &os) {
  os << "  " << name << ' ' << counts.bytes << " bytes, " << counts.requests
     << " requests, " << counts.sectors << " sectors";
  printPerRequest(counts.sectors, counts.idealSectors, counts.requests, os);
  os << '\n';
}

void isobath::simulator::printLaunchReport(const LaunchReport &report,
                                           raw_ostream &os) {
  for (const Finding &finding : report.findings)
    printFinding(finding, os);
  os << '@' << report.kernel << ", grid " << toString(report.grid) << ", block "
     << toString(report.block) << ", shared memory " << report.staticSharedBytes
     << " + " << report.dynamicSharedBytes << " bytes";
  if (!report.complete)
    os << ", stopped by an error";
  os << '\n';
  const LaunchCounts &counts = report.counts;
  printGlobal("global loads ", counts.loads, os);
  printGlobal("global stores", counts.stores, os);
  os << "  DRAM          " << counts.dramBytesRead << " bytes read, "
     << counts.dramBytesWritten << " written\n"
     << "  shared memory " << counts.shared.bytes << " bytes, "
     << counts.shared.requests << " requests, " << counts.shared.wavefronts
     << " wavefronts";
  printPerRequest(counts.shared.wavefronts, counts.shared.idealWavefronts,
                  counts.shared.requests, os);
  os << "\n  barriers " << counts.barriers << ", of warps "
     << counts.warpBarriers << ", shuffles " << counts.shuffles << ", votes "
     << counts.votes << ", matrix operations " << counts.matrixOperations
     << ", asynchronous copies " << counts.asyncCopies << ", atomics "
     << counts.atomics << '\n';
  if (!report.libdeviceFunctions.empty())
    os << "  needs libdevice for "
       << llvm::join(report.libdeviceFunctions, ", ") << '\n';
  constexpr std::size_t shown = 5;
  for (const SiteReport &site : llvm::ArrayRef(report.sites).take_front(shown))
    os << "  " << site.space << ": " << site.actual
       << (site.space == "global" ? " sectors" : " wavefronts") << " where "
       << site.ideal << " would do, at " << site.location << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value toJson(const Dim3 &place) {
  return llvm::json::Array{place.x, place.y, place.z};
}

static llvm::json::Value toJson(const GlobalCounts &counts) {
  return llvm::json::Object{{"bytes", counts.bytes},
                            {"requests", counts.requests},
                            {"sectors", counts.sectors},
                            {"ideal_sectors", counts.idealSectors}};
}

static llvm::json::Value toJson(const Finding &finding) {
  return llvm::json::Object{{"kind", toString(finding.kind)},
                            {"message", finding.message},
                            {"block", toJson(finding.block)},
                            {"thread", toJson(finding.thread)},
                            {"location", finding.location},
                            {"notes", llvm::json::Array(finding.notes)},
                            {"occurrences", finding.occurrences}};
}

static llvm::json::Value toJson(const SiteReport &site) {
  return llvm::json::Object{{"location", site.location},
                            {"space", site.space},
                            {"requests", site.requests},
                            {"actual", site.actual},
                            {"ideal", site.ideal}};
}

template <typename Range> static llvm::json::Array toArray(const Range &range) {
  llvm::json::Array array;
  for (const auto &element : range)
    array.push_back(toJson(element));
  return array;
}

llvm::json::Object isobath::simulator::toJson(const LaunchReport &report) {
  const LaunchCounts &counts = report.counts;
  return llvm::json::Object{
      {"kernel", report.kernel},
      {"grid", ::toJson(report.grid)},
      {"block", ::toJson(report.block)},
      {"static_shared_bytes", report.staticSharedBytes},
      {"dynamic_shared_bytes", report.dynamicSharedBytes},
      {"seed", report.seed},
      {"complete", report.complete},
      {"findings", toArray(report.findings)},
      {"global_loads", ::toJson(counts.loads)},
      {"global_stores", ::toJson(counts.stores)},
      {"dram_bytes_read", counts.dramBytesRead},
      {"dram_bytes_written", counts.dramBytesWritten},
      {"shared",
       llvm::json::Object{{"bytes", counts.shared.bytes},
                          {"requests", counts.shared.requests},
                          {"wavefronts", counts.shared.wavefronts},
                          {"ideal_wavefronts", counts.shared.idealWavefronts}}},
      {"barriers", counts.barriers},
      {"warp_barriers", counts.warpBarriers},
      {"shuffles", counts.shuffles},
      {"votes", counts.votes},
      {"matrix_operations", counts.matrixOperations},
      {"async_copies", counts.asyncCopies},
      {"atomics", counts.atomics},
      {"libdevice", llvm::json::Array(report.libdeviceFunctions)},
      {"sites", toArray(report.sites)}};
}
