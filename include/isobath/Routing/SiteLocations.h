//===- SiteLocations.h - Which routes an op came from ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A route's adjoints, its halves in two phases and the kernels that hold them
// have its location, joined with those of what they are fused with. So reports
// can say of every kernel call whose it is, and no pass needs to know of that.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_ROUTING_SITELOCATIONS_H
#define ISOBATH_ROUTING_SITELOCATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace isobath {

/// The names of reads that have none, as in a CheckReport.
inline constexpr llvm::StringLiteral namelessRoute = "route without a site";
inline constexpr llvm::StringLiteral namelessFixedRead =
    "fixed read without a site";
inline constexpr llvm::StringLiteral namelessStaticRead =
    "static read without a site";

/// Makes its site the location of every read in the function `@model` of
/// `module`, and of every norm at the head of a sublayer without one,
/// `NAME.norm.weight` being its weight. All other ops lose theirs.
void locateSites(mlir::ModuleOp module);

/// The sites in `location`.
llvm::SmallVector<llvm::StringRef> getSites(mlir::Location location);

} // namespace isobath

#endif // ISOBATH_ROUTING_SITELOCATIONS_H
