//===- RowProgram.h - Row kernels, compiled and run --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_COMPILER_ROWPROGRAM_H
#define ISOBATH_TEST_UNIT_COMPILER_ROWPROGRAM_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isobath::test {

/// A module of kernels and functions that launch them, compiled for a processor
/// and loaded. Failures are reported as std::runtime_error.
class RowProgram {
public:
  RowProgram(const std::string &text, const std::string &cpu);

  /// Calls a function of memrefs. Launches run their chunks one after the
  /// other, the last one first: their order must not matter.
  void call(const std::string &function,
            const std::vector<void *> &buffers) const;

private:
  std::shared_ptr<void> owner;
  std::function<void *(const std::string &)> lookup;
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A buffer of f32 or bf16, held as f32. Around it are numbers that no kernel
/// may touch.
class RowBuffer {
public:
  /// `type` is "f32" or "bf16". Filled with numbers that mean nothing.
  RowBuffer(size_t elements, std::string type = "f32");

  /// Numbers between −1 and 1, rounded to the type.
  static RowBuffer random(size_t elements, const std::string &type,
                          uint64_t seed);

  void *data();
  float operator[](size_t index) const;
  std::vector<double> values() const;
  bool hasBytesOf(const RowBuffer &other) const { return bytes == other.bytes; }
  /// Whether nothing was written in front of or behind the elements.
  bool isIntact() const;

private:
  size_t elements;
  std::string type;
  std::vector<unsigned char> bytes;
};

float roundToBf16(float value);

/// Expects |actual − expected| ≤ tolerance · (largest |expected|) everywhere,
/// for numbers that are not all below 1e-6.
void expectNear(const RowBuffer &actual, const std::vector<double> &expected,
                double tolerance, const std::string &what);

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

struct RowCase {
  std::string cpu;  // of describeTarget
  std::string type; // of rows: "f32" or "bf16"
  int64_t width;
};

/// Calls `run`, which tests one case and returns what the kernel wrote, for
/// widths around those of vectors and groups of strips; for this machine, for
/// one with fused products and vectors of 8, and for one without either. All
/// machines with fused products must give the same bits.
void forEachCase(
    const std::function<std::vector<RowBuffer>(const RowCase &)> &run);

//===----------------------------------------------------------------------===//
// Text of kernels
//===----------------------------------------------------------------------===//

/// Replaces $NAME by its value.
struct Substitution {
  std::string name, value;
};
std::string substitute(std::string text,
                       const std::vector<Substitution> &substitutions);

/// Substitutes $T by the element type, and expands lines
///
///     LOAD %x = %m[%i] columns(%c) : !row.matrix<8x$T> -> 8
///     STORE %x, %m[%i] columns(%c) : 8, !row.matrix<8x$T>
///
/// to a load or store with the conversion to or from f32 that the type needs.
std::string expandRows(std::string text, const std::string &type);

/// A kernel and, in `run`, its launch for $R rows of $W elements. $CONSTANTS
/// are %c0, %c1, %zero, %one, %ones, %width and %eps = 1e-5.
RowProgram compile(const RowCase &one, int64_t rows, std::string text,
                   std::vector<Substitution> more = {});

/// Of the largest value: sums of 1024 f32 products; one rounding to bf16.
double toleranceOf(const RowCase &one);

} // namespace isobath::test

#endif // ISOBATH_TEST_UNIT_COMPILER_ROWPROGRAM_H
