//===- SiteLocations.cpp - Which routes an op came from -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Routing/SiteLocations.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace isobath;

/// The site that `op` reads at, or an empty name.
static StringRef findSite(func::FuncOp model, Operation *op) {
  if (auto route = dyn_cast<depth::RouteOp>(op))
    return route.getSite().value_or(namelessRoute);
  if (auto read = dyn_cast<depth::FixedReadOp>(op))
    return read.getSite().value_or(namelessFixedRead);
  if (auto read = dyn_cast<depth::StaticReadOp>(op))
    return read.getSite().value_or(namelessStaticRead);
  auto norm = dyn_cast<net::RMSNormOp>(op);
  if (!norm ||
      isa_and_nonnull<depth::RouteOp, depth::FixedReadOp, depth::StaticReadOp>(
          norm.getInput().getDefiningOp()))
    return "";
  StringRef name = net::getParameterName(model, norm.getWeight());
  return name.consume_back(".norm.weight") ? name : "";
}

void isobath::locateSites(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("model");
  Location unknown = UnknownLoc::get(module.getContext());
  model.walk([&](Operation *op) {
    StringRef site = findSite(model, op);
    op->setLoc(site.empty()
                   ? unknown
                   : NameLoc::get(StringAttr::get(module.getContext(), site)));
  });
}

SmallVector<StringRef> isobath::getSites(Location location) {
  SmallVector<StringRef> sites;
  location->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (name && !llvm::is_contained(sites, name.getName().getValue()))
      sites.push_back(name.getName().getValue());
    return WalkResult::advance();
  });
  return sites;
}
