//===- AttentionAvx2.cpp - Attention for AVX2 and FMA ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles fit 16 registers of 8 f32: 12 of sums, 2 of the panel.
//
//===----------------------------------------------------------------------===//

#define ISOBATH_TILE_ROWS 6
#define ISOBATH_TILE_PANELS 1
#include "AttentionTasks.h"

namespace isobath::runtime {

const AttentionKernels attentionKernelsAvx2[2] = {makeKernels<float>(),
                                                  makeKernels<Bfloat16>()};

} // namespace isobath::runtime
