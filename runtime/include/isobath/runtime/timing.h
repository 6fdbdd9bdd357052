//===- timing.h - How long something takes --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_TIMING_H
#define ISOBATH_RUNTIME_TIMING_H

#include "isobath/runtime/device.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace isobath::runtime {

/// Of at least one value; the mean of the two in the middle where there are.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// Milliseconds that `action` takes.
template <typename Action> double timeOf(Action &&action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// Milliseconds that the work of `action` takes on `device`.
template <typename Action> double timeOn(Device &device, Action &&action) {
  const DeviceEvent start = device.recordEvent();
  action();
  return 1000 * device.secondsBetween(start, device.recordEvent());
}

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_TIMING_H
