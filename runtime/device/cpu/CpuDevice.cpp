//===- CpuDevice.cpp - The CPU as a device --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every call is done when it returns.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/cpu_library.h"

namespace isobath::runtime {

void CpuDevice::launch(const IsobathLaunch &launch, void *const *words) {
  isobath_cpu_launch(launch.function, words, launch.rows, launch.chunks,
                     launch.part);
}

void CpuDevice::product(const ProductCall &call) {
  isobath_cpu_product(call.c, call.a, call.b, call.M, call.N, call.K,
                      call.typeC, call.typeA, call.typeB, call.flags);
}

void CpuDevice::attention(const AttentionTensors &tensors,
                          const AttentionCall &call) {
  isobath_cpu_attention(tensors.o, tensors.lse, tensors.q, tensors.k, tensors.v,
                        call.B, call.T, call.H, call.K, call.d, call.type,
                        call.scratch);
}

void CpuDevice::attentionAdjoint(const AttentionAdjointTensors &tensors,
                                 const AttentionCall &call) {
  isobath_cpu_attention_adjoint(tensors.dq, tensors.dk, tensors.dv, tensors.q,
                                tensors.k, tensors.v, tensors.o, tensors.lse,
                                tensors.dOut, call.B, call.T, call.H, call.K,
                                call.d, call.type, call.scratch);
}

void CpuDevice::groupTokens(std::int32_t *starts, std::int32_t *order,
                            const std::int32_t *tokens, std::int64_t count,
                            std::int64_t vocabulary) {
  isobath_cpu_group_tokens(starts, order, tokens, count, vocabulary);
}

} // namespace isobath::runtime

/// ISOBATH_DEVICE_SYMBOL of programs that are linked with objects for the CPU.
extern "C" {
extern isobath::runtime::CpuDevice isobath_device;
isobath::runtime::CpuDevice isobath_device;
}
