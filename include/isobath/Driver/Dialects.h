//===- Dialects.h - The dialects and passes that Isobath's tools know ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_DIALECTS_H
#define ISOBATH_DRIVER_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace isobath {

/// Registers our dialects with their reference lowerings, and the upstream
/// dialects that our pipelines produce, with their translations to LLVM IR.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers our passes and the upstream passes that our pipelines use.
void registerPasses();

} // namespace isobath

#endif // ISOBATH_DRIVER_DIALECTS_H
