//===- MeasureRoutes.h - How long the routes of a step take ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_MEASUREROUTES_H
#define ISOBATH_TOOLS_ISOBATH_MEASUREROUTES_H

#include "isobath/Driver/ExplainReport.h"
#include "isobath/runtime/unit.h"

namespace isobath {

/// Runs training steps of `unit`, which is the program of `report`, and times
/// the kernels that hold routes. The prediction is the time in which this
/// machine's memory moves their bytes; a model that fits its caches is faster.
ExplainReport::Measurement measureRoutes(const runtime::Unit &unit,
                                         const ExplainReport &report);

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_MEASUREROUTES_H
