//===- CountRoutes.cpp - A pass that comes as a plugin --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What somebody else's pass over our dialects looks like: it includes headers
// and links nothing. The tool that loads it has the symbols, of MLIR as well as
// of Isobath.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;
using namespace isobath;

namespace {
struct CountRoutes : PassWrapper<CountRoutes, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountRoutes)

  StringRef getArgument() const override { return "count-routes"; }
  StringRef getDescription() const override {
    return "Report how many routes a function has, and how many queries";
  }

  void runOnOperation() override {
    int64_t routes = 0, queries = 0;
    getOperation().walk([&](depth::RouteOp route) {
      ++routes;
      queries += route.getQueries().size();
    });
    getOperation().emitRemark()
        << routes << " routes with " << queries << " queries";
    markAllAnalysesPreserved();
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountRoutes", LLVM_VERSION_STRING,
          [] { PassRegistration<CountRoutes>(); }};
}
