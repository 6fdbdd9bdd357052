//===- Sizes.cpp - What the compiler asks the library ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In an archive of its own that needs nothing else, since the compiler plans
// the scratch memory of calls that it does not make.
//
//===----------------------------------------------------------------------===//

#include "AttentionPlan.h"
#include "isobath/runtime/cpu_library.h"

int64_t isobath_cpu_attention_scratch_bytes(int64_t B, int64_t T, int64_t H,
                                            int64_t K, int64_t d, int32_t type,
                                            int32_t adjoint) {
  if (!adjoint)
    return 0;
  return isobath::runtime::adjointScratchFloats({B, T, H, K, d}) *
         int64_t(sizeof(float));
}
