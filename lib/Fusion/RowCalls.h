//===- RowCalls.h - Calls of row kernels in straight-line code -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FUSION_ROWCALLS_H
#define ISOBATH_LIB_FUSION_ROWCALLS_H

#include "isobath/Fusion/FuseKernels.h"
#include "llvm/ADT/BitVector.h"

namespace isobath::fusion {

/// Tensors for the arguments of a kernel: one, or those of a list.
using Groups = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

/// A kernel made in a step, and which of the arguments in question it has.
struct BuiltKernel {
  row::KernelOp kernel;
  llvm::BitVector inputs, outputs;
};

/// `kernel`, which has all of them.
BuiltKernel withAllArguments(row::KernelOp kernel);
/// `kernel` without the outputs that are not `needed`.
BuiltKernel prunedTo(row::KernelOp kernel, llvm::BitVector needed);

Groups copyInputs(row::CallOp call);
Groups copyOutputs(row::CallOp call);

/// A call of `built` in front of `place`, with those of `inputs` that it has,
/// whose results replace those of `outputs` that it has. Stands for the calls
/// `instead`.
row::CallOp createCall(mlir::Operation *place, const BuiltKernel &built,
                       const Groups &inputs, const Groups &outputs,
                       llvm::ArrayRef<row::CallOp> instead);

/// The ops after `first` and before `last` that need a result of `first`,
/// directly or not, in their order.
llvm::SmallVector<mlir::Operation *> findBetween(mlir::Operation *first,
                                                 mlir::Operation *last);

/// Whether `op` has a result of one of `definers` as operand.
bool needsAny(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> definers);

/// Bits for the outputs of `call` with a use that is not one of `consumer`'s.
llvm::BitVector findNeeded(row::CallOp call,
                           mlir::Operation *consumer = nullptr);

/// The input of the kernel that `use` by `call` is an operand for.
unsigned findInput(row::CallOp call, mlir::OpOperand &use);
/// The output of the kernel that `result` of `call` belongs to.
unsigned findOutput(row::CallOp call, mlir::Value result);

/// The calls of one kernel that each take one matrix of `list` as their input
/// `input`; none if they do not exist, or need what is computed after `place`.
llvm::SmallVector<row::CallOp>
findElementConsumers(mlir::ResultRange list, mlir::Operation *place,
                     llvm::ArrayRef<row::CallOp> calls, unsigned &input);

} // namespace isobath::fusion

#endif // ISOBATH_LIB_FUSION_ROWCALLS_H
