//===- ThreadState.h - What compiled kernels and the simulator share ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between the code that rewriteModule makes and the functions that
// it calls (RuntimeFunctions.cpp). Compiled functions have a pointer to the
// state of their thread as their first argument.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_THREADSTATE_H
#define ISOBATH_LIB_SIMULATOR_THREADSTATE_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace isobath::simulator {

inline constexpr unsigned warpSize = 32;

/// What compiled code reads, by offset: special registers and shared memory.
struct ThreadState {
  std::uint32_t threadId[3];
  std::uint32_t blockId[3];
  std::uint32_t blockSize[3];
  std::uint32_t gridSize[3];
  std::uint32_t lane;
  std::uint32_t warp; // in its block
  std::uint32_t warps;
  std::uint32_t zero; // what runs everything: one multiprocessor, one grid
  std::uint32_t one;
  std::uint32_t laneMaskEqual, laneMaskLess, laneMaskLessEqual, laneMaskGreater,
      laneMaskGreaterEqual;
  std::uint32_t sharedBytes; // static and dynamic
  std::uint32_t dynamicSharedBytes;
  std::byte *shared;        // of the block
  std::byte *dynamicShared; // in it, behind what is static
};

/// Functions that compiled code calls.
namespace functions {
/// void(thread, address, site): before a load, store or atomic operation.
inline constexpr char access[] = "isobath_simulator_access";
/// void(thread, address, u64 elements, site): likewise, of a vector some of
/// whose elements are not accessed.
inline constexpr char maskedAccess[] = "isobath_simulator_masked_access";
/// void(thread, address, u64 bytes, site): before an intrinsic that fills or
/// copies.
inline constexpr char rangeAccess[] = "isobath_simulator_range_access";
/// void(thread, address, variable, u64 variableBytes, u64 bytes, site): before
/// an access to a variable on the thread's stack.
inline constexpr char localAccess[] = "isobath_simulator_local_access";
/// void(thread, u32 undefined, site): before a division of integers.
inline constexpr char division[] = "isobath_simulator_division";
/// void(thread, site): once in every iteration of a loop.
inline constexpr char iteration[] = "isobath_simulator_iteration";
/// void(thread, site, u32 operation, u32 mask, u32 *words): an operation of a
/// warp; `words` are the lane's operands before and its results after it.
inline constexpr char warpOperation[] = "isobath_simulator_warp_operation";
/// u32(thread, site, u32 id, u32 count, u32 kind, u32 predicate): a barrier of
/// `count` threads, or of all if that is 0.
inline constexpr char barrier[] = "isobath_simulator_barrier";
/// void(thread, shared, global, u32 bytes, u32 readBytes, site): the site of
/// the load, before which is that of the store.
inline constexpr char asyncCopy[] = "isobath_simulator_async_copy";
/// void(thread)
inline constexpr char asyncCommit[] = "isobath_simulator_async_commit";
/// void(thread, u32 groups): waits until at most that many are under way.
inline constexpr char asyncWait[] = "isobath_simulator_async_wait";
/// u32(thread, address): the MemorySpace that `address` lies in.
inline constexpr char memorySpace[] = "isobath_simulator_memory_space";
/// void(thread, site): does not return.
inline constexpr char trap[] = "isobath_simulator_trap";
/// f32(u32 RoundedOperation, u32 Rounding, f32, f32, f32)
inline constexpr char rounded32[] = "isobath_simulator_rounded_f32";
/// f64(u32 RoundedOperation, u32 Rounding, f64, f64, f64)
inline constexpr char rounded64[] = "isobath_simulator_rounded_f64";
/// u32(u32, u32, u32 selector)
inline constexpr char permuteBytes[] = "isobath_simulator_permute_bytes";
} // namespace functions

enum class MemorySpace : std::uint32_t { Global, Shared, Local };

enum class BarrierKind : std::uint32_t {
  Sync,
  Arrive,
  CountPredicates,
  AllPredicates,
  AnyPredicate,
};

enum class WarpOperation : std::uint32_t {
  ShuffleUp, // words: value, operand, clamp -> value, predicate
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex,
  VoteAll, // words: predicate -> result
  VoteAny,
  VoteUniform,
  VoteBallot,
  MatchAny,  // words: low, high -> mask
  MatchAll,  // words: low, high -> mask, predicate
  Elect,     // words: none -> lane, predicate
  ReduceAdd, // words: value -> value
  ReduceMin,
  ReduceMax,
  ReduceUnsignedMin,
  ReduceUnsignedMax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  Synchronize, // no words
  ActiveMask,  // words: none -> mask
  LoadMatrix1, // words: low and high half of a pointer -> 1, 2, 4 words
  LoadMatrix2,
  LoadMatrix4,
  LoadMatrixTransposed1,
  LoadMatrixTransposed2,
  LoadMatrixTransposed4,
  MultiplyBf16, // m16n8k16; words: a (4), b (2), c (4) -> d (4)
  MultiplyF16,  // likewise
};

/// Operands or results of a warp operation, at most.
inline constexpr unsigned maxWarpWords = 12;

enum class Rounding : std::uint32_t { Nearest, Zero, Down, Up };
enum class RoundedOperation : std::uint32_t {
  Add,
  Multiply,
  Fma,
  Divide,
  Sqrt
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_THREADSTATE_H
