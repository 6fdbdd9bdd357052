//===- Passes.h - Where everything lives --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_PLANNING_PASSES_H
#define ISOBATH_PLANNING_PASSES_H

#include "isobath/Dialect/Net/NetDialect.h"
#include "mlir/Pass/Pass.h"

namespace isobath {

/// Of an op of a planned entry: the buffers that it is the first to use, as
/// pairs of offset in the arena and bytes. See isobath-plan-memory.
inline constexpr llvm::StringLiteral beginsAttrName = "isobath.begins";

#define GEN_PASS_DECL
#include "isobath/Planning/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "isobath/Planning/Passes.h.inc"

} // namespace isobath

#endif // ISOBATH_PLANNING_PASSES_H
