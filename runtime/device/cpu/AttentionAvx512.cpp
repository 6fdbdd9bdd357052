//===- AttentionAvx512.cpp - Attention for AVX-512 ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles fit 32 registers of 16 f32: 24 of sums, 2 of the panels.
//
//===----------------------------------------------------------------------===//

#define ISOBATH_TILE_ROWS 12
#define ISOBATH_TILE_PANELS 2
#include "AttentionTasks.h"

namespace isobath::runtime {

const AttentionKernels attentionKernelsAvx512[2] = {makeKernels<float>(),
                                                    makeKernels<Bfloat16>()};

} // namespace isobath::runtime
