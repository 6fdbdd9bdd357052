//===- Vectors.h - Sixteen numbers at a time ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of 16 f32, which the compiler cuts into what the processor has, so
// that sums are in the same order on all of them. Everything is static, for the
// reason in bfloat16.h.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DEVICE_CPU_VECTORS_H
#define ISOBATH_DEVICE_CPU_VECTORS_H

#include "isobath/runtime/bfloat16.h"

#include <stdint.h>
#include <string.h>

#define ISOBATH_INLINE static inline __attribute__((always_inline))

namespace isobath::runtime {

static constexpr int64_t lanes = 16;

typedef float Vector __attribute__((vector_size(64)));
typedef int32_t Integers __attribute__((vector_size(64)));
typedef uint32_t Words __attribute__((vector_size(64)));
typedef uint16_t Halves __attribute__((vector_size(32)));

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ISOBATH_INLINE Vector splat(float value) { return value - Vector{}; }

ISOBATH_INLINE Vector load(const float *from) {
  Vector result;
  memcpy(&result, from, sizeof result);
  return result;
}

ISOBATH_INLINE Vector load(const Bfloat16 *from) {
  Halves halves;
  memcpy(&halves, from, sizeof halves);
  return (Vector)(__builtin_convertvector(halves, Words) << 16);
}

ISOBATH_INLINE void store(float *to, Vector value) {
  memcpy(to, &value, sizeof value);
}

/// toBfloat16() of each lane, as bits of f32.
ISOBATH_INLINE Words roundToBfloat16(Vector value) {
  const Words bits = (Words)value;
  const Words rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const Words nan = bits | 0x400000;
  return ((Integers)(bits & 0x7fffffff) > 0x7f800000 ? nan : rounded) &
         0xffff0000;
}

ISOBATH_INLINE void store(Bfloat16 *to, Vector value) {
  const Halves halves =
      __builtin_convertvector(roundToBfloat16(value) >> 16, Halves);
  memcpy(to, &halves, sizeof halves);
}

ISOBATH_INLINE float toFloat(float value) { return value; }
ISOBATH_INLINE void assign(float &to, float value) { to = value; }
ISOBATH_INLINE void assign(Bfloat16 &to, float value) {
  to = toBfloat16(value);
}

/// The first `count` elements; the other lanes are 0.
template <typename Element>
ISOBATH_INLINE Vector loadPart(const Element *from, int64_t count) {
  if (count >= lanes)
    return load(from);
  float values[lanes] = {};
  for (int64_t i = 0; i < count; ++i)
    values[i] = toFloat(from[i]);
  return load(values);
}

template <typename Element>
ISOBATH_INLINE void storePart(Element *to, Vector value, int64_t count) {
  if (count >= lanes)
    return store(to, value);
  float values[lanes];
  store(values, value);
  for (int64_t i = 0; i < count; ++i)
    assign(to[i], values[i]);
}

/// What storing to a tensor of this element type leaves of a value.
template <typename Element> ISOBATH_INLINE Vector roundTo(Vector value);
template <> Vector roundTo<float>(Vector value) { return value; }
template <> Vector roundTo<Bfloat16>(Vector value) {
  return (Vector)roundToBfloat16(value);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The first `count` lanes of `value`, and `rest` in the others.
ISOBATH_INLINE Vector select(int64_t count, Vector value, float rest) {
  const Integers number = {0, 1, 2,  3,  4,  5,  6,  7,
                           8, 9, 10, 11, 12, 13, 14, 15};
  return number < static_cast<int32_t>(count) ? value : splat(rest);
}

/// A NaN in `a` does not count.
ISOBATH_INLINE Vector maximum(Vector a, Vector b) { return a > b ? a : b; }

/// Lane i is lane i + First.
template <int First> ISOBATH_INLINE Vector rotate(Vector value) {
  return __builtin_shufflevector(
      value, value, First, First + 1, First + 2, First + 3, First + 4,
      First + 5, First + 6, First + 7, First + 8, First + 9, First + 10,
      First + 11, First + 12, First + 13, First + 14, First + 15);
}

/// Lanes i and i + 8, then i + 4, i + 2, i + 1.
template <typename Combine>
ISOBATH_INLINE float reduce(Vector value, Combine combine) {
  value = combine(value, rotate<8>(value));
  value = combine(value, rotate<4>(value));
  value = combine(value, rotate<2>(value));
  value = combine(value, rotate<1>(value));
  return value[0];
}

ISOBATH_INLINE float sum(Vector value) {
  return reduce(value, [](Vector a, Vector b) { return a + b; });
}
ISOBATH_INLINE float maximum(Vector value) {
  return reduce(value, [](Vector a, Vector b) { return maximum(a, b); });
}

/// e^x for x ≤ 88, within 1.2e-7 of it, relative, down to where it is no longer
/// a normal number, and 0 below -87.7. A NaN stays one.
ISOBATH_INLINE Vector exponential(Vector x) {
  // At -88 the power of two below is 2^-127, which the bits make a zero. The
  // condition is such that a NaN is kept.
  const Vector least = splat(-88.0f);
  const Vector clamped = x < least ? least : x;
  // x = n log 2 + r with an integer n, read off the last bits of a number so
  // large that its unit is 1.
  const Vector shifter = splat(12582912.0f); // 1.5 · 2^23
  const Vector shifted = clamped * 1.44269504f + shifter;
  const Vector n = shifted - shifter;
  Vector r = clamped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  // e^r on |r| ≤ log 2 / 2, cut from its series of Chebyshev polynomials.
  Vector p = r * 0.00139486406f + 0.00837517064f;
  p = p * r + 0.0416662171f;
  p = p * r + 0.166664153f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * (Vector)(((Words)shifted << 23) + (127u << 23));
}

} // namespace isobath::runtime

#endif // ISOBATH_DEVICE_CPU_VECTORS_H
