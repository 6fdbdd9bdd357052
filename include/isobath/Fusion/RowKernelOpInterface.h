//===- RowKernelOpInterface.h - Ops that run as a row kernel ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FUSION_ROWKERNELOPINTERFACE_H
#define ISOBATH_FUSION_ROWKERNELOPINTERFACE_H

#include "isobath/Fusion/RowBuilder.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

#include "isobath/Fusion/RowKernelOpInterface.h.inc"

namespace isobath::fusion {

/// Give the ops of each dialect their row kernels.
void registerNetRows(mlir::DialectRegistry &registry);
void registerDepthRows(mlir::DialectRegistry &registry);
void registerStaticReadRows(mlir::DialectRegistry &registry);
void registerDepthAdjointRows(mlir::DialectRegistry &registry);

/// Attaches `Build` to an op class as its RowKernelOpInterface.
template <typename OpTy, void (*Build)(OpTy, RowBuilder &)>
struct RowModel
    : RowKernelOpInterface::ExternalModel<RowModel<OpTy, Build>, OpTy> {
  void buildRowKernel(mlir::Operation *op, RowBuilder &rows) const {
    Build(llvm::cast<OpTy>(op), rows);
  }
};

} // namespace isobath::fusion

#endif // ISOBATH_FUSION_ROWKERNELOPINTERFACE_H
