//===- KernelSchedule.h - In which order the parts of a kernel run -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row does not fit into registers, so a kernel's operations on rows are done
// strip by strip. Rows are therefore expressions: what computes them is
// evaluated for a strip where a *sink* consumes it, and again where another one
// does. Sinks are stores, accumulations and reductions, and loops that hand
// rows on.
//
// A reduction needs a whole walk over the strips, and what depends on its
// result can only start after it. Hence *phases*: the phase of an operation is
// the number of such walks that it has to wait for. All sinks of one phase and
// width share one walk, a *pass*.
//
// A loop over sources is of one of two kinds. One that carries rows, and
// neither reduces nor stores, is an expression like any other: it runs inside
// the strip, and its sums stay in registers. Its rows are kept in a buffer if
// several passes need them. Every other loop runs by itself, its body is
// scheduled like a kernel, and rows that it carries lie in buffers.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_ROWS_KERNELSCHEDULE_H
#define ISOBATH_LIB_TARGET_ROWS_KERNELSCHEDULE_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace isobath::rows {

/// Whether a value is a row, as opposed to a scalar.
bool isRow(mlir::Value value);

/// The elements of a row.
int64_t getWidth(mlir::Value row);

/// Calls `visit` for every value from outside of `op` that `op` or an operation
/// in it uses.
void forEachInput(mlir::Operation *op,
                  llvm::function_ref<void(mlir::Value)> visit);

/// The rows that a sink (see the top of this file) consumes. Those of a loop
/// that is kept in buffers are its results.
llvm::SmallVector<mlir::Value> getConsumedRows(mlir::Operation *sink);

class KernelSchedule {
public:
  /// Fails, with a diagnostic, for a kernel that cannot be ordered.
  static mlir::FailureOr<KernelSchedule> get(row::KernelOp kernel);

  /// One walk over the strips of a row, for all these sinks.
  struct Pass {
    int64_t width;
    llvm::SmallVector<mlir::Operation *> sinks;
  };
  /// First the scalars, then the loops, then the passes.
  struct Phase {
    llvm::SmallVector<mlir::Operation *> scalars;
    llvm::SmallVector<mlir::scf::ForOp> loops;
    llvm::SmallVector<Pass, 1> passes;
  };

  /// The phases of the kernel's block, or of the body of a loop that runs.
  llvm::ArrayRef<Phase> getPhases(mlir::Block &block) const {
    return phases.find(&block)->second;
  }

  /// Whether a loop is an expression: it is not run by itself but evaluated,
  /// strip by strip, where its rows are consumed.
  bool isExpression(mlir::scf::ForOp loop) const {
    return expressions.contains(loop);
  }

private:
  class BlockScheduler;

  void findExpressions(row::KernelOp kernel);
  void findBuffered(row::KernelOp kernel);
  mlir::LogicalResult schedule(mlir::Block &block);

  llvm::DenseSet<mlir::Operation *> expressions;
  llvm::DenseSet<mlir::Operation *> buffered; // expressions for loops
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<Phase>> phases;
};

} // namespace isobath::rows

#endif // ISOBATH_LIB_TARGET_ROWS_KERNELSCHEDULE_H
