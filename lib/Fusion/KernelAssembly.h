//===- KernelAssembly.h - Kernels put together from others ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FUSION_KERNELASSEMBLY_H
#define ISOBATH_LIB_FUSION_KERNELASSEMBLY_H

#include "isobath/Fusion/FuseKernels.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace isobath::fusion {

/// Sees to it that `stored`, which is no longer stored and loaded again, is
/// still rounded on its own if it is a product, and not together with a sum.
void keepRounding(mlir::Value stored);

/// The ops' names of both kernels, each once, in their order.
std::string joinNames(row::KernelOp first, row::KernelOp second);
/// The location with the names of both, `first_second`.
mlir::Location joinNames(mlir::Location first, mlir::Location second);

/// A kernel that is put together from others.
class KernelAssembly {
public:
  KernelAssembly(row::KernelOp model, llvm::StringRef name)
      : builder(model.getContext()),
        kernel(row::KernelOp::create(builder, model.getLoc(), name,
                                     mlir::TypeRange(), mlir::TypeRange())) {
    builder.setInsertionPoint(kernel.getBody()->getTerminator());
  }

  void addInput(mlir::BlockArgument model, mlir::IRMapping &mapping) {
    mapping.map(model, addArgument(model.getType(), model.getLoc()));
    ++inputCount;
  }
  mlir::Value addInput(mlir::Type type, mlir::Location loc) {
    ++inputCount;
    return addArgument(type, loc);
  }
  void addOutput(mlir::BlockArgument model, mlir::IRMapping &mapping) {
    mapping.map(model, addArgument(model.getType(), model.getLoc()));
  }
  mlir::Value addArgument(mlir::Type type, mlir::Location loc) {
    return kernel.getBody()->addArgument(type, loc);
  }

  /// Appends the body of `other`.
  void append(row::KernelOp other, mlir::IRMapping &mapping) {
    for (mlir::Operation &op : other.getBody()->without_terminator())
      builder.clone(op, mapping);
  }

  /// The kernel, tidied.
  row::KernelOp finish();

  mlir::OpBuilder builder;
  row::KernelOp kernel;

private:
  unsigned inputCount = 0;
};

} // namespace isobath::fusion

#endif // ISOBATH_LIB_FUSION_KERNELASSEMBLY_H
