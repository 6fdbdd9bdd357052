//===- ParameterLayout.h - Where parameters lie in one contiguous vector ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All trained tensors of a program share one vector, and their gradients and
// optimiser state have the same layout, so that an update, a checkpoint or an
// all-reduce is one range. The matrices come first, because they alone decay.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_PARAMETERLAYOUT_H
#define ISOBATH_DIALECT_NET_PARAMETERLAYOUT_H

#include "isobath/Dialect/Net/NetDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace isobath::net {

/// Tensors start at multiples of this many bytes.
inline constexpr int64_t parameterAlignment = 64;

/// One trained tensor and its place.
struct ParameterSlot {
  ParameterAttr parameter;
  mlir::RankedTensorType type;
  unsigned argument; // its index among the function's arguments
  int64_t offset;    // in elements, from the start of the vector
};

/// The layout of the parameters of a function.
class ParameterLayout {
public:
  /// Lays out the arguments of `function` that carry `net.parameter`. Fails,
  /// with a diagnostic, if two have one name or if element types differ.
  static mlir::FailureOr<ParameterLayout>
  get(mlir::FunctionOpInterface function);

  /// Matrices in the order of the arguments, then vectors likewise.
  llvm::ArrayRef<ParameterSlot> getSlots() const { return slots; }

  /// The slot of a name, or null.
  const ParameterSlot *find(llvm::StringRef name) const;

  /// Length of the vector in elements, padding included.
  int64_t getElements() const { return elements; }

  /// The length of the part that holds the matrices.
  int64_t getMatrixElements() const { return matrixElements; }

  /// f32 or f64; null where there are no parameters.
  mlir::Type getElementType() const { return elementType; }

private:
  llvm::SmallVector<ParameterSlot> slots;
  int64_t elements = 0;
  int64_t matrixElements = 0;
  mlir::Type elementType;
};

/// The name of the parameter of `function` that `value` is, or an empty one.
llvm::StringRef getParameterName(mlir::FunctionOpInterface function,
                                 mlir::Value value);

} // namespace isobath::net

#endif // ISOBATH_DIALECT_NET_PARAMETERLAYOUT_H
