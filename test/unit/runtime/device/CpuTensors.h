//===- CpuTensors.h - Tensors for tests of the CPU's library --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors in either element type with values that are told apart by a seed, and
// the comparison of what several numbers of threads make.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_RUNTIME_DEVICE_CPUTENSORS_H
#define ISOBATH_TEST_UNIT_RUNTIME_DEVICE_CPUTENSORS_H

#include "isobath/runtime/cpu_library.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace isobath::runtime::test {

/// f32 or bf16 elements, read and written as numbers.
class Tensor {
public:
  explicit Tensor(std::int64_t count, std::int32_t type = ISOBATH_F32)
      : type(type), storage(count * bytes()) {}

  /// Values in [-1, 1).
  static Tensor random(std::int64_t count, unsigned seed,
                       std::int32_t type = ISOBATH_F32) {
    Tensor tensor(count, type);
    std::minstd_rand generator(seed + 1);
    for (std::int64_t i = 0; i < count; ++i)
      tensor.set(i, static_cast<float>(generator() % 2048) / 1024 - 1);
    return tensor;
  }

  std::int64_t size() const {
    return static_cast<std::int64_t>(storage.size()) / bytes();
  }
  void *data() { return storage.data(); }
  const void *data() const { return storage.data(); }
  float *floats() { return reinterpret_cast<float *>(storage.data()); }

  double operator[](std::int64_t i) const {
    std::uint32_t bits = 0;
    char *target = reinterpret_cast<char *>(&bits);
    std::memcpy(target + 4 - bytes(), storage.data() + i * bytes(), bytes());
    return std::bit_cast<float>(bits);
  }

  /// Rounded towards zero in bf16.
  void set(std::int64_t i, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const char *source = reinterpret_cast<const char *>(&bits);
    std::memcpy(storage.data() + i * bytes(), source + 4 - bytes(), bytes());
  }

  bool operator==(const Tensor &other) const = default; // the same bytes

  std::int32_t type;

private:
  std::int64_t bytes() const { return type == ISOBATH_BF16 ? 2 : 4; }

  std::vector<char> storage;
};

/// Sets the number of threads for a scope.
class Threads {
public:
  explicit Threads(int count) : before(threads()) { setThreads(count); }
  ~Threads() { setThreads(before); }
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;

private:
  int before;
};

} // namespace isobath::runtime::test

#endif // ISOBATH_TEST_UNIT_RUNTIME_DEVICE_CPUTENSORS_H
