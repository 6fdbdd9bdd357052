//===- KernelArguments.h - What the code of a kernel receives ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a kernel is a C function
//
//     void k(void *const *arguments, int64_t begin, int64_t end, int64_t chunk)
//
// that runs rows begin … end−1 (IsobathRowKernel in isobath/runtime/cpu.h).
// `arguments` are the words of RowAddresses.h. Row `chunk` of each sum's parts
// is cleared and added to.
//
// RowLaunches.cpp writes these words and changes with this file.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H
#define ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H

#include "../Rows/RowAddresses.h"

namespace isobath::cpu {

/// Lanes of the vectors that all row arithmetic is done in, on every machine:
/// LLVM makes of them what the machine has. A different number would add in a
/// different order.
inline constexpr int64_t stripLanes = 16;

/// Strips that are worked on side by side, each with accumulators of its own.
inline constexpr int64_t groupStrips = 4;

/// Neighbouring strips of a row.
struct StripGroup {
  mlir::Value start; // index: the first column
  /// Lanes of each strip that the row has: all, but for the last.
  llvm::SmallVector<int64_t, groupStrips> lanes;

  /// The same strips of a buffer, which has all lanes of the last one.
  StripGroup whole() const {
    return {start,
            llvm::SmallVector<int64_t, groupStrips>(lanes.size(), stripLanes)};
  }
};

/// One vector of stripLanes elements for each strip of a group.
using Strips = llvm::SmallVector<mlir::Value, groupStrips>;

/// Where the arguments of a kernel lie, as its code sees them.
class KernelArguments : public rows::RowAddresses {
public:
  /// Reads the words at the builder's place and clears the sums of `chunk`.
  KernelArguments(row::KernelOp kernel, mlir::ImplicitLocOpBuilder &builder,
                  mlir::Value words, mlir::Value chunk);

  mlir::Value loadScalar(mlir::Value address, mlir::Type type);
  void storeScalar(mlir::Value value, mlir::Value address);

  /// The first `lanes` lanes.
  mlir::Value getMask(int64_t lanes);
  /// Loads strips of elements that begin at `address`.
  Strips load(mlir::Value address, const StripGroup &group,
              mlir::Type elementType);
  /// Asks for the same columns of the next row, `width` elements on.
  void prefetch(mlir::Value address, const StripGroup &group,
                mlir::Type elementType, int64_t width);
  void store(const Strips &values, mlir::Value address,
             const StripGroup &group);

private:
  mlir::Value readWord(mlir::Value words, unsigned number, mlir::Type type);
  void clear(mlir::BlockArgument sum);
};

} // namespace isobath::cpu

#endif // ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H
