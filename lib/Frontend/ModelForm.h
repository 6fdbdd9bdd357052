//===- ModelForm.h - Whether a module is a model --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_MODELFORM_H
#define ISOBATH_LIB_FRONTEND_MODELFORM_H

#include "mlir/IR/BuiltinOps.h"

namespace isobath {

/// Checks, with a diagnostic, that a verified module holds one function @model
/// of the form that BuildModel.h gives and nothing else.
llvm::LogicalResult verifyModelForm(mlir::ModuleOp module);

/// Checks, with a diagnostic, that no value of @model has more than 2^40
/// elements, so that sums of sizes in bytes stay below 2^63.
llvm::LogicalResult verifySizes(mlir::ModuleOp module);

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_MODELFORM_H
