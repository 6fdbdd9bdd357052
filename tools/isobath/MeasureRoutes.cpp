//===- MeasureRoutes.cpp - How long the routes of a step take -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasureRoutes.h"
#include "isobath/runtime/buffers.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/read_pass.h"
#include "isobath/runtime/tensors.h"
#include "isobath/runtime/timing.h"
#include "isobath/runtime/trainer.h"
#include "isobath/runtime/windows.h"

using namespace isobath;

static constexpr int repeats = 5;

/// Bytes a second that all threads together read of what no cache holds.
static double measureBandwidth() {
  runtime::Buffers buffers;
  buffers.reserve("read", std::uint64_t(256) << 20);
  buffers.allocate();
  std::span<const std::byte> bytes = buffers.read<std::byte>("read");
  std::vector<std::span<const std::byte>> all = {bytes};
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i)
    times.push_back(runtime::timeOf([&] { runtime::readPass(all); }));
  return static_cast<double>(bytes.size()) / runtime::median(times) * 1000;
}

/// The bytes of one step.
static double countBytes(const ExplainReport &report,
                         const runtime::Manifest &manifest) {
  auto sum = [](const ExplainReport::Bytes &bytes) {
    return static_cast<double>(bytes.read + bytes.written);
  };
  double tokens = static_cast<double>(manifest.train.batch * manifest.context);
  double bytes =
      tokens * (sum(report.forward.counted) + sum(report.backward.counted));
  for (const ExplainReport::Site &site : report.sites)
    bytes += sum(site.forward.once) + sum(site.backward.once);
  return bytes * static_cast<double>(manifest.train.accumulate);
}

/// The median time of the kernels with routes in a step, in milliseconds.
static double timeRoutes(const runtime::Unit &unit) {
  const runtime::Manifest &manifest = unit.manifest();
  runtime::Buffers buffers;
  runtime::Trainer trainer(unit, buffers);
  buffers.allocate();
  runtime::initialiseParameters(manifest, manifest.train.seed, buffers);
  // What the tokens are changes no time.
  auto fill = [&](std::uint64_t first, std::span<std::int32_t> tokens,
                  std::span<std::int32_t> targets) {
    runtime::fillArbitrary(first, manifest.context, manifest.vocabulary, tokens,
                           targets);
  };
  trainer.step(1, fill); // touches memory
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    runtime::CpuProfile profile;
    runtime::setProfile(&profile);
    trainer.step(1, fill);
    runtime::setProfile(nullptr);
    auto part = static_cast<std::size_t>(runtime::CpuPart::route);
    times.push_back(profile.seconds[part] * 1000);
  }
  return runtime::median(times);
}

ExplainReport::Measurement isobath::measureRoutes(const runtime::Unit &unit,
                                                  const ExplainReport &report) {
  ExplainReport::Measurement result;
  result.bandwidth = measureBandwidth();
  result.predictedMilliseconds =
      countBytes(report, unit.manifest()) / result.bandwidth * 1000;
  result.milliseconds = timeRoutes(unit);
  return result;
}
