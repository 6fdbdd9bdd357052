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
// `arguments` are words of 64 bits, for each argument in order:
//
//     matrix, vector   address
//     list             number of matrices; address of a table of their
//     addresses scalars          address; scalars of a row; elements from plane
//     to plane sum              address of its scratch [chunks, width]; row
//     `chunk` is
//                      cleared and added to
//
// RowLaunches.cpp writes these words and changes with this file.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H
#define ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

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

/// Words that describe an argument of this type (see the top of this file).
unsigned getWordCount(mlir::Type type);

/// Where the arguments of a kernel lie, as its code sees them.
class KernelArguments {
public:
  /// Reads the words at the builder's place and clears the sums of `chunk`.
  KernelArguments(row::KernelOp kernel, mlir::ImplicitLocOpBuilder &builder,
                  mlir::Value words, mlir::Value chunk);

  /// From here on, code is about row number `row`.
  void setRow(mlir::Value row) { currentRow = row; }
  mlir::Value getRow() const { return currentRow; }

  /// Matrices in a list.
  mlir::Value getCount(mlir::Value list) const { return counts.lookup(list); }
  /// Scalars of a row, in each plane.
  mlir::Value getWidth(mlir::Value scalars) const {
    return widths.lookup(scalars);
  }

  /// Address of the first element that a load, store or accumulation of a row
  /// means. `index` and `column` may be null.
  mlir::Value getAddress(mlir::Value argument, mlir::Value index,
                         mlir::Value column);
  /// Address of one element of scalars or of a vector. All but `index` may be
  /// null.
  mlir::Value getScalarAddress(mlir::Value argument, mlir::Value index,
                               mlir::Value plane, mlir::Value row);

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
  mlir::Value advance(mlir::Value address, mlir::Type elementType,
                      mlir::Value elements);
  mlir::Value advance(mlir::Value address, mlir::Type elementType,
                      int64_t elements);
  mlir::Value multiply(mlir::Value left, mlir::Value right);
  mlir::Value add(mlir::Value left, mlir::Value right);
  mlir::Value constant(int64_t value);
  void clear(mlir::Value address, row::SumType type);

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value currentRow;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;  // address of an argument
  llvm::DenseMap<mlir::Value, mlir::Value> counts; // of lists
  llvm::DenseMap<mlir::Value, mlir::Value> widths; // of scalars
  llvm::DenseMap<mlir::Value, mlir::Value> planes; // elements between planes
};

} // namespace isobath::cpu

#endif // ISOBATH_LIB_TARGET_CPU_KERNELARGUMENTS_H
