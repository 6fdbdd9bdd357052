//===- DeviceArguments.h - What a GPU's kernel receives ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_NVPTX_DEVICEARGUMENTS_H
#define ISOBATH_LIB_TARGET_NVPTX_DEVICEARGUMENTS_H

#include "../Rows/RowAddresses.h"
#include "RowLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace isobath::nvptx {

/// One chunk of a row in every thread.
struct Slot {
  mlir::Value column; // index: where it begins is this plus `offset`
  int64_t offset;
  mlir::Value inside; // i1: the thread is not beyond the end; null: none is
};

/// Neighbouring chunks of rows of one width: all, or a strip of them.
struct RowGroup {
  int64_t width;
  int64_t chunk; // elements
  llvm::SmallVector<Slot> slots;
};

/// A row, or a strip of one: a vector for each slot.
using Chunks = llvm::SmallVector<mlir::Value>;

class DeviceArguments : public rows::RowAddresses {
public:
  DeviceArguments(row::KernelOp kernel, mlir::gpu::GPUFuncOp function,
                  mlir::ImplicitLocOpBuilder &builder);

  /// The types of the function's parameters, as RowKernels.h says.
  static mlir::FunctionType getFunctionType(row::KernelOp kernel);
  /// Tells LLVM of the parameters that nothing is written through.
  static void addAttributes(row::KernelOp kernel,
                            mlir::gpu::GPUFuncOp function);

  mlir::Value getRows() const { return rowCount; }
  using RowAddresses::setPart;

  /// Loads or stores chunks of elements that begin at `address`.
  Chunks load(mlir::Value address, const RowGroup &group,
              mlir::Type elementType);
  void store(const Chunks &values, mlir::Value address, const RowGroup &group);
  /// Adds chunks to what is there.
  void addTo(const Chunks &values, mlir::Value address, const RowGroup &group);

private:
  mlir::Value getPlace(mlir::Value address, const Slot &slot,
                       mlir::Type elementType);
  void forEachInside(
      const Chunks &values, mlir::Value address, const RowGroup &group,
      llvm::function_ref<void(mlir::Value value, mlir::Value place)> visit);

  mlir::Value rowCount; // index
};

} // namespace isobath::nvptx

#endif // ISOBATH_LIB_TARGET_NVPTX_DEVICEARGUMENTS_H
