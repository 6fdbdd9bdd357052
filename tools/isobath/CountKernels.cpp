//===- CountKernels.cpp - What kernels move on the simulated device -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountKernels.h"
#include "isobath/Simulator/SimulatedRuntimeDevice.h"
#include "isobath/runtime/buffers.h"
#include "isobath/runtime/tensors.h"
#include "isobath/runtime/windows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <iostream>

using namespace isobath;
using namespace isobath::simulator;
using DeviceKernel = ExplainReport::DeviceKernel;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::vector<FunctionBytes>
isobath::countFunctions(const FunctionProgram &program) {
  auto &device = static_cast<SimulatedRuntimeDevice &>(program.getDevice());
  std::vector<FunctionBytes> functions;
  for (const CompiledFunction &function : program.getFunctions()) {
    device.resetCounts();
    program.run(function);
    FunctionBytes &bytes = functions.emplace_back();
    bytes.name = function.name;
    bytes.compulsory = function.countBytes(FunctionBuffer::Role::Input) +
                       function.countBytes(FunctionBuffer::Role::Result);
    for (const auto &[name, kernel] : device.getCounts()) {
      const LaunchCounts &counts = kernel.counts;
      bytes.counted += counts.dramBytesRead + counts.dramBytesWritten;
      bytes.sectors += counts.loads.sectors + counts.stores.sectors;
      bytes.idealSectors +=
          counts.loads.idealSectors + counts.stores.idealSectors;
      bytes.wavefronts += counts.shared.wavefronts;
      bytes.idealWavefronts += counts.shared.idealWavefronts;
      bytes.launches += kernel.launches;
    }
  }
  return functions;
}

void isobath::printBytes(const FunctionProgram &program, bool json) {
  std::vector<FunctionBytes> functions = countFunctions(program);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (json) {
    llvm::json::Array array;
    for (const FunctionBytes &bytes : functions)
      array.push_back(
          llvm::json::Object{{"name", bytes.name},
                             {"compulsory_bytes", bytes.compulsory},
                             {"counted_bytes", bytes.counted},
                             {"sectors", bytes.sectors},
                             {"ideal_sectors", bytes.idealSectors},
                             {"wavefronts", bytes.wavefronts},
                             {"ideal_wavefronts", bytes.idealWavefronts},
                             {"launches", bytes.launches}});
    os << llvm::json::Value(llvm::json::Object{{"functions", std::move(array)}})
       << '\n';
    std::cout << text;
    return;
  }
  auto ratio = [](std::uint64_t actual, std::uint64_t ideal) {
    return ideal == 0
               ? 1.0
               : static_cast<double>(actual) / static_cast<double>(ideal);
  };
  os << "bytes of DRAM        compulsory        counted   ratio  sectors   "
        "banks  launches\n";
  for (const FunctionBytes &bytes : functions)
    os << llvm::left_justify(bytes.name, 16)
       << llvm::format("%15llu%15llu%8.3f%9.3f%8.3f%10llu\n",
                       static_cast<unsigned long long>(bytes.compulsory),
                       static_cast<unsigned long long>(bytes.counted),
                       ratio(bytes.counted, bytes.compulsory),
                       ratio(bytes.sectors, bytes.idealSectors),
                       ratio(bytes.wavefronts, bytes.idealWavefronts),
                       static_cast<unsigned long long>(bytes.launches));
  std::cout << text;
}

//===----------------------------------------------------------------------===//
// Kernels of a model
//===----------------------------------------------------------------------===//

/// The kernel `name` of the report, at its end if it was not there yet.
static DeviceKernel &find(ExplainReport &report, llvm::StringRef name) {
  auto known =
      llvm::find_if(report.deviceKernels, [&](const DeviceKernel &kernel) {
        return kernel.name == name;
      });
  if (known != report.deviceKernels.end())
    return *known;
  DeviceKernel &added = report.deviceKernels.emplace_back();
  added.name = name.str();
  return added;
}

static void runGradient(const runtime::Unit &unit) {
  const runtime::Manifest &manifest = unit.manifest();
  runtime::Buffers buffers;
  runtime::Buffers::Call gradient = buffers.plan(unit.entry("gradient"));
  buffers.allocate();
  runtime::initialiseParameters(manifest, manifest.train.seed, buffers);
  runtime::fillArbitrary(0, manifest.context, manifest.vocabulary,
                         buffers.write<std::int32_t>("tokens"),
                         buffers.write<std::int32_t>("targets"));
  std::ranges::fill(buffers.write<float>("scale"), 1.0f);
  gradient.run();
}

void isobath::countKernels(const runtime::Unit &unit, ExplainReport &report) {
  auto &device = static_cast<SimulatedRuntimeDevice &>(unit.device());
  device.resetCounts();
  runGradient(unit);
  for (const auto &[name, kernel] : device.getCounts()) {
    DeviceKernel &counted = find(report, name);
    const LaunchCounts &sum = kernel.counts;
    counted.launches = kernel.launches;
    counted.counted = {static_cast<int64_t>(sum.dramBytesRead),
                       static_cast<int64_t>(sum.dramBytesWritten)};
    counted.sectors = sum.loads.sectors + sum.stores.sectors;
    counted.idealSectors = sum.loads.idealSectors + sum.stores.idealSectors;
    counted.wavefronts = sum.shared.wavefronts;
    counted.idealWavefronts = sum.shared.idealWavefronts;
  }
}
