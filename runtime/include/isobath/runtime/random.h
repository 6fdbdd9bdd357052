//===- random.h - Counter-based random numbers ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every random number is a pure function of (seed, name, index): there is no
// generator whose state could be lost, shared or advanced in another order. The
// function is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", 2011):
//
//     key     = seed                          low word first
//     counter = index / 2, hashName(name)     low words first
//     block   = philox(counter, key)          4 words: a, b, c, d
//
// One block makes two 64-bit words (a + b·2³², c + d·2³²), numbers 2j and 2j+1
// of a name. The 53 high bits of a word make a uniform number.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_RANDOM_H
#define ISOBATH_RUNTIME_RANDOM_H

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace isobath::runtime {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Philox4x32 with 10 rounds.
PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// 64-bit FNV-1a of the bytes of `name`.
std::uint64_t hashName(std::string_view name);

/// Uniform in [0, 1), a multiple of 2⁻⁵³.
double uniformNumber(std::uint64_t seed, std::string_view name,
                     std::uint64_t index);

/// values[i] = std · z_i, where z_i is standard normal and a function of
/// (seed, name, i) alone: Box–Muller in f64 on the uniform numbers (u, v) of
/// i's block, r = sqrt(−2 ln(1 − u)), z_{2j} = r cos 2πv, z_{2j+1} = r sin 2πv.
/// The float values are the double ones rounded. The bits depend on the C
/// library's log, sin and cos.
void fillNormal(std::uint64_t seed, std::string_view name, double std,
                std::span<float> values);
void fillNormal(std::uint64_t seed, std::string_view name, double std,
                std::span<double> values);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_RANDOM_H
