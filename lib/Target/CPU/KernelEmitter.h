//===- KernelEmitter.h - The code of a kernel --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_CPU_KERNELEMITTER_H
#define ISOBATH_LIB_TARGET_CPU_KERNELEMITTER_H

#include "../Rows/KernelSchedule.h"
#include "KernelArguments.h"
#include "mlir/IR/IRMapping.h"

namespace isobath::cpu {

/// Builds the code of one row, at the builder's place.
class KernelEmitter {
public:
  /// Buffers are allocated in front of `prologueEnd`.
  KernelEmitter(const rows::KernelSchedule &schedule,
                mlir::ImplicitLocOpBuilder &builder, KernelArguments &arguments,
                mlir::Operation *prologueEnd)
      : schedule(schedule), builder(builder), arguments(arguments),
        prologueEnd(prologueEnd) {}

  /// The phases of a block, one after the other.
  void emitBlock(mlir::Block &block);

private:
  friend class StripEvaluator;

  //===--------------------------------------------------------------------===//
  // Scalars and loops
  //===--------------------------------------------------------------------===//

  void emitScalar(mlir::Operation *op);
  mlir::Value extract(mlir::Value row, int64_t column);
  void startCarriedRows(mlir::scf::ForOp loop);
  void emitLoop(mlir::scf::ForOp loop);
  mlir::Value index(int64_t value);

  //===--------------------------------------------------------------------===//
  // Passes over the strips of a row
  //===--------------------------------------------------------------------===//

  /// Runs `body` for all strips of rows of `width`, in groups; what it carries
  /// from group to group starts as `carried` and is returned.
  llvm::SmallVector<mlir::Value>
  forEachGroup(int64_t width, mlir::ValueRange carried,
               llvm::function_ref<void(const StripGroup &,
                                       llvm::MutableArrayRef<mlir::Value>)>
                   body);
  void emitPass(const rows::KernelSchedule::Pass &pass);
  /// Computes the addresses of loads and stores in front of a pass, as far as
  /// they are the same for all its strips.
  void prepareAddresses(const rows::KernelSchedule::Pass &pass);
  void prepareLoads(mlir::Value row);
  mlir::Value createAddress(mlir::Operation *access);
  mlir::Value getAddress(mlir::Operation *access);
  /// Adds to `loaded` the lists that are loaded from.
  void emitGroup(const rows::KernelSchedule::Pass &pass,
                 const StripGroup &group,
                 llvm::MutableArrayRef<mlir::Value> accumulators,
                 llvm::DenseSet<mlir::Value> &loaded);
  void consume(mlir::Operation *sink, int64_t width, const StripGroup &group,
               llvm::ArrayRef<Strips> rows);
  /// The buffer of a row that a loop hands on, allocated when it is first asked
  /// for.
  mlir::Value getBuffer(mlir::Value row);

  const rows::KernelSchedule &schedule;
  mlir::ImplicitLocOpBuilder &builder;
  KernelArguments &arguments;
  mlir::Operation *prologueEnd;
  mlir::IRMapping scalars; // kernel's scalars to the code's
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;         // of rows
  llvm::DenseMap<mlir::Operation *, mlir::Value> addresses; // in this pass
  llvm::DenseSet<mlir::Value> cached; // lists that an earlier pass has read
  llvm::DenseSet<mlir::Value> filled; // rows that are to be read from buffers
};

/// Evaluates rows for one group of strips.
class StripEvaluator {
public:
  StripEvaluator(KernelEmitter &emitter, const StripGroup &group)
      : emitter(emitter), builder(emitter.builder), group(group) {}

  Strips evaluate(mlir::Value row);
  /// The lists that were loaded from.
  const llvm::DenseSet<mlir::Value> &getLoaded() const { return loaded; }

private:
  Strips compute(mlir::Value row);
  Strips loadRow(row::LoadOp load);
  Strips computeElementwise(mlir::Operation *op);
  Strips computeSteps(mlir::VectorType type);
  Strips computeSpread(row::SpreadOp spread, mlir::VectorType type);
  void runLoop(mlir::scf::ForOp loop);
  void evaluateInputs(mlir::scf::ForOp loop);
  llvm::SmallVector<mlir::Value> runIteration(mlir::scf::ForOp loop,
                                              mlir::Value position,
                                              mlir::ValueRange carried);
  Strips repeat(mlir::Value value) { return Strips(group.lanes.size(), value); }

  KernelEmitter &emitter;
  mlir::ImplicitLocOpBuilder &builder;
  const StripGroup &group;
  llvm::DenseMap<mlir::Value, Strips> known;
  llvm::DenseSet<mlir::Value> loaded;
};

/// Patterns for f32: roundings to bf16 and back become integer operations, and
/// functions like exp polynomials.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace isobath::cpu

#endif // ISOBATH_LIB_TARGET_CPU_KERNELEMITTER_H
