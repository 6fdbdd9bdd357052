//===- gradients.h - Every parameter's gradient for one batch -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of `isobath grad`: what other implementations are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_GRADIENTS_H
#define ISOBATH_RUNTIME_GRADIENTS_H

#include "isobath/runtime/unit.h"

#include <cstdint>
#include <filesystem>

namespace isobath::runtime {

struct GradientSummary {
  double loss = 0; // mean cross-entropy over the batch
  std::uint64_t tokens = 0;
};

/// Reads weights, runs the entry `gradient` on the first B·T + 1 ids of a
/// shard, B being the entry's batch, and writes the gradients of the mean loss
/// under the parameters' names, in the model's element type.
GradientSummary writeGradients(const Unit &unit,
                               const std::filesystem::path &weights,
                               const std::filesystem::path &shard,
                               const std::filesystem::path &output);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_GRADIENTS_H
