//===- Profile.cpp - Where the time of generated code goes --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times whole calls, on the thread that makes them; a call returns when all its
// threads are done. Without a profile a call costs one comparison more.
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

namespace isobath::runtime {

static CpuProfile *current = nullptr;

void setProfile(CpuProfile *profile) { current = profile; }

ProfiledCall::ProfiledCall(CpuPart part) : profile(current), part(part) {
  if (profile)
    start = std::chrono::steady_clock::now();
}

ProfiledCall::~ProfiledCall() {
  if (profile)
    profile->seconds[static_cast<std::size_t>(part)] +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
}

void recordProduct(const RecordedProduct &product) {
  if (current)
    current->products.push_back(product);
}

} // namespace isobath::runtime
