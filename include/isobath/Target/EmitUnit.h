//===- EmitUnit.h - The compiled unit that a runtime loads --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_EMITUNIT_H
#define ISOBATH_TARGET_EMITUNIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace isobath {

/// What the manifest says about a module whose function `@model` describes a
/// program: its name, sizes, parameters and training settings. The keys are in
/// docs/manifest.md; `device`, `source` and `entries` are left to others. Fails
/// with a diagnostic if the module does not have that form.
mlir::FailureOr<llvm::json::Object> describeModel(mlir::ModuleOp module);

/// Turns the entries of `module`, public functions over buffers, into functions
/// with the interface of runtime/include/isobath/runtime/abi.h and adds the
/// global that holds them together with `manifest`, to which it adds the
/// entries, and with `deviceCode`, bytes that the entries' device knows.
mlir::LogicalResult emitUnit(mlir::ModuleOp module, llvm::json::Object manifest,
                             llvm::StringRef deviceCode = {});

} // namespace isobath

#endif // ISOBATH_TARGET_EMITUNIT_H
