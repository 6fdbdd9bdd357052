//===- cpu_library.h - What generated CPU code calls ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between code generated for the CPU and its library, the archive
// IsobathCpu. The first part is plain C: functions that generated code calls by
// name. Whoever changes one changes the lowering to the CPU with it. The second
// part is C++ for the program around that code.
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

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Element types of tensors. bf16 is the upper half of an f32.
enum IsobathElementType { ISOBATH_F32 = 0, ISOBATH_BF16 = 1 };

//===----------------------------------------------------------------------===//
// Row kernels
//===----------------------------------------------------------------------===//

/// A generated kernel: works on rows begin … end-1, which are the chunk number
/// `chunk`. `arguments` are as the lowering of row kernels laid them out.
/// A kernel with sums zeroes its chunk's row of every sum before it adds to it.
typedef void (*IsobathRowKernel)(void *const *arguments, int64_t begin,
                                 int64_t end, int64_t chunk);

/// What a call is counted as when time is measured.
enum IsobathPart {
  ISOBATH_PART_GEMM = 0,
  ISOBATH_PART_ATTENTION = 1,
  ISOBATH_PART_ROUTE = 2, // kernels that hold a depth route or its adjoint
  ISOBATH_PART_ROWS = 3,
  ISOBATH_PART_OPTIMIZER = 4,
  ISOBATH_PART_LOSS = 5
};

/// Runs `kernel` over `rows` rows, divided into `chunks` ≥ 1 parts of
/// ⌈rows/chunks⌉ rows; the last parts may be shorter, or empty: the kernel is
/// called for each chunk exactly once, for an empty one with begin = end. Parts
/// run in parallel and in no particular order. `part` is an IsobathPart.
void isobath_cpu_launch(IsobathRowKernel kernel, void *const *arguments,
                        int64_t rows, int64_t chunks, int32_t part);

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

enum IsobathProductFlags {
  ISOBATH_TRANSPOSE_A = 1, // A is stored [K, M]
  ISOBATH_TRANSPOSE_B = 2, // B is stored [N, K]
  ISOBATH_ACCUMULATE = 4   // add to what C holds
};

/// C [M, N] = A·B, or C += A·B, with A [M, K] and B [K, N], each stored as the
/// flags say. Types are IsobathElementType, per tensor. Sums are f32 whatever
/// the types; a bf16 C is rounded once, to nearest even. Any alignment of the
/// element type will do. C overlaps neither A nor B. A size may be zero.
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

/// Causal attention, per sequence, query head j with k = ⌊jK/H⌋, and position
/// t:
///
///     s_u = (q_t · k_u)/√d for u ≤ t      lse = log Σ_u exp s_u
///     o_t = Σ_u p_u v_u                   p_u = exp(s_u - lse)
///
/// All arithmetic is f32. Of tensors in bf16, p enters the sum rounded to bf16
/// (up to a common factor of the row), and o is rounded once. No T×T matrix is
/// stored. A position's result does not depend on later positions, not even on
/// a NaN in them. K divides H; all sizes are at least 1.
///
///     o     [B, T, H, d]  type        q     [B, T, H, d]  type
///     lse   [B, T, H]     f32         k, v  [B, T, K, d]  type
///
/// `scratch` is aligned to 64 bytes; null where the bytes needed are zero.
void isobath_cpu_attention(void *o, float *lse, const void *q, const void *k,
                           const void *v, int64_t B, int64_t T, int64_t H,
                           int64_t K, int64_t d, int32_t type, void *scratch);

/// Gradients of q, k and v, given that of o (dOut), and o and lse of the call
/// above. With p as there:
///
///     D = Σ o·dOut        ds_u = p_u (dOut·v_u − D)/√d
///     dq = Σ_u ds_u k_u   dk_u = Σ ds_u q   dv_u = Σ p_u dOut
///
/// the last two over positions t ≥ u and, in a fixed order, the query heads of
/// the group. Of tensors in bf16, p enters dv rounded to bf16; each gradient is
/// rounded once. Shapes are those of the tensors whose gradients they are.
void isobath_cpu_attention_adjoint(void *dq, void *dk, void *dv, const void *q,
                                   const void *k, const void *v, const void *o,
                                   const float *lse, const void *dOut,
                                   int64_t B, int64_t T, int64_t H, int64_t K,
                                   int64_t d, int32_t type, void *scratch);

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// Groups positions by token: order[starts[v]] … order[starts[v+1]-1] are the
/// positions that hold token v, ascending.
///
///     starts [vocabulary + 1]     order [count]     tokens [count]
///
/// Tokens are 0 … vocabulary-1; count is below 2^31.
void isobath_cpu_group_tokens(int32_t *starts, int32_t *order,
                              const int32_t *tokens, int64_t count,
                              int64_t vocabulary);

#ifdef __cplusplus
} // extern "C"

#include <array>
#include <span>
#include <vector>

namespace isobath::runtime {

/// A function of the first part under the name that generated code has for it.
struct CpuSymbol {
  const char *name;
  void *address;
};

/// All of them. A program that compiles in its own process defines these names
/// for the code it loads.
std::span<const CpuSymbol> cpuSymbols();

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
