//===- AttentionGeneric.cpp - Attention for any processor -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles fit 16 registers of 4 f32: 8 of sums, 4 of the panel.
//
//===----------------------------------------------------------------------===//

#define ISOBATH_TILE_ROWS 2
#define ISOBATH_TILE_PANELS 1
#include "AttentionTasks.h"

namespace isobath::runtime {

const AttentionKernels attentionKernelsGeneric[2] = {makeKernels<float>(),
                                                     makeKernels<Bfloat16>()};

} // namespace isobath::runtime
