//===- Attention.cpp - Attention ------------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks over threads, by the code for this processor.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernels.h"
#include "Parallel.h"
#include "Profile.h"
#include "isobath/runtime/cpu_library.h"

#include <cassert>

using namespace isobath::runtime;

static const AttentionKernels &findKernels(int32_t type) {
  static const AttentionKernels *kernels = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
      return attentionKernelsAvx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return attentionKernelsAvx2;
#endif
    return attentionKernelsGeneric;
  }();
  return kernels[type == ISOBATH_BF16];
}

static float *getWorkspace(const AttentionWorkspace &plan) {
  return static_cast<float *>(threadWorkspace(plan.floats * sizeof(float)));
}

void isobath_cpu_attention(void *o, float *lse, const void *q, const void *k,
                           const void *v, int64_t B, int64_t T, int64_t H,
                           int64_t K, int64_t d, int32_t type, void *scratch) {
  const ProfiledCall timer{CpuPart::attention};
  assert(H % K == 0 && "groups of query heads are of one size");
  const AttentionForward arguments = {{B, T, H, K, d}, o, lse, q, k, v};
  const AttentionKernels &kernels = findKernels(type);
  const AttentionWorkspace plan = planForward(arguments.shape);
  parallelFor(attentionTasks(arguments.shape), [&](int64_t task) {
    kernels.forward(arguments, task, getWorkspace(plan));
  });
}

void isobath_cpu_attention_adjoint(void *dq, void *dk, void *dv, const void *q,
                                   const void *k, const void *v, const void *o,
                                   const float *lse, const void *dOut,
                                   int64_t B, int64_t T, int64_t H, int64_t K,
                                   int64_t d, int32_t type, void *scratch) {
  const ProfiledCall timer{CpuPart::attention};
  assert(H % K == 0 && "groups of query heads are of one size");
  const AttentionAdjoint arguments = {{B, T, H, K, d},
                                      dq,
                                      dk,
                                      dv,
                                      q,
                                      k,
                                      v,
                                      o,
                                      lse,
                                      dOut,
                                      static_cast<float *>(scratch)};
  const AttentionKernels &kernels = findKernels(type);
  const AttentionWorkspace plan = planAdjoint(arguments.shape);
  parallelFor(attentionTasks(arguments.shape), [&](int64_t task) {
    kernels.adjoint(arguments, task, getWorkspace(plan));
  });
  if (sharesPerHead(arguments.shape) > 1)
    parallelFor(B * K,
                [&](int64_t head) { kernels.addShares(arguments, head); });
}
