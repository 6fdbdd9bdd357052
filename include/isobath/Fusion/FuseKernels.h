//===- FuseKernels.h - Two row kernels as one ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `isobath-fuse-rows` does to kernels, apart from which calls it does it
// to. Each function builds a new kernel that stands in no module and leaves the
// given ones alone. Nothing is computed in another order than before.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FUSION_FUSEKERNELS_H
#define ISOBATH_FUSION_FUSEKERNELS_H

#include "isobath/Dialect/Row/RowOps.h"
#include "llvm/ADT/BitVector.h"

namespace isobath::fusion {

/// Puts constants first and computes nothing twice or for nobody.
void tidyKernel(row::KernelOp kernel);

/// The name of `kernel` without the number that makes it a symbol of its own.
llvm::StringRef getStem(row::KernelOp kernel);

/// Where each input of a consumer comes from.
struct InputSource {
  enum Kind {
    Own,           // from elsewhere: an input of the fused kernel
    ProducerInput, // the same tensors as this input of the producer
    ProducerOutput // what the producer stores there
  } kind = Own;
  unsigned position = 0;

  bool operator==(const InputSource &other) const {
    return kind == other.kind && position == other.position;
  }
};

/// Whether input `input` of `consumer` can be taken from output `output` of
/// `producer` in the same row: a matrix whose row is stored whole and once, of
/// which the consumer reads only the current row, or scalars of which it reads
/// only those of the current row.
bool canForward(row::KernelOp producer, unsigned output, row::KernelOp consumer,
                unsigned input);

/// First `producer`, then `consumer`, with stored rows in place of loads.
/// Inputs are those of the producer, then the consumer's own; outputs all of
/// the producer's, then all of the consumer's.
row::KernelOp fuseKernels(row::KernelOp producer, row::KernelOp consumer,
                          llvm::ArrayRef<InputSource> sources);

/// `kernel` without the outputs that are not `needed`, unless it reads them
/// back, and without the inputs that are then not read. Both are given as bits,
/// and reset in `needed` and `read` where the new kernel has no such argument.
row::KernelOp pruneKernel(row::KernelOp kernel, llvm::BitVector &needed,
                          llvm::BitVector &read);

/// Whether `kernel` works on matrices alone, reads only the current row, each
/// input once and whole, and has no loops: then it can be run on each matrix of
/// a list.
bool isElementOfList(row::KernelOp kernel);

/// Whether `kernel` stores one row at a time, whole, to the list `output`.
bool storesWholeRows(row::KernelOp kernel, unsigned output);

/// `producer`, and then for each row that it stores to the list `output`,
/// `consumer`, which takes that row as input `input`. Inputs are those of the
/// producer, then one list for each other input of the consumer; outputs are
/// those of the producer but `output`, then one list for each output of the
/// consumer.
row::KernelOp fuseIntoList(row::KernelOp producer, unsigned output,
                           row::KernelOp consumer, unsigned input);

/// Whether all that `kernel` does is to store the sum of its inputs, matrices.
bool isSumOfInputs(row::KernelOp kernel);

/// `kernel`, with what it accumulates in the sum `from` accumulated in `into`.
row::KernelOp mergeSums(row::KernelOp kernel, unsigned into, unsigned from);

} // namespace isobath::fusion

#endif // ISOBATH_FUSION_FUSEKERNELS_H
