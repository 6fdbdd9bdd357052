//===- LoopBuilder.h - Loops and arithmetic, written as one writes them -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small vocabulary over scf, memref, arith and math in which the reference
// lowerings read like the formulas of the ops they implement. It builds exactly
// what is written: no reordering, no fusion, no fast-math flag.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_REFERENCE_LOOPBUILDER_H
#define ISOBATH_TARGET_REFERENCE_LOOPBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace isobath::reference {

class LoopBuilder;

/// A position along an axis.
class Index {
public:
  Index(LoopBuilder &loops, mlir::Value value) : loops(&loops), value(value) {}
  mlir::Value get() const { return value; }

  Index operator+(Index other) const;
  Index operator+(int64_t other) const;
  Index operator*(int64_t factor) const;
  Index operator/(int64_t divisor) const; // rounds down; not negative
  Index operator%(int64_t divisor) const;

private:
  LoopBuilder *loops;
  mlir::Value value;
};

/// A number in the type that the kernel computes in.
class Scalar {
public:
  Scalar(LoopBuilder &loops, mlir::Value value) : loops(&loops), value(value) {}
  mlir::Value get() const { return value; }

  Scalar operator+(Scalar other) const;
  Scalar operator-(Scalar other) const;
  Scalar operator*(Scalar other) const;
  Scalar operator/(Scalar other) const;
  Scalar operator-() const;

private:
  LoopBuilder *loops;
  mlir::Value value;
};

/// A tensor in memory.
class Buffer {
public:
  Buffer(LoopBuilder &loops, mlir::Value memref)
      : loops(&loops), memref(memref) {}

  int64_t dim(unsigned axis) const { return getType().getDimSize(axis); }
  int64_t rank() const { return getType().getRank(); }
  llvm::ArrayRef<int64_t> shape() const { return getType().getShape(); }

  /// The element, extended to the kernel's arithmetic type.
  Scalar load(llvm::ArrayRef<Index> position) const;
  /// Rounds to the element type if that is narrower.
  void store(llvm::ArrayRef<Index> position, Scalar value) const;
  /// Adds to the element that is there.
  void add(llvm::ArrayRef<Index> position, Scalar value) const;
  /// Copies an element of `from`, which has the same type, as it is.
  void copy(llvm::ArrayRef<Index> position, Buffer from,
            llvm::ArrayRef<Index> fromPosition) const;
  /// An element of a tensor of ids.
  mlir::Value loadId(llvm::ArrayRef<Index> position) const;

  mlir::MemRefType getType() const {
    return llvm::cast<mlir::MemRefType>(memref.getType());
  }
  mlir::Value get() const { return memref; }

private:
  LoopBuilder *loops;
  mlir::Value memref;
};

/// Tensors of one type that a loop counts through, such as the sources of a
/// route: code for them does not grow with their number.
class BufferList {
public:
  /// A table of `buffers`, at least one, at the current place of the kernel,
  /// which must be outside of all loops.
  BufferList(LoopBuilder &loops, llvm::ArrayRef<Buffer> buffers);

  int64_t size() const { return count; }
  Buffer front() const { return first; }
  Buffer operator[](Index index) const;

private:
  LoopBuilder *loops;
  Buffer first;
  int64_t count;
  mlir::Value table; // pointers to the buffers' elements
};

/// Builds the body of one kernel.
class LoopBuilder {
public:
  /// `arithmetic` is the type of all numbers, f32 or f64.
  LoopBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::FloatType arithmetic)
      : builder(builder), loc(loc), arithmetic(arithmetic) {}

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// for i in 0 … count−1
  void loop(int64_t count, llvm::function_ref<void(Index)> body);
  void loop(Index count, llvm::function_ref<void(Index)> body);

  /// Nested loops, the last axis innermost.
  void loops(llvm::ArrayRef<int64_t> counts,
             llvm::function_ref<void(llvm::ArrayRef<Index>)> body);

  /// Σ over i in 0 … count−1, added in that order, starting from 0.
  Scalar sum(int64_t count, llvm::function_ref<Scalar(Index)> term);
  Scalar sum(Index count, llvm::function_ref<Scalar(Index)> term);

  /// The largest term; count ≥ 1.
  Scalar maximum(int64_t count, llvm::function_ref<Scalar(Index)> term);
  Scalar maximum(Index count, llvm::function_ref<Scalar(Index)> term);

  /// Runs `body` where `condition` (an i1) holds.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  /// Writes `value` to every element.
  void fill(Buffer buffer, Scalar value);

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  Scalar constant(double value);
  Index index(int64_t value);
  Scalar toScalar(Index index);
  /// A number of another builder's, rounded or extended to this one's type.
  Scalar convert(Scalar other);
  Index toIndex(mlir::Value id);

  Scalar exp(Scalar x);
  Scalar log(Scalar x);
  Scalar sqrt(Scalar x);
  Scalar sine(Scalar x);
  Scalar cosine(Scalar x);
  /// 1 / sqrt(x)
  Scalar rsqrt(Scalar x);
  /// 1 / (1 + exp(−x))
  Scalar sigmoid(Scalar x);
  Scalar larger(Scalar x, Scalar y);
  Scalar select(mlir::Value condition, Scalar ifTrue, Scalar ifFalse);

  /// id ≥ 0
  mlir::Value isNotNegative(mlir::Value id);
  mlir::Value isEqual(Index left, Index right);
  mlir::Value isLess(Index left, int64_t right);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::FloatType getArithmeticType() const { return arithmetic; }

private:
  Scalar reduce(Index count, Scalar start,
                llvm::function_ref<Scalar(Scalar, Index)> step);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FloatType arithmetic;
};

} // namespace isobath::reference

#endif // ISOBATH_TARGET_REFERENCE_LOOPBUILDER_H
