//===- InitialValues.cpp - What a parameter holds before training ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tensor at a time; which values it gets is written in its InitialValues.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/initial_values.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/random.h"

#include <algorithm>

namespace isobath::runtime {

using Kind = InitialValues::Kind;

Kind parseInitialKind(std::string_view name) {
  if (name == "zeros")
    return Kind::zeros;
  if (name == "ones")
    return Kind::ones;
  if (name == "normal")
    return Kind::normal;
  fail("initial values: kind: given '", printable(name),
       "', expected zeros, ones or normal");
}

template <typename Value>
static void fillInitialOf(const InitialValues &initial, std::uint64_t seed,
                          std::span<Value> values) {
  switch (initial.kind) {
  case Kind::zeros:
    std::ranges::fill(values, Value(0));
    return;
  case Kind::ones:
    std::ranges::fill(values, Value(1));
    return;
  case Kind::normal:
    fillNormal(seed, initial.key, initial.std, values);
    return;
  }
}

void fillInitial(const InitialValues &initial, std::uint64_t seed,
                 std::span<float> values) {
  fillInitialOf(initial, seed, values);
}

void fillInitial(const InitialValues &initial, std::uint64_t seed,
                 std::span<double> values) {
  fillInitialOf(initial, seed, values);
}

} // namespace isobath::runtime
