//===- Gradients.cpp - Every parameter's gradient for one batch -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One call of the entry `gradient`. Values that are not finite are written as
// they are: whoever compares gradients wants to see them.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/gradients.h"

#include "isobath/runtime/evaluate.h"
#include "isobath/runtime/tensors.h"

namespace isobath::runtime {

GradientSummary writeGradients(const Unit &unit,
                               const std::filesystem::path &weights,
                               const std::filesystem::path &shard,
                               const std::filesystem::path &output) {
  const Manifest &manifest = unit.manifest();
  Buffers buffers;
  const Buffers::Call gradient = buffers.plan(unit.entry("gradient"));
  buffers.allocate();
  readTensors(weights, manifest, buffers, weightTensors);

  const std::uint64_t batch = gradient.signature().batch;
  const std::uint64_t tokens = batch * manifest.context;
  fillFirstBatch(Shard(shard, manifest.vocabulary), manifest.context,
                 buffers.write<std::int32_t>("tokens"),
                 buffers.write<std::int32_t>("targets"));
  withElementType(manifest.elementType, [&](auto zero) {
    using Real = decltype(zero);
    buffers.write<Real>("scale")[0] =
        static_cast<Real>(1 / static_cast<double>(tokens));
  });
  gradient.run();
  writeTensors(output, manifest, buffers, {{"gradients", ""}});
  return {sumLosses(unit, buffers, batch) / static_cast<double>(tokens),
          tokens};
}

} // namespace isobath::runtime
