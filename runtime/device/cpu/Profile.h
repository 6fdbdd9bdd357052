//===- Profile.h - Calls that are timed ---------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_DEVICE_CPU_PROFILE_H
#define ISOBATH_RUNTIME_DEVICE_CPU_PROFILE_H

#include "isobath/runtime/cpu_library.h"

#include <chrono>

namespace isobath::runtime {

/// Adds the time that it lives to a part, if there is a profile.
class ProfiledCall {
public:
  explicit ProfiledCall(CpuPart part);
  ~ProfiledCall();
  ProfiledCall(const ProfiledCall &) = delete;
  ProfiledCall &operator=(const ProfiledCall &) = delete;

private:
  CpuProfile *profile;
  CpuPart part;
  std::chrono::steady_clock::time_point start;
};

/// Adds a product to the profile's list, if there is a profile.
void recordProduct(const RecordedProduct &product);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_DEVICE_CPU_PROFILE_H
