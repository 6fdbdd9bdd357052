//===- Launch.h - One launch of a kernel ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that the blocks of a launch have in common, and the list of what
// was found.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_LAUNCH_H
#define ISOBATH_LIB_SIMULATOR_LAUNCH_H

#include "Fibers.h"
#include "GlobalMemory.h"
#include "Requests.h"
#include "SharedMemory.h"
#include "WarpClocks.h"
#include "isobath/Simulator/SimulatedDevice.h"
#include <random>

namespace isobath::simulator {

struct Thread;

/// void(ThreadState *, const void *const *arguments)
using KernelEntry = void (*)(ThreadState *, const void *const *);

struct Launch {
  Launch(const SiteTable &sites, GlobalMemory &memory, FiberStacks &stacks,
         const LaunchConfiguration &configuration, std::uint64_t staticBytes)
      : sites(sites), memory(memory), stacks(stacks),
        configuration(configuration), requests(sites, report.counts),
        shared(sites, clocks, staticBytes + configuration.dynamicSharedBytes),
        random(configuration.seed) {}

  /// Notes what `thread` did at `site`; again and again there, it counts.
  void find(FindingKind kind, const Thread &thread, std::uint32_t site,
            std::string message, std::vector<std::string> notes = {});
  /// Ends the launch: the thread that runs does not go on. Its stack is
  /// forgotten, with all that destructors would have ended.
  [[noreturn]] void stop();

  /// Whether that kind has been found at `site`, so that its text need not be
  /// made again; then it has been counted.
  bool countKnown(FindingKind kind, std::uint32_t site);

  const SiteTable &sites;
  GlobalMemory &memory;
  FiberStacks &stacks;
  const LaunchConfiguration &configuration;
  LaunchReport report;
  RequestCounter requests;
  WarpClocks clocks;
  SharedMemory shared;
  std::mt19937_64 random; // the order of fibers
  KernelEntry entry = nullptr;
  const void *const *arguments = nullptr;
  Thread *running = nullptr;
  bool stopped = false;

private:
  std::map<std::pair<FindingKind, std::uint32_t>, std::size_t> known;
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_LAUNCH_H
