//===- NetOps.td - All operations of the net dialect --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_NETOPS_TD
#define ISOBATH_DIALECT_NET_NETOPS_TD

include "isobath/Dialect/Net/NetDialect.td"
include "isobath/Dialect/Net/LayerOps.td"
include "isobath/Dialect/Net/ElementwiseOps.td"
include "isobath/Dialect/Net/OptimizerOps.td"
include "isobath/Dialect/Net/TokenOps.td"

#endif // ISOBATH_DIALECT_NET_NETOPS_TD
