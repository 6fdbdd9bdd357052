//===- RowEmitter.h - The code of a kernel on a GPU --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_NVPTX_ROWEMITTER_H
#define ISOBATH_LIB_TARGET_NVPTX_ROWEMITTER_H

#include "../Rows/KernelSchedule.h"
#include "DeviceArguments.h"
#include "RowThreads.h"
#include "ScalarCopies.h"
#include "mlir/IR/IRMapping.h"

namespace isobath::nvptx {

/// What the code of a kernel is made of, at the builder's place.
struct KernelCode {
  const RowLayout &layout;
  mlir::ImplicitLocOpBuilder &builder;
  DeviceArguments &arguments;
  RowThreads &threads;
  ScalarCopies &copies;
};

/// What both forms of code have in common. A kernel's scalars are scalars of
/// every thread.
class RowEmitter {
public:
  explicit RowEmitter(const KernelCode &code)
      : layout(code.layout), builder(code.builder), arguments(code.arguments),
        threads(code.threads), copies(code.copies) {}
  virtual ~RowEmitter() = default;

  /// Sets to zero what this row's threads will add to `sum`.
  void clear(mlir::Value sum);

protected:
  /// The scalar of the code.
  virtual mlir::Value lookup(mlir::Value scalar) {
    return scalars.lookup(scalar);
  }
  mlir::Value lookupOrNull(mlir::Value scalar) {
    return scalar ? lookup(scalar) : mlir::Value();
  }

  void emitScalar(mlir::Operation *op);
  /// What `op`, which is no loop, makes for the columns of `group`; `rows` are
  /// its operands.
  Chunks compute(mlir::Operation *op, const RowGroup &group,
                 llvm::function_ref<Chunks(mlir::Value)> rows);
  void store(row::StoreOp store, const Chunks &values, const RowGroup &group);
  void accumulate(row::AccumulateOp accumulate, const Chunks &values,
                  const RowGroup &group);

  /// The slots that begin with chunk number `first` (index, a multiple of the
  /// row's threads; null: 0), for `count` chunks.
  RowGroup createGroup(int64_t width, mlir::Value first, int64_t count);

  /// Accumulators of a thread for a reduction of rows of this width: vectors of
  /// a chunk, with four numbers or more in all. Null until something is added.
  Chunks createSums(int64_t width);
  /// The same, with what changes nothing.
  Chunks createNeutralSums(mlir::vector::ReductionOp reduction);
  /// Adds the slots of a row that is reduced to them, in turn.
  void addSlots(mlir::vector::ReductionOp reduction, const Chunks &values,
                const RowGroup &group, Chunks &sums);
  /// What these leave a thread with.
  ThreadValue combineSums(mlir::vector::ReductionOp reduction, Chunks sums);

  mlir::Value index(int64_t value) { return arguments.constant(value); }

  const RowLayout &layout;
  mlir::ImplicitLocOpBuilder &builder;
  DeviceArguments &arguments;
  RowThreads &threads;
  ScalarCopies &copies;
  mlir::IRMapping scalars; // kernel's to the code's

private:
  Chunks computeElementwise(mlir::Operation *op, const RowGroup &group,
                            llvm::function_ref<Chunks(mlir::Value)> rows);
  Chunks computeSteps(const RowGroup &group, mlir::VectorType type);
  Chunks computeSpread(row::SpreadOp spread, const RowGroup &group,
                       mlir::VectorType type);
  void storeScalar(row::StoreScalarOp store);
};

/// Emits the code of one row, at the builder's place, which is in a loop over
/// rows if it is repeated.
void emitInRegisters(const KernelCode &code, mlir::Block &block,
                     bool isRepeated);
void emitInStrips(const KernelCode &code, const rows::KernelSchedule &schedule,
                  mlir::Block &block, bool isRepeated);

/// Moves reductions that do not depend on each other together, and what they
/// need with them, so that they have their barriers in common.
void gatherReductions(row::KernelOp kernel);

/// Adds the second stage of `type` to the module, if it has none yet.
void addSumKernel(mlir::gpu::GPUModuleOp module, row::SumType type);

/// Patterns for f32: exp, reciprocals and the like with the instructions that
/// the GPU has for them, functions that it has none for as polynomials.
void populateDeviceMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace isobath::nvptx

#endif // ISOBATH_LIB_TARGET_NVPTX_ROWEMITTER_H
