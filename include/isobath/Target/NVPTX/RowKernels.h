//===- RowKernels.h - Row kernels on NVIDIA GPUs -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between the GPU's code and whoever launches it.
//
// Every `row.kernel` becomes a kernel of the same name, with `.` written `$`.
// Its parameters are 64 bits each. For each argument of the row kernel, in
// order, they are
//
//     matrix, vector   address
//     list             number of matrices; address of a table of addresses
//     scalars          address; scalars of a row; elements from plane to plane
//     sum              address of partial sums [parts, width], in the type that
//                      the sum is added in; width, where the type has none
//
// and then the number of rows. All addresses are of global memory, those in
// tables too. A table may be as old as the buffers in it: no kernel writes it.
// Matrices, vectors and partial sums start at multiples of 16 bytes, scalars at
// multiples of their size. No output overlaps an input or another output, but
// for a matrix that is written where one of its type was read
// (isobath-lower-to-gpu decides).
//
// A launch has a grid of countBlocks(rows) × 1 × 1 blocks of threadsPerBlock
// × 1 × 1 threads and countSharedBytes(…) bytes of dynamic shared memory, at
// most maxSharedBytes; for more than 48 KiB the host has to ask the driver. The
// same is in the attributes of the `gpu.func`, and later of the `llvm.func`,
// for tools that see nothing else:
//
//     known_block_size / nvvm.maxntid    threadsPerBlock × 1 × 1
//     isobath.rows_per_block             rows that a block works on at a time
//     isobath.shared_scalars             countSharedBytes' arguments, as
//                                        positions among the row kernel's
//     isobath.shared_copies              copies of each of them in a block
//     isobath.sums                       its sums, as positions likewise: the
//                                        grid is then a fixed number of blocks,
//                                        countBlocks(rows)
//
// A kernel with sums needs no cleared memory: every block clears its parts and
// adds the rows first, first + stride, … to them. A second kernel then adds
// the parts in their order. There is one for every kind of sum, with the name
// getSumKernelName(type) and the parameters
//
//     address of the partial sums; their number, countParts(rows);
//     address of the sum; its width, where the type has none
//
// and the shape getSumLaunch(width): no thread depends on rows. Nothing here is
// added by atomic operations, and every order is a function of shapes.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_NVPTX_ROWKERNELS_H
#define ISOBATH_TARGET_NVPTX_ROWKERNELS_H

#include "isobath/Dialect/Row/RowOps.h"
#include <string>

namespace isobath::nvptx {

/// Attributes of the functions (see above).
inline constexpr llvm::StringLiteral rowsPerBlockName =
    "isobath.rows_per_block";
inline constexpr llvm::StringLiteral sharedScalarsName =
    "isobath.shared_scalars";
inline constexpr llvm::StringLiteral sharedCopiesName = "isobath.shared_copies";
inline constexpr llvm::StringLiteral sumsName = "isobath.sums";

/// The name of the module that holds the functions.
inline constexpr llvm::StringLiteral gpuModuleName = "kernels";

/// Dynamic shared memory that a block can have on every architecture, the least
/// of them, sm_120's 99 KiB, less what kernels use of their own.
inline constexpr int64_t maxSharedBytes = 96 << 10;

/// How a kernel is launched. A function of the row kernel alone, on every
/// architecture.
struct LaunchShape {
  /// Fails, with a diagnostic, for a kernel that has no code for GPUs.
  static mlir::FailureOr<LaunchShape> get(row::KernelOp kernel);

  int64_t countBlocks(int64_t rows) const;
  /// Rows of partial sums of each sum.
  int64_t countParts(int64_t rows) const {
    return countBlocks(rows) * rowsPerBlock;
  }
  /// `scalarsOfRow` holds, for each of sharedScalars, how many numbers a row
  /// has in one plane.
  int64_t countSharedBytes(llvm::ArrayRef<int64_t> scalarsOfRow) const;

  int64_t threadsPerBlock;
  int64_t rowsPerBlock;
  /// Output scalars that the kernel reads again, as positions among its
  /// arguments; and how many bytes one number in each plane takes.
  llvm::SmallVector<int64_t> sharedScalars;
  llvm::SmallVector<int64_t> sharedScalarBytes;
  /// Every warp keeps them for itself.
  int64_t sharedCopies;
  /// Its sums, as positions among the arguments, and the widest.
  llvm::SmallVector<int64_t> sums;
  int64_t widestSum = 0;
};

/// The name of the GPU's function for `kernel`.
std::string getFunctionName(row::KernelOp kernel);

/// The second stage of a sum.
struct SumLaunch {
  int64_t blocks;
  int64_t threadsPerBlock;
};
SumLaunch getSumLaunch(int64_t width);
std::string getSumKernelName(row::SumType type);

} // namespace isobath::nvptx

#endif // ISOBATH_TARGET_NVPTX_ROWKERNELS_H
