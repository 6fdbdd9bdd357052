//===- DeviceCalls.h - Calls of a unit's device ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime's device_calls.h declares, as calls in the IR of an entry.
// Each is built here or with CallBuilder, on every target in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_HOST_DEVICECALLS_H
#define ISOBATH_LIB_TARGET_HOST_DEVICECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace isobath::host {

/// The address of a memref's first element, as an i64.
mlir::Value getAddress(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memref);

/// The arguments of one call of a C function, in order, after the device.
class CallBuilder {
public:
  CallBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::SymbolTable &symbols);

  CallBuilder &pointer(mlir::Value memref);
  CallBuilder &value(mlir::Value argument) {
    arguments.push_back(argument);
    return *this;
  }
  CallBuilder &size(int64_t value) { return constant(value, 64); }
  CallBuilder &number(int64_t value) { return constant(value, 32); }
  /// An IsobathElementType.
  CallBuilder &type(mlir::Value memref) {
    return number(getTypeCode(llvm::cast<mlir::MemRefType>(memref.getType())));
  }

  /// Builds the call, and declares the function where that is not done yet.
  void call(llvm::StringRef name);

  static int32_t getTypeCode(mlir::MemRefType type);

private:
  CallBuilder &constant(int64_t value, unsigned width);
  mlir::Value getDevice();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::SymbolTable &symbols;
  llvm::SmallVector<mlir::Value> arguments;
};

/// Replaces each `memref.copy` of contiguous memrefs in the functions of
/// `module` by a call of the device: of a `memref.get_global` an upload.
void lowerCopies(mlir::ModuleOp module, mlir::SymbolTable &symbols);

} // namespace isobath::host

#endif // ISOBATH_LIB_TARGET_HOST_DEVICECALLS_H
