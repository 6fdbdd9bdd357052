//===- Passes.h - Changes to a model before it is differentiated ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_PASSES_H
#define ISOBATH_FRONTEND_PASSES_H

#include "mlir/Pass/Pass.h"

namespace isobath {

#define GEN_PASS_DECL
#include "isobath/Frontend/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "isobath/Frontend/Passes.h.inc"

} // namespace isobath

#endif // ISOBATH_FRONTEND_PASSES_H
