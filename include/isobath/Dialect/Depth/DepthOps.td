//===- DepthOps.td - All operations of the depth dialect ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_DEPTHOPS_TD
#define ISOBATH_DIALECT_DEPTH_DEPTHOPS_TD

include "isobath/Dialect/Depth/DepthDialect.td"
include "isobath/Dialect/Depth/RouteOps.td"
include "isobath/Dialect/Depth/StaticReadOps.td"
include "isobath/Dialect/Depth/TwoPhaseOps.td"

#endif // ISOBATH_DIALECT_DEPTH_DEPTHOPS_TD
