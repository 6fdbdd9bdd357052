//===- cpu_library.h - The work of the CPU --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the archive IsobathCpu has: the functions that do what device_calls.h
// promises, on tensors in the host's memory, and the device that calls them.
//
// For all functions: the caller allocates every tensor; tensors are contiguous,
// row-major, and overlap only where said; no pointer is kept after the return;
// no function fails, except that the process ends with a message when memory
// runs out. Any thread may call them, several at once on different tensors.
// Results are the same bits for any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_CPU_LIBRARY_H
#define ISOBATH_RUNTIME_CPU_LIBRARY_H

#include "isobath/runtime/device_calls.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Row kernels
//===----------------------------------------------------------------------===//

/// Runs `kernel` over `rows` rows, divided into `chunks` ≥ 1 parts of
/// ⌈rows/chunks⌉ rows; the last parts may be shorter, or empty: the kernel is
/// called for each chunk exactly once, for an empty one with begin = end. Parts
/// run in parallel and in no particular order. `part` is an IsobathPart.
void isobath_cpu_launch(IsobathRowKernel kernel, void *const *words,
                        int64_t rows, int64_t chunks, int32_t part);

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// isobath_product.
///
/// A processor with bf16 instructions may take subnormal numbers of bf16
/// tensors for zeros; others do not.
void isobath_cpu_product(void *c, const void *a, const void *b, int64_t M,
                         int64_t N, int64_t K, int32_t typeC, int32_t typeA,
                         int32_t typeB, int32_t flags);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The bytes of `scratch` that isobath_cpu_attention (adjoint = 0) or
/// isobath_cpu_attention_adjoint (adjoint = 1) needs for these sizes; may be
/// zero. A function of its arguments alone, the same on every machine: the
/// compiler links it too.
int64_t isobath_cpu_attention_scratch_bytes(int64_t B, int64_t T, int64_t H,
                                            int64_t K, int64_t d, int32_t type,
                                            int32_t adjoint);

/// isobath_attention. `scratch` is aligned to 64 bytes; null where the bytes
/// needed are zero.
void isobath_cpu_attention(void *o, float *lse, const void *q, const void *k,
                           const void *v, int64_t B, int64_t T, int64_t H,
                           int64_t K, int64_t d, int32_t type, void *scratch);

/// isobath_attention_adjoint.
void isobath_cpu_attention_adjoint(void *dq, void *dk, void *dv, const void *q,
                                   const void *k, const void *v, const void *o,
                                   const float *lse, const void *dOut,
                                   int64_t B, int64_t T, int64_t H, int64_t K,
                                   int64_t d, int32_t type, void *scratch);

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// isobath_group_tokens.
void isobath_cpu_group_tokens(int32_t *starts, int32_t *order,
                              const int32_t *tokens, int64_t count,
                              int64_t vocabulary);

#ifdef __cplusplus
} // extern "C"

#include "isobath/runtime/device.h"

#include <array>
#include <vector>

namespace isobath::runtime {

/// The device that is this machine's CPU. A program that is linked with objects
/// for it has one under the name ISOBATH_DEVICE_SYMBOL.
class CpuDevice final : public Device {
public:
  void launch(const IsobathLaunch &launch, void *const *words) override;
  void product(const ProductCall &call) override;
  void attention(const AttentionTensors &tensors,
                 const AttentionCall &call) override;
  void attentionAdjoint(const AttentionAdjointTensors &tensors,
                        const AttentionCall &call) override;
  void groupTokens(std::int32_t *starts, std::int32_t *order,
                   const std::int32_t *tokens, std::int64_t count,
                   std::int64_t vocabulary) override;
};

enum class CpuPart {
  gemm = ISOBATH_PART_GEMM,
  attention = ISOBATH_PART_ATTENTION,
  route = ISOBATH_PART_ROUTE,
  rows = ISOBATH_PART_ROWS,
  optimizer = ISOBATH_PART_OPTIMIZER,
  loss = ISOBATH_PART_LOSS
};
inline constexpr std::array<const char *, 6> cpuPartNames = {
    "gemm", "attention", "route", "rows", "optimizer", "loss"};

/// The sizes, types and flags of a call of isobath_cpu_product.
struct RecordedProduct {
  int64_t M, N, K;
  int32_t typeC, typeA, typeB, flags;
};

/// What generated code did while this was the profile.
struct CpuProfile {
  std::array<double, cpuPartNames.size()> seconds{}; // by CpuPart
  std::vector<RecordedProduct> products;             // in their order
};

/// Measures the calls from now on into `profile`; null ends that. Calls must be
/// made by one thread at a time while there is one.
void setProfile(CpuProfile *profile);

/// The processors that this process may run on.
int availableThreads();

/// The number of threads, at least one, that calls from now on use. Until the
/// first call it is availableThreads().
void setThreads(int count);
int threads();

} // namespace isobath::runtime
#endif

#endif // ISOBATH_RUNTIME_CPU_LIBRARY_H
