//===- tensors.h - A model's tensors in memory and in files ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters, their gradients and the optimiser's moments are contiguous
// buffers with one layout, that of the manifest. Here they get their first
// values, are read from and written to weight files, and are searched for bad
// values.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_TENSORS_H
#define ISOBATH_RUNTIME_TENSORS_H

#include "isobath/runtime/buffers.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace isobath::runtime {

/// A contiguous buffer, and what follows the parameters' names when it is in a
/// file.
struct TensorSet {
  std::string buffer;
  std::string suffix;
};

/// The weights of a model.
inline const std::vector<TensorSet> weightTensors = {{"parameters", ""}};

/// The optimiser's state.
inline const std::vector<TensorSet> optimizerTensors = {
    {"first_moment", ".first_moment"}, {"second_moment", ".second_moment"}};

/// Fills the buffer `parameters` with the values that training starts from.
void initialiseParameters(const Manifest &manifest, std::uint64_t seed,
                          const Buffers &buffers);

/// Reads every tensor of every set from a weights file. One Error lists the
/// tensors that are missing, extra or of another shape; F64 tensors are refused
/// by an f32 model.
void readTensors(const std::filesystem::path &path, const Manifest &manifest,
                 const Buffers &buffers, const std::vector<TensorSet> &sets);

/// Writes them, atomically, in the model's element type.
void writeTensors(const std::filesystem::path &path, const Manifest &manifest,
                  const Buffers &buffers, const std::vector<TensorSet> &sets);

/// The first parameter, in the order of the manifest, whose tensor in `buffer`
/// holds a value that is not finite.
std::optional<std::string> firstNonFinite(const Manifest &manifest,
                                          const Buffers &buffers,
                                          const std::string &buffer);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_TENSORS_H
