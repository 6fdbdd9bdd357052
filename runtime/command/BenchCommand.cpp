//===- BenchCommand.cpp - The verb bench ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are medians over steps of one run. The step's matrix products are
// measured twice: as the step calls them, where the caches are full of other
// things, and alone, one after the other, as the least that the step can take.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/host_memory.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/tensors.h"
#include "isobath/runtime/timing.h"
#include "isobath/runtime/trainer.h"
#include "isobath/runtime/windows.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>

namespace isobath::runtime {

namespace {
struct BenchStepCommand {
  std::uint64_t steps = 5;
  ProgramRequest request;
  bool json = false;
};

struct StepTimes {
  double step = 0; // all in milliseconds
  std::array<double, cpuPartNames.size()> parts{};
  double products = 0; // alone
  std::uint64_t residentBytes = 0;
};
} // namespace

/// The most memory that this process has had resident, in bytes; 0 where the
/// system does not say.
static std::uint64_t residentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

/// Runs the products of a step on matrices of their sizes; the median of
/// `repeats`.
static double timeProducts(const std::vector<RecordedProduct> &products,
                           std::uint64_t repeats) {
  const auto bytes = [](std::int64_t elements, std::int32_t type) {
    return static_cast<std::size_t>(elements) * (type == ISOBATH_BF16 ? 2 : 4);
  };
  std::array<std::size_t, 3> most{};
  for (const RecordedProduct &p : products) {
    most[0] = std::max(most[0], bytes(p.M * p.N, p.typeC));
    most[1] = std::max(most[1], bytes(p.M * p.K, p.typeA));
    most[2] = std::max(most[2], bytes(p.K * p.N, p.typeB));
  }
  // Zeros take as long as other numbers, and stay finite. Between the matrices
  // is an odd number of pages, lest equal places of two compete in a cache.
  std::array<std::uint64_t, 3> offsets{};
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    offsets[i] = total;
    total += (most[i] + 4095) / 4096 * 4096 + 11 * 4096;
  }
  const HostMemory memory = allocateHostMemory(total);
  if (!memory)
    fail("out of memory: matrices of ", total, " bytes");
  auto *matrices = static_cast<std::byte *>(memory.get());
  std::memset(matrices, 0, total);
  std::vector<double> times;
  times.reserve(repeats + 1);
  for (std::uint64_t i = 0; i < repeats + 1; ++i)
    times.push_back(timeOf([&] {
      for (const RecordedProduct &p : products)
        isobath_cpu_product(matrices + offsets[0], matrices + offsets[1],
                            matrices + offsets[2], p.M, p.N, p.K, p.typeC,
                            p.typeA, p.typeB, p.flags);
    }));
  times.erase(times.begin()); // the first makes the library's kernels
  return median(times);
}

/// Trains on arbitrary tokens: what they are changes no time.
static StepTimes timeSteps(Device &device, Trainer &trainer,
                           const Manifest &manifest, std::uint64_t steps) {
  const FillBatch fill = [&](std::uint64_t first,
                             std::span<std::int32_t> tokens,
                             std::span<std::int32_t> targets) {
    fillArbitrary(first, manifest.context, manifest.vocabulary, tokens,
                  targets);
  };
  trainer.step(1, fill); // the first touches memory and makes kernels
  std::vector<double> times;
  std::array<std::vector<double>, cpuPartNames.size()> parts;
  StepTimes result;
  for (std::uint64_t i = 0; i < steps; ++i) {
    CpuProfile profile;
    setProfile(&profile);
    times.push_back(timeOn(device, [&] { trainer.step(2, fill); }));
    setProfile(nullptr);
    for (std::size_t part = 0; part < parts.size(); ++part)
      parts[part].push_back(profile.seconds[part] * 1000);
    // The matrices of the products alone are not the step's.
    result.residentBytes = residentBytes();
    if (i + 1 == steps)
      result.products = timeProducts(profile.products, steps);
  }
  result.step = median(times);
  for (std::size_t part = 0; part < parts.size(); ++part)
    result.parts[part] = median(parts[part]);
  return result;
}

static void runBenchStep(const BenchStepCommand &command,
                         ProgramSource &source) {
  const std::shared_ptr<Unit> unit = source.load(command.request);
  const Manifest &manifest = unit->manifest();
  if (!unit->device().isHostMemory())
    fail("--device: given ", manifest.device,
         ", whose time says nothing, expected cpu or reference");
  Buffers buffers;
  Trainer trainer(*unit, buffers);
  buffers.allocate();
  initialiseParameters(manifest, manifest.train.seed, buffers);
  const StepTimes times =
      timeSteps(unit->device(), trainer, manifest, command.steps);

  if (command.json) {
    nlohmann::ordered_json parts;
    for (std::size_t i = 0; i < cpuPartNames.size(); ++i)
      parts[cpuPartNames[i]] = times.parts[i];
    printJson({{"step_ms", times.step},
               {"parts", parts},
               {"gemm_only_ms", times.products},
               {"planned_bytes", buffers.plannedBytes()},
               {"resident_bytes", times.residentBytes},
               {"threads", threads()},
               {"steps", command.steps}});
    return;
  }
  const auto print = [](const char *label, double milliseconds) {
    std::cout << std::left << std::setw(24) << label << std::right << std::fixed
              << std::setprecision(2) << std::setw(10) << milliseconds
              << " ms\n";
  };
  print("step", times.step);
  for (std::size_t i = 0; i < cpuPartNames.size(); ++i)
    print((std::string("  ") + cpuPartNames[i]).c_str(), times.parts[i]);
  print("its products alone", times.products);
  std::cout << std::left << std::setw(24) << "step / products" << std::right
            << std::fixed << std::setprecision(2) << std::setw(10)
            << times.step / times.products << '\n';
}

CLI::App &addBenchCommand(CLI::App &application, ProgramSource &source) {
  CLI::App *bench = application.add_subcommand(
      "bench", "Measure against what this machine can do");
  auto options = std::make_shared<BenchStepCommand>();
  options->request.entries = {"gradient", "accumulate", "norm", "update"};
  CLI::App *command = bench->add_subcommand(
      "step", "Time a training step, its parts, and its matrix products alone");
  source.addOptions(*command);
  command
      ->add_option("--steps", options->steps,
                   "Steps to take the median of, after one that does not count")
      ->check(wholeNumber(1, 1000))
      ->type_name("N");
  addOverridesOption(*command, options->request.overrides);
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runBenchStep(*options, source); });
  return *bench;
}

} // namespace isobath::runtime
