//===- ModelDescription.cpp - What follows from the fields ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on sizes, and names.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ModelDescription.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <limits>

using namespace isobath;

int64_t isobath::defaultHidden(int64_t width) {
  return static_cast<int64_t>(llvm::alignTo(8 * width / 3, 64));
}

std::string isobath::nameOfFile(llvm::StringRef path) {
  std::string name = llvm::json::fixUTF8(llvm::sys::path::stem(path));
  for (char &c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '_';
  return name.empty() || name.size() > 255 ? "model" : name;
}

int64_t isobath::countParameters(const ModelSection &model) {
  // Each factor is below 2^31 and there are few terms, so that 128 bits hold
  // every sum.
  using Wide = __int128;
  const ResidualSection &residual = model.residual;
  Wide width = model.width, hidden = model.hidden,
       headWidth = model.headWidth();
  bool routed = residual.kind != ResidualKind::standard;

  Wide sites = 2 * Wide(model.layers) + 1;
  Wide attention =
      2 * width * width + 2 * Wide(model.kvHeads) * headWidth * width;
  Wide norms = model.qkNorm ? 2 * headWidth : Wide(0);
  Wide layer = attention + 3 * width * hidden + norms;
  if (model.controls.extraVector)
    layer += width;
  if (routed && residual.routes.grouping == RoleGrouping::separate)
    layer += width; // the group k; q and v are counted below
  if (routed && residual.routes.grouping != RoleGrouping::tied &&
      residual.routes.value == RouteRule::learned)
    layer += width;

  // One norm, query and gain at each site.
  Wide perSite = width * (1 + routed + (routed && residual.keyGain));
  Wide embeddings = Wide(model.vocabulary) * width * (model.tiedHead ? 1 : 2);
  Wide total = embeddings + model.layers * layer + sites * perSite;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return total > most ? most : static_cast<int64_t>(total);
}
