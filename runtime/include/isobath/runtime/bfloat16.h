//===- bfloat16.h - Between bf16 and f32 ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bf16 is the upper half of an f32. Subnormals are numbers like others here.
// Everything is static: sources compiled for newer processors include this, and
// must not hand their code to the others.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_BFLOAT16_H
#define ISOBATH_RUNTIME_BFLOAT16_H

#include <stdint.h>
#include <string.h>

namespace isobath::runtime {

struct Bfloat16 {
  uint16_t bits;
};

static inline float toFloat(Bfloat16 value) {
  const uint32_t bits = uint32_t(value.bits) << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/// To nearest, ties to even; a NaN stays one.
static inline Bfloat16 toBfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const bool isNan = (bits & 0x7fffffff) > 0x7f800000;
  const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return {static_cast<uint16_t>((isNan ? bits | 0x400000 : rounded) >> 16)};
}

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_BFLOAT16_H
