//===- device_calls.h - What generated code asks of a device --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between the entries of a unit and the device that they run on.
// An entry is the same on every device: a sequence of these calls, with sizes
// that the compiler planned. It is plain C. Whoever changes a line here changes
// lib/Target/Host with it, which builds the calls.
//
// For all functions: tensors are in the device's memory, contiguous and
// row-major, and overlap only where said; nothing is allocated, no pointer is
// kept after the entry, and no function fails: a device keeps what went wrong
// for the end of the entry (device.h). Calls take effect in their order.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_DEVICE_CALLS_H
#define ISOBATH_RUNTIME_DEVICE_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The first argument of each call is the address of the symbol of this name,
/// which whoever links or loads a unit defines: an isobath::runtime::Device.
#define ISOBATH_DEVICE_SYMBOL "isobath_device"

/// Element types of tensors. bf16 is the upper half of an f32.
enum IsobathElementType { ISOBATH_F32 = 0, ISOBATH_BF16 = 1 };

//===----------------------------------------------------------------------===//
// Row kernels
//===----------------------------------------------------------------------===//

/// The CPU's code of a kernel: works on rows begin … end-1, which are the chunk
/// number `chunk`. A kernel with sums zeroes its chunk's row of every sum
/// before it adds to it.
typedef void (*IsobathRowKernel)(void *const *words, int64_t begin, int64_t end,
                                 int64_t chunk);

/// What a call is counted as when time is measured.
enum IsobathPart {
  ISOBATH_PART_GEMM = 0,
  ISOBATH_PART_ATTENTION = 1,
  ISOBATH_PART_ROUTE = 2, // kernels that hold a depth route or its adjoint
  ISOBATH_PART_ROWS = 3,
  ISOBATH_PART_OPTIMIZER = 4,
  ISOBATH_PART_LOSS = 5
};

/// One way to launch one kernel; constant data of the unit.
///
/// What `words` hold is between the kernel and who launches it, but for tables:
/// each number in `tables` is that of a word which is the address of a table of
/// addresses, and the word before it says how many these are. The addresses in
/// a table are the device's, the table itself is the host's, and lies there
/// until the call returns: a device with its own memory hands the kernel a
/// copy.
typedef struct IsobathLaunch {
  const char *kernel;     // its name, zero-terminated
  const uint32_t *tables; // [tableCount], ascending
  uint32_t tableCount;
  uint32_t wordCount; // of the arguments
  int32_t part;       // an IsobathPart
  /// Of a device that is the CPU; null on others.
  IsobathRowKernel function;
  int64_t rows;
  int64_t chunks; // ≥ 1, parts of ⌈rows/chunks⌉ rows
  /// Of a device whose kernels are the unit's device code; 0 on others.
  uint32_t blocks;
  uint32_t threads; // of a block
  uint64_t sharedBytes;
} IsobathLaunch;

void isobath_launch(void *device, const IsobathLaunch *launch,
                    void *const *words);

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// From here on, so many bytes of the arena are a buffer, which nothing has
/// written; buffers that they overlap are none any more. Entries that were
/// planned for a device that watches accesses say so of all that they use.
void isobath_begin(void *device, void *buffer, int64_t bytes);

/// Between tensors that do not overlap.
void isobath_copy(void *device, void *to, const void *from, int64_t bytes);

/// From constant data of the unit, which is the host's.
void isobath_upload(void *device, void *to, const void *from, int64_t bytes);

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
void isobath_product(void *device, void *c, const void *a, const void *b,
                     int64_t M, int64_t N, int64_t K, int32_t typeC,
                     int32_t typeA, int32_t typeB, int32_t flags);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

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
/// `scratch` has isobath_cpu_attention_scratch_bytes (cpu_library.h) and is
/// aligned to 64 bytes; null where these are zero.
void isobath_attention(void *device, void *o, float *lse, const void *q,
                       const void *k, const void *v, int64_t B, int64_t T,
                       int64_t H, int64_t K, int64_t d, int32_t type,
                       void *scratch);

/// Gradients of q, k and v, given that of o (dOut), and o and lse of the call
/// above. With p as there:
///
///     D = Σ o·dOut        ds_u = p_u (dOut·v_u − D)/√d
///     dq = Σ_u ds_u k_u   dk_u = Σ ds_u q   dv_u = Σ p_u dOut
///
/// the last two over positions t ≥ u and, in a fixed order, the query heads of
/// the group. Of tensors in bf16, p enters dv rounded to bf16; each gradient is
/// rounded once. Shapes are those of the tensors whose gradients they are.
void isobath_attention_adjoint(void *device, void *dq, void *dk, void *dv,
                               const void *q, const void *k, const void *v,
                               const void *o, const float *lse,
                               const void *dOut, int64_t B, int64_t T,
                               int64_t H, int64_t K, int64_t d, int32_t type,
                               void *scratch);

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// Groups positions by token: order[starts[v]] … order[starts[v+1]-1] are the
/// positions that hold token v, ascending.
///
///     starts [vocabulary + 1]     order [count]     tokens [count]
///
/// Tokens are 0 … vocabulary-1; count is below 2^31.
void isobath_group_tokens(void *device, int32_t *starts, int32_t *order,
                          const int32_t *tokens, int64_t count,
                          int64_t vocabulary);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ISOBATH_RUNTIME_DEVICE_CALLS_H
