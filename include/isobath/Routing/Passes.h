//===- Passes.h - What each route reads, and when -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_ROUTING_PASSES_H
#define ISOBATH_ROUTING_PASSES_H

#include "isobath/Routing/Schedule.h"
#include "mlir/Pass/Pass.h"

namespace isobath {

#define GEN_PASS_DECL
#include "isobath/Routing/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "isobath/Routing/Passes.h.inc"

} // namespace isobath

#endif // ISOBATH_ROUTING_PASSES_H
