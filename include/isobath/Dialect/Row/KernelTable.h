//===- KernelTable.h - Kernels that compute the same are one -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the same kind and shapes become the same kernel. Whoever builds a
// kernel builds it anew and asks the table, which keeps one of each, so that
// the code of a model does not grow with its depth.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_KERNELTABLE_H
#define ISOBATH_DIALECT_ROW_KERNELTABLE_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace isobath::row {

/// Whether two kernels differ in nothing but their names and locations.
bool haveSameContent(KernelOp left, KernelOp right);

/// Equal for kernels of the same content.
llvm::hash_code hashContent(KernelOp kernel);

/// The kernels of a module, with each content once.
class KernelTable {
public:
  /// Starts with the kernels that `module` has already.
  explicit KernelTable(mlir::ModuleOp module);

  /// The kernel with the content of `kernel`, which must stand outside of all
  /// modules or at the top of this one: `kernel` itself, at the end of the
  /// module and under a name of its own that starts with the one it has; or an
  /// older one, and `kernel` is erased.
  KernelOp getOrInsert(KernelOp kernel);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::DenseMap<size_t, llvm::SmallVector<KernelOp, 1>> kernels; // by hash
};

} // namespace isobath::row

#endif // ISOBATH_DIALECT_ROW_KERNELTABLE_H
