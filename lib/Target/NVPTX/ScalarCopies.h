//===- ScalarCopies.h - Scalars that a kernel reads again --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a row stores to output scalars it may load again. Every warp keeps a
// copy of them in dynamic shared memory, which its first thread writes and all
// its threads read: so the threads of a warp have to wait for each other, but
// never for those of another.
//
// A thread must not load what is still to be stored, nor the first one store
// what others are still to load. The state here says what has been loaded and
// stored since the threads last waited; in a loop, also what an earlier
// iteration may have.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_NVPTX_SCALARCOPIES_H
#define ISOBATH_LIB_TARGET_NVPTX_SCALARCOPIES_H

#include "DeviceArguments.h"
#include "RowThreads.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace isobath::nvptx {

/// The output scalars that `kernel` loads, in order.
llvm::SmallVector<mlir::BlockArgument> findCopiedScalars(row::KernelOp kernel);

/// Bytes of one number in each plane, and what a copy is rounded up to.
int64_t getBytesOfPlanes(row::ScalarsType type);
inline constexpr int64_t copyAlignment = 8;

class ScalarCopies {
public:
  ScalarCopies(row::KernelOp kernel, mlir::gpu::GPUFuncOp function,
               DeviceArguments &arguments, RowThreads &threads,
               mlir::ImplicitLocOpBuilder &builder);

  bool has(mlir::Value scalars) const { return places.contains(scalars); }

  mlir::Value load(mlir::Value scalars, mlir::Value index, mlir::Value plane);
  void store(mlir::Value value, mlir::Value scalars, mlir::Value index,
             mlir::Value plane);

  /// What has been loaded and stored.
  struct State {
    llvm::DenseSet<mlir::Value> loaded, stored;
  };
  /// To be called in front of a loop over `body` and after it, with what the
  /// first returned.
  State enterLoop(mlir::Block &body);
  void leaveLoop(const State &before);

private:
  mlir::Value getAddress(mlir::Value scalars, mlir::Value index,
                         mlir::Value plane);
  void wait();

  DeviceArguments &arguments;
  RowThreads &threads;
  mlir::ImplicitLocOpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> places; // of this warp's copies
  State state;
};

} // namespace isobath::nvptx

#endif // ISOBATH_LIB_TARGET_NVPTX_SCALARCOPIES_H
