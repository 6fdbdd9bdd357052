//===- RoutingRemarks.h - What was shared and batched, and what not -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks of the passes of this folder. Each has the argument Sites, the names
// of the routes in question, and a Remark or a Reason that is true of them.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_ROUTING_ROUTINGREMARKS_H
#define ISOBATH_LIB_ROUTING_ROUTINGREMARKS_H

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Routing/Schedule.h"
#include "mlir/IR/Remarks.h"

namespace isobath::routing {

/// Reports what the pass `pass` does to `ops`, or does not do. The remark is
/// sent when the result goes out of scope.
class RoutingRemarks {
public:
  explicit constexpr RoutingRemarks(llvm::StringLiteral pass) : pass(pass) {}

  mlir::remark::detail::InFlightRemark
  passed(llvm::StringRef name, llvm::ArrayRef<mlir::Operation *> ops) const;
  mlir::remark::detail::InFlightRemark
  missed(llvm::StringRef name, llvm::ArrayRef<mlir::Operation *> ops) const;

  /// That `ops`, which do `what` to their sources, are batched.
  void batched(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef what,
               const RouteGroup &group, const Decision &decision) const;
  /// That they are not, by decision.
  void notBatched(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef what,
                  const RouteGroup &group, const Decision &decision) const;

private:
  mlir::remark::RemarkOpts getOptions(llvm::StringRef name,
                                      mlir::Operation *op) const;

  llvm::StringRef pass;
};

/// The ops of `range` as operations.
template <typename Range>
llvm::SmallVector<mlir::Operation *> asOperations(const Range &range) {
  return llvm::to_vector_of<mlir::Operation *>(range);
}

} // namespace isobath::routing

#endif // ISOBATH_LIB_ROUTING_ROUTINGREMARKS_H
