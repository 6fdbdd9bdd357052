//===- LaunchLowering.h - From launches to calls of the runtime --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_CPU_LAUNCHLOWERING_H
#define ISOBATH_LIB_TARGET_CPU_LAUNCHLOWERING_H

#include "isobath/Dialect/Row/KernelTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace isobath::cpu {

/// Lowers the launches of a module to calls of isobath_cpu_launch.
class LaunchLowering {
public:
  explicit LaunchLowering(mlir::ModuleOp module);

  /// Adds the launches that add up partial sums of `launch`, with the kernels
  /// for them.
  mlir::LogicalResult finishSums(row::LaunchOp launch);

  /// The function that `kernel` was compiled to.
  void setFunction(row::KernelOp kernel, mlir::func::FuncOp function) {
    compiled[kernel.getSymName()] = {kernel, function};
  }
  /// Its type.
  static mlir::FunctionType getKernelType(mlir::MLIRContext *context);

  /// Replaces `launch`, whose kernel has a function.
  void lower(row::LaunchOp launch);

private:
  mlir::Value getAddress(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value memref);
  mlir::Value getWords(row::LaunchOp launch, int64_t count);
  mlir::func::FuncOp getRuntimeFunction();

  mlir::ModuleOp module;
  row::KernelTable kernels;
  /// By name, which a kernel and its function share for a while.
  llvm::StringMap<std::pair<row::KernelOp, mlir::func::FuncOp>> compiled;
  llvm::DenseMap<mlir::Operation *, mlir::LLVM::AllocaOp> wordsOf;
};

} // namespace isobath::cpu

#endif // ISOBATH_LIB_TARGET_CPU_LAUNCHLOWERING_H
