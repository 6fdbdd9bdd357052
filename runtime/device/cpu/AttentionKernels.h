//===- AttentionKernels.h - Attention's inner code ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same code compiled for several processors, one table of functions each.
// Sums are in the same order in all of them; those with fused multiply-adds
// give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DEVICE_CPU_ATTENTIONKERNELS_H
#define ISOBATH_DEVICE_CPU_ATTENTIONKERNELS_H

#include "AttentionPlan.h"

namespace isobath::runtime {

/// The arguments of isobath_cpu_attention.
struct AttentionForward {
  AttentionShape shape;
  void *o;
  float *lse;
  const void *q, *k, *v;
};

/// The arguments of isobath_cpu_attention_adjoint.
struct AttentionAdjoint {
  AttentionShape shape;
  void *dq, *dk, *dv;
  const void *q, *k, *v, *o;
  const float *lse;
  const void *dOut;
  float *scratch; // adjointScratchFloats() of them
};

/// For one element type.
struct AttentionKernels {
  /// One task of the forward direction. `workspace` has planForward().floats.
  void (*forward)(const AttentionForward &arguments, int64_t task,
                  float *workspace);
  /// One task of the adjoint. `workspace` has planAdjoint().floats.
  void (*adjoint)(const AttentionAdjoint &arguments, int64_t task,
                  float *workspace);
  /// Adds up dk and dv of K/V head number `head` of B·K from its shares.
  void (*addShares)(const AttentionAdjoint &arguments, int64_t head);
};

/// Kernels for f32, then for bf16.
extern const AttentionKernels attentionKernelsGeneric[2];
#if defined(__x86_64__)
extern const AttentionKernels attentionKernelsAvx2[2];   // with FMA
extern const AttentionKernels attentionKernelsAvx512[2]; // F, BW, DQ and VL
#endif

} // namespace isobath::runtime

#endif // ISOBATH_DEVICE_CPU_ATTENTIONKERNELS_H
