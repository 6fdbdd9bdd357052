//===- RowBuilder.h - Row kernels, written as one writes formulas -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small vocabulary over row, arith, math, vector and scf in which an op says
// what it does to a row. Numbers are f32 (f64 where a kernel asks for it):
// loads extend to it and stores round once. Additions happen in the order in
// which they are written; the only freedom that is given away is `contract`, a
// product and a sum rounded together.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FUSION_ROWBUILDER_H
#define ISOBATH_FUSION_ROWBUILDER_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace isobath::fusion {

class RowBuilder;

/// A position: a row, a column, a source.
class Index {
public:
  Index(RowBuilder &rows, mlir::Value value) : rows(&rows), value(value) {}
  mlir::Value get() const { return value; }

  Index operator+(Index other) const;
  Index operator+(int64_t other) const;
  Index operator-(Index other) const;
  Index operator-(int64_t other) const;
  Index operator*(Index factor) const;
  Index operator*(int64_t factor) const;
  Index operator/(int64_t divisor) const; // rounds down; not negative
  Index operator%(int64_t divisor) const;

private:
  RowBuilder *rows;
  mlir::Value value;
};

/// A number, or a row of them. Of a number and a row, every element of the row
/// is combined with the number.
class Numbers {
public:
  Numbers(RowBuilder &rows, mlir::Value value) : rows(&rows), value(value) {}
  mlir::Value get() const { return value; }
  RowBuilder &getBuilder() const { return *rows; }

  /// Elements of a row.
  int64_t width() const;

private:
  RowBuilder *rows;
  mlir::Value value;
};
/// For readers: how many an expression is.
using Number = Numbers;
using Row = Numbers;

Numbers operator+(Numbers left, Numbers right);
Numbers operator-(Numbers left, Numbers right);
Numbers operator*(Numbers left, Numbers right);
Numbers operator/(Numbers left, Numbers right);
Numbers operator-(Numbers operand);

Numbers exp(Numbers x);
Numbers sqrt(Numbers x);
Number log(Number x);
/// 1 / sqrt(x)
Numbers rsqrt(Numbers x);
/// 1 / (1 + exp(−x))
Numbers sigmoid(Numbers x);
Number larger(Number x, Number y);

/// Σ of a row's elements.
Number sum(Row row);
/// Σ of the elements of left ⊙ right.
Number dot(Row left, Row right);
/// The largest element of a row.
Number maximum(Row row);
/// The first element of a row.
Number first(Row row);
/// The row in f64.
Row widened(Row row);

/// A row in memory.
class RowPlace {
public:
  RowPlace(RowBuilder &rows, mlir::Value argument, mlir::Value number = {})
      : rows(&rows), argument(argument), number(number) {}

  Row load() const;
  /// `width` elements from `column` on.
  Row load(Index column, int64_t width) const;
  void store(Row row) const;
  void store(Row row, Index column) const;

private:
  RowBuilder *rows;
  mlir::Value argument;
  mlir::Value number; // of another row, or of a matrix in a list
};

/// The current row of a matrix and, by number, all others.
class Matrix : public RowPlace {
public:
  Matrix(RowBuilder &rows, mlir::Value argument)
      : RowPlace(rows, argument), rows(&rows), argument(argument) {}
  RowPlace operator[](Index row) const { return {*rows, argument, row.get()}; }

private:
  RowBuilder *rows;
  mlir::Value argument;
};

/// The current row in each of several matrices.
class List {
public:
  List(RowBuilder &rows, mlir::Value argument)
      : rows(&rows), argument(argument) {}
  RowPlace operator[](Index index) const {
    return {*rows, argument, index.get()};
  }
  Index count() const;

private:
  RowBuilder *rows;
  mlir::Value argument;
};

/// A row that all rows share.
class Vector : public RowPlace {
public:
  Vector(RowBuilder &rows, mlir::Value argument)
      : RowPlace(rows, argument), rows(&rows), argument(argument) {}
  Number number(Index index) const;
  /// An element of a vector of integers.
  Index id(Index index) const;

private:
  RowBuilder *rows;
  mlir::Value argument;
};

/// A row that is the sum over all rows.
class Sum {
public:
  Sum(RowBuilder &rows, mlir::Value argument)
      : rows(&rows), argument(argument) {}
  void add(Row row) const;
  void add(Row row, Index column) const;

private:
  RowBuilder *rows;
  mlir::Value argument;
};

/// Numbers of the current row, the same count in each plane.
class Scalars {
public:
  Scalars(RowBuilder &rows, mlir::Value argument)
      : rows(&rows), argument(argument) {}
  Number load(Index index, int64_t plane = 0) const;
  /// A number that is an id.
  Index loadId(Index index) const;
  /// What each of `groups` equal parts of a row of `width` columns is to be
  /// multiplied by: for part p number `first` + p · `stride`. If there is one
  /// part, that is a number.
  Numbers spread(Index first, Index stride, int64_t groups, int64_t width,
                 int64_t plane = 0) const;
  void store(Number value, Index index, int64_t plane = 0) const;
  Index width() const;

private:
  mlir::Value planeOperand(int64_t plane) const;

  RowBuilder *rows;
  mlir::Value argument;
};

/// Constants that kernels read besides the operands of their ops, each made
/// once for a module and placed once in an entry.
class ConstantTables {
public:
  /// The f32 tensor of `shape` that `fill` makes. It is a function of name, key
  /// and shape alone. Stands at the start of `block`.
  mlir::Value get(mlir::Block *block, llvm::StringRef name, mlir::Attribute key,
                  llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::MutableArrayRef<float>)> fill);

private:
  // Name, key and type.
  using Key = std::tuple<std::string, const void *, const void *>;
  std::map<Key, mlir::ElementsAttr> contents;
  std::map<std::pair<Key, mlir::Block *>, mlir::Value> placed;
};

/// Builds one kernel, and collects the tensors that its call binds to the
/// kernel's arguments. First the number of rows, then inputs, outputs and body.
class RowBuilder {
public:
  /// Builds the kernel of `op`.
  RowBuilder(mlir::Operation *op, ConstantTables &tables);

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  void setRows(int64_t count) { rowCount = count; }

  Matrix matrix(llvm::StringRef name, mlir::Value tensor, int64_t width);
  List list(llvm::StringRef name, mlir::ValueRange tensors, int64_t width);
  Vector vector(llvm::StringRef name, mlir::Value tensor);
  /// One vector for each tensor.
  llvm::SmallVector<Vector> vectors(llvm::StringRef name,
                                    mlir::ValueRange tensors);
  /// The same, for kernels that serve vectors of any width: single numbers of
  /// them can be read.
  llvm::SmallVector<Vector> vectorsOfAnyWidth(llvm::StringRef name,
                                              mlir::ValueRange tensors);
  llvm::SmallVector<Matrix> matrices(llvm::StringRef name,
                                     mlir::ValueRange tensors, int64_t width);
  Scalars scalars(llvm::StringRef name, mlir::Value tensor, int64_t planes = 1);
  /// Some of the planes of a tensor, so that kernels do not depend on which.
  Scalars scalarsFrom(llvm::StringRef name, mlir::Value tensor,
                      int64_t firstPlane, int64_t planes);
  /// A constant that is an operand, so that kernels do not depend on it.
  Number parameter(llvm::StringRef name, mlir::FloatAttr value);
  /// A constant matrix; see ConstantTables.
  Matrix table(llvm::StringRef name, mlir::Attribute key,
               llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<void(llvm::MutableArrayRef<float>)> fill);

  /// Outputs that are results of the op.
  Matrix matrixOutput(llvm::StringRef name, mlir::Value result, int64_t width);
  llvm::SmallVector<Matrix>
  matrixOutputs(llvm::StringRef name, mlir::ValueRange results, int64_t width);
  List listOutput(llvm::StringRef name, mlir::ValueRange results,
                  int64_t width);
  Sum sumOutput(llvm::StringRef name, mlir::Value result);
  llvm::SmallVector<Sum> sumOutputs(llvm::StringRef name,
                                    mlir::ValueRange results);
  /// The same, for kernels that serve sums of any width: single numbers can be
  /// added.
  llvm::SmallVector<Sum> sumOutputsOfAnyWidth(llvm::StringRef name,
                                              mlir::ValueRange results);
  Scalars scalarsOutput(llvm::StringRef name, mlir::Value result,
                        int64_t planes = 1);
  /// Numbers that the kernel keeps between its loops: [planes, rows, width].
  Scalars scratch(llvm::StringRef name, int64_t planes, int64_t width);

  //===--------------------------------------------------------------------===//
  // Body
  //===--------------------------------------------------------------------===//

  /// The number of the current row.
  Index row();
  Index index(int64_t value);
  Number constant(double value);
  Number toNumber(Index index);
  /// A row of `width` equal numbers.
  Row filled(Number value, int64_t width);
  /// The elements for which `index` is theirs are `ifEqual`, all others 0.
  Row oneHot(Index index, Number ifEqual, int64_t width);

  /// for i in 0 … count−1
  void loop(Index count, llvm::function_ref<void(Index)> body);
  /// The same; without a loop if there is one.
  void loop(int64_t count, llvm::function_ref<void(Index)> body);

  /// Rows or numbers that a loop carries from one `step` to the next.
  llvm::SmallVector<Numbers>
  carry(Index first, Index last, llvm::ArrayRef<Numbers> start,
        llvm::function_ref<llvm::SmallVector<Numbers>(Index,
                                                      llvm::ArrayRef<Numbers>)>
            step);
  /// Σ over i in 0 … count−1, added in that order, starting from 0.
  Number sum(Index count, llvm::function_ref<Number(Index)> term);
  /// The largest term; count ≥ 1.
  Number maximum(Index count, llvm::function_ref<Number(Index)> term);

  mlir::Value isNegative(Index index);
  mlir::Value isEqual(Index left, Index right);
  mlir::Value isLess(Index left, int64_t right);
  Number select(mlir::Value condition, Number ifTrue, Number ifFalse);
  Index clampedToZero(Index index);

  //===--------------------------------------------------------------------===//
  // The result
  //===--------------------------------------------------------------------===//

  /// The finished kernel, which stands in no module.
  mlir::OwningOpRef<row::KernelOp> finish();
  /// The call of `kernel`, equal to what was built, in front of the op, whose
  /// results are replaced.
  row::CallOp createCall(row::KernelOp kernel);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }

private:
  mlir::Value addInput(llvm::StringRef name, mlir::Type type,
                       mlir::ValueRange tensors);
  mlir::Value addOutput(llvm::StringRef name, mlir::Type type,
                        mlir::TypeRange tensorTypes, mlir::ValueRange results);

  mlir::Operation *op;
  ConstantTables &tables;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<row::KernelOp> kernel;
  int64_t rowCount = 0;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> inputs;
  llvm::SmallVector<llvm::SmallVector<mlir::Type>> outputs;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> results; // to be replaced
};

} // namespace isobath::fusion

#endif // ISOBATH_FUSION_ROWBUILDER_H
