//===- ReferenceOpInterface.h - Ops with a lowering to plain loops ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_H
#define ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_H

#include "isobath/Target/Reference/LoopBuilder.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

#include "isobath/Target/Reference/ReferenceOpInterface.h.inc"

namespace isobath::reference {

/// Give the ops of each dialect their loops.
void registerNetLoops(mlir::DialectRegistry &registry);
void registerDepthLoops(mlir::DialectRegistry &registry);
void registerStaticReadLoops(mlir::DialectRegistry &registry);
void registerTwoPhaseLoops(mlir::DialectRegistry &registry);

/// Attaches `Build` to an op class as its ReferenceOpInterface.
template <typename OpTy,
          void (*Build)(OpTy, LoopBuilder &, llvm::ArrayRef<Buffer>,
                        llvm::ArrayRef<Buffer>)>
struct LoopModel
    : ReferenceOpInterface::ExternalModel<LoopModel<OpTy, Build>, OpTy> {
  void buildLoops(mlir::Operation *op, LoopBuilder &loops,
                  llvm::ArrayRef<Buffer> operands,
                  llvm::ArrayRef<Buffer> results) const {
    Build(llvm::cast<OpTy>(op), loops, operands, results);
  }
};

} // namespace isobath::reference

#endif // ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_H
