//===- Tensors.cpp - A model's tensors in memory and in files -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins the manifest's layout to initial_values.h and safetensors.h.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/tensors.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/initial_values.h"
#include "isobath/runtime/safetensors.h"

#include <algorithm>
#include <cmath>

namespace isobath::runtime {

/// The elements of one parameter inside a contiguous buffer.
template <typename Real>
static std::span<Real> elementsOf(const Parameter &parameter,
                                  std::span<Real> buffer) {
  return buffer.subspan(parameter.offset, parameter.elements);
}

void initialiseParameters(const Manifest &manifest, std::uint64_t seed,
                          const Buffers &buffers) {
  withElementType(manifest.elementType, [&](auto zero) {
    using Real = decltype(zero);
    for (const Parameter &parameter : manifest.parameters)
      fillInitial(parameter.initial, seed,
                  elementsOf(parameter, buffers.write<Real>("parameters")));
  });
}

void readTensors(const std::filesystem::path &path, const Manifest &manifest,
                 const Buffers &buffers, const std::vector<TensorSet> &sets) {
  const SafetensorsFile file(path);
  std::vector<ExpectedTensor> expected;
  for (const TensorSet &set : sets)
    for (const Parameter &parameter : manifest.parameters)
      expected.push_back({parameter.name + set.suffix, parameter.shape});
  matchTensors(file, expected);
  withElementType(manifest.elementType, [&](auto zero) {
    using Real = decltype(zero);
    for (const TensorSet &set : sets)
      for (const Parameter &parameter : manifest.parameters) {
        const TensorEntry &entry = *file.find(parameter.name + set.suffix);
        if (bytesOf(entry.type) > sizeof(Real))
          fail(printable(path), ": tensor ", printable(entry.name), ": given ",
               nameOf(entry.type), ", expected F32 or BF16 for a model in f32");
        file.read(entry,
                  elementsOf(parameter, buffers.write<Real>(set.buffer)));
      }
  });
}

void writeTensors(const std::filesystem::path &path, const Manifest &manifest,
                  const Buffers &buffers, const std::vector<TensorSet> &sets) {
  std::vector<TensorToWrite> tensors;
  withElementType(manifest.elementType, [&](auto zero) {
    using Real = decltype(zero);
    for (const TensorSet &set : sets)
      for (const Parameter &parameter : manifest.parameters) {
        std::span<const Real> values =
            elementsOf(parameter, buffers.read<Real>(set.buffer));
        tensors.push_back(
            {parameter.name + set.suffix, parameter.shape,
             sizeof(Real) == 8 ? ElementType::f64 : ElementType::f32, values});
      }
  });
  writeSafetensors(path, std::move(tensors));
}

std::optional<std::string> firstNonFinite(const Manifest &manifest,
                                          const Buffers &buffers,
                                          const std::string &buffer) {
  return withElementType(
      manifest.elementType, [&](auto zero) -> std::optional<std::string> {
        using Real = decltype(zero);
        for (const Parameter &parameter : manifest.parameters) {
          std::span<const Real> values =
              elementsOf(parameter, buffers.read<Real>(buffer));
          if (!std::all_of(values.begin(), values.end(),
                           [](Real value) { return std::isfinite(value); }))
            return parameter.name;
        }
        return std::nullopt;
      });
}

} // namespace isobath::runtime
