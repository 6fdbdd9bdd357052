//===- RowThreads.h - The threads that work on a row -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_NVPTX_ROWTHREADS_H
#define ISOBATH_LIB_TARGET_NVPTX_ROWTHREADS_H

#include "RowLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace isobath::nvptx {

/// a ∘ b
mlir::Value combine(mlir::ImplicitLocOpBuilder &builder,
                    mlir::vector::CombiningKind kind, mlir::Value left,
                    mlir::Value right);

/// A number of each thread, to be combined into one of all.
struct ThreadValue {
  mlir::vector::CombiningKind kind;
  mlir::Value value;
};

/// Either a warp, of which a block has several, or a whole block. All of them
/// run the same code, with the same scalars.
class RowThreads {
public:
  RowThreads(mlir::gpu::GPUFuncOp function, const RowLayout &layout,
             mlir::ImplicitLocOpBuilder &builder);

  mlir::Value getThread() const { return thread; }         // of the row
  mlir::Value getRowInBlock() const { return rowInBlock; } // 0 if there is one
  mlir::Value getWarpInBlock() const { return warpInBlock; }
  /// Whether this is the first thread of the row, or of its warp.
  mlir::Value isFirst() const { return first; }
  mlir::Value isFirstOfWarp() const { return firstOfWarp; }

  /// Until all threads of the row are here, and see what any has written.
  void synchronize();
  /// The same for the threads of a warp.
  void synchronizeWarp();

  /// Combines each of `values`, with as few barriers for all as for one. Where
  /// the same place may be come to again with no other such call between, as
  /// in a loop with one reduction, it has to be said: `repeats`.
  ///
  /// Lanes are combined in pairs 16, 8, 4, 2 and 1 apart, then warps in pairs
  /// of neighbours. All threads get the same bits.
  llvm::SmallVector<mlir::Value> combineAll(llvm::ArrayRef<ThreadValue> values,
                                            bool repeats);

  /// Adds the shared memory that combineAll uses to the module. To be called
  /// last.
  void addSharedMemory();

private:
  mlir::Value combineLanes(const ThreadValue &value);
  mlir::Value shuffle(mlir::Value value, int64_t distance);
  mlir::Value combineWarps(const ThreadValue &value, mlir::Value place);

  mlir::gpu::GPUFuncOp function;
  const RowLayout &layout;
  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value thread, rowInBlock, warpInBlock, first, firstOfWarp;
  mlir::Value exchange;      // address of the shared memory
  int64_t exchangeBytes = 0; // used so far
};

} // namespace isobath::nvptx

#endif // ISOBATH_LIB_TARGET_NVPTX_ROWTHREADS_H
