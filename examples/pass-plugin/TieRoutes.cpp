//===- TieRoutes.cpp - A pass that comes as a plugin ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All role groups of a site read the depths that its first group reads: what is
// a model worth without the freedom of its values to read others? A query is an
// operand, so that this is one assignment; derivative, sharing and kernels
// follow from it.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;
using namespace isobath;

namespace {
struct TieRoutes : PassWrapper<TieRoutes, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TieRoutes)

  StringRef getArgument() const override { return "tie-routes"; }
  StringRef getDescription() const override {
    return "Let all role groups of a route read with its first query";
  }

  void runOnOperation() override {
    // An adjoint belongs to the route as it was.
    WalkResult adjoints =
        getOperation().walk([](depth::RouteAdjointLocalOp op) {
          op.emitOpError() << "expected a model without derivatives";
          return WalkResult::interrupt();
        });
    if (adjoints.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](depth::RouteOp route) {
      SmallVector<Value> queries(route.getQueries().size(),
                                 route.getQueries().front());
      route.getQueriesMutable().assign(queries);
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TieRoutes", LLVM_VERSION_STRING,
          [] { PassRegistration<TieRoutes>(); }};
}
