//===- RowAddresses.h - Where the elements of a row lie ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel's code receives for each of its arguments, in this order on
// every target:
//
//     matrix, vector   address
//     list             number of matrices; address of a table of addresses
//     scalars          address; scalars of a row; elements from plane to plane
//     sum              address of partial sums [parts, width], of which the
//                      code adds to one row; width, where the type has none
//
// How the code comes by these, and which part of a sum is its own, is the
// target's business.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_ROWS_ROWADDRESSES_H
#define ISOBATH_LIB_TARGET_ROWS_ROWADDRESSES_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace isobath::rows {

/// Words of 64 bits that describe an argument of this type (see above).
unsigned getWordCount(mlir::Type type);

/// Computes addresses at the builder's place, with `index` for numbers.
class RowAddresses {
public:
  /// From here on, code is about row number `row`.
  void setRow(mlir::Value row) { currentRow = row; }
  mlir::Value getRow() const { return currentRow; }

  /// Matrices in a list.
  mlir::Value getCount(mlir::Value list) const { return counts.lookup(list); }
  /// Scalars of a row, in each plane; numbers of a sum of any width.
  mlir::Value getWidth(mlir::Value argument) const {
    return widths.lookup(argument);
  }

  /// Address of the first element that a load, store or accumulation of a row
  /// means. `index` and `column` may be null.
  mlir::Value getAddress(mlir::Value argument, mlir::Value index,
                         mlir::Value column);
  /// Address of one element of scalars or of a vector. All but `index` may be
  /// null.
  mlir::Value getScalarAddress(mlir::Value argument, mlir::Value index,
                               mlir::Value plane, mlir::Value row);

  mlir::Value advance(mlir::Value address, mlir::Type elementType,
                      mlir::Value elements);
  mlir::Value advance(mlir::Value address, mlir::Type elementType,
                      int64_t elements);
  mlir::Value multiply(mlir::Value left, mlir::Value right);
  mlir::Value add(mlir::Value left, mlir::Value right);
  mlir::Value constant(int64_t value);

protected:
  explicit RowAddresses(mlir::ImplicitLocOpBuilder &builder)
      : builder(builder) {}

  /// Calls `next` for one word after the other, each with the type it is
  /// wanted in, and keeps what it returns; for a sum the address of its first
  /// part.
  void setWords(row::KernelOp kernel,
                llvm::function_ref<mlir::Value(mlir::Type)> next);
  /// The part of a sum that is added to, from here on.
  void setPart(mlir::BlockArgument sum, mlir::Value part);

  mlir::ImplicitLocOpBuilder &builder;

private:
  mlir::Value currentRow;
  llvm::DenseMap<mlir::Value, mlir::Value> bases;  // address of an argument
  llvm::DenseMap<mlir::Value, mlir::Value> counts; // of lists
  llvm::DenseMap<mlir::Value, mlir::Value> widths; // of scalars and sums
  llvm::DenseMap<mlir::Value, mlir::Value> planes; // elements between planes
};

} // namespace isobath::rows

#endif // ISOBATH_LIB_TARGET_ROWS_ROWADDRESSES_H
