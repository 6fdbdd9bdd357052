//===- LibraryCalls.h - Products and attention as library calls ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_HOST_LIBRARYCALLS_H
#define ISOBATH_LIB_TARGET_HOST_LIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace isobath::host {

/// Builds what calls the device for products, attention and token groups. A
/// call goes through a private function for its op, shapes and types, which
/// holds the sizes; calls of the same share one.
class LibraryCalls {
public:
  LibraryCalls(mlir::ModuleOp module, mlir::SymbolTable &symbols)
      : module(module), symbols(symbols) {}

  /// The call that computes the memrefs `results` of `op` from `operands`.
  /// Fails with a diagnostic if devices have no function for `op`.
  mlir::LogicalResult build(mlir::OpBuilder &builder, mlir::Operation *op,
                            mlir::ValueRange operands,
                            mlir::ValueRange results);

private:
  mlir::func::FuncOp getFunction(mlir::Operation *op, mlir::TypeRange buffers);

  mlir::ModuleOp module;
  mlir::SymbolTable &symbols;
  llvm::DenseMap<
      std::tuple<mlir::OperationName, mlir::DictionaryAttr, mlir::FunctionType>,
      mlir::func::FuncOp>
      functions;
};

} // namespace isobath::host

#endif // ISOBATH_LIB_TARGET_HOST_LIBRARYCALLS_H
