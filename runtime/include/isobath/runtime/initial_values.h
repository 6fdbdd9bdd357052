//===- initial_values.h - What a parameter holds before training ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kinds are those of `parameters.tensors[].initial` in docs/manifest.md.
// Which tensor gets which is the compiler's choice.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_INITIAL_VALUES_H
#define ISOBATH_RUNTIME_INITIAL_VALUES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace isobath::runtime {

struct InitialValues {
  enum class Kind { zeros, ones, normal };

  Kind kind = Kind::zeros;
  double std = 0;  // of a normal tensor
  std::string key; // names the random numbers of a normal tensor
};

/// The kind called `zeros`, `ones` or `normal`; an Error otherwise.
InitialValues::Kind parseInitialKind(std::string_view name);

/// Fills one tensor, in row-major order.
void fillInitial(const InitialValues &initial, std::uint64_t seed,
                 std::span<float> values);
void fillInitial(const InitialValues &initial, std::uint64_t seed,
                 std::span<double> values);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_INITIAL_VALUES_H
