//===- RowLayout.h - How rows lie in the threads of a GPU --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is cut into *chunks* that a thread loads or stores at once, 16 bytes
// of them where that is possible. With T threads for a row, chunk number
// k·T + t is the k-th of thread t, its *slot* k. So neighbouring threads touch
// neighbouring memory, whatever the width.
//
// The chunk of a width is the same wherever rows of that width are loaded,
// stored or computed in the kernel. It is 16 bytes of the type that most of
// what such accesses move has, 4 elements of f32 or 8 of bf16: others take two
// accesses, or one of 8 bytes. Where the width, or a column at which an access
// begins, is no multiple of that, rows do not all start at multiples of 16
// bytes, and the chunk is the largest power of two that divides them. An odd
// width is accessed element by element.
//
// The row is a multiple of its chunk, but its chunks are in general no multiple
// of T. A thread that is beyond the end in its last slot repeats the last chunk
// of the row: it loads what its neighbour loads, computes the same, and is left
// out of sums and stores.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_NVPTX_ROWLAYOUT_H
#define ISOBATH_LIB_TARGET_NVPTX_ROWLAYOUT_H

#include "isobath/Dialect/Row/RowOps.h"
#include "llvm/ADT/DenseMap.h"

namespace isobath::nvptx {

inline constexpr int64_t warpThreads = 32;

/// How the code of a kernel goes through a row.
enum class RowForm {
  /// The whole row is in registers, and operations run in their order.
  Registers,
  /// The row is too wide for that, or nothing would be gained: it is gone
  /// through strip by strip, as often as reductions depend on each other.
  Strips
};

class RowLayout {
public:
  /// Fails, with a diagnostic, for rows that no form can hold.
  static mlir::FailureOr<RowLayout> get(row::KernelOp kernel);

  RowForm getForm() const { return form; }
  /// Threads that work on one row: a warp, or a block of several.
  int64_t getThreads() const { return threads; }
  int64_t getWarps() const { return threads / warpThreads; }
  int64_t getRowsPerBlock() const;
  int64_t getThreadsPerBlock() const { return getRowsPerBlock() * threads; }

  /// Elements of a chunk of rows of this width, and how many there are.
  int64_t getChunk(int64_t width) const { return chunks.lookup(width); }
  int64_t countChunks(int64_t width) const { return width / getChunk(width); }

private:
  void findChunks(row::KernelOp kernel);
  int64_t getWidest() const;
  bool chooseThreads(row::KernelOp kernel);

  RowForm form = RowForm::Registers;
  int64_t threads = warpThreads;
  llvm::DenseMap<int64_t, int64_t> chunks; // by width
};

/// 32-bit registers that the rows of `kernel` take in each thread where most of
/// them are alive, if `threads` work on a row that is in registers.
int64_t countRowRegisters(row::KernelOp kernel, const RowLayout &layout,
                          int64_t threads);

} // namespace isobath::nvptx

#endif // ISOBATH_LIB_TARGET_NVPTX_ROWLAYOUT_H
