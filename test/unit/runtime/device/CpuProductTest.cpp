//===- CpuProductTest.cpp - Matrix products -------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against sums in f64, for every form and type, and the same bytes for every
// number of threads.
//
//===----------------------------------------------------------------------===//

#include "CpuTensors.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
struct Sizes {
  std::int64_t M, N, K;
};

struct Types {
  std::int32_t c, a, b;
};
} // namespace

static const Types allTypes[] = {
    {ISOBATH_F32, ISOBATH_F32, ISOBATH_F32},
    {ISOBATH_F32, ISOBATH_BF16, ISOBATH_BF16},
    {ISOBATH_BF16, ISOBATH_BF16, ISOBATH_BF16},
    {ISOBATH_BF16, ISOBATH_F32, ISOBATH_F32},
    {ISOBATH_F32, ISOBATH_BF16, ISOBATH_F32},
    {ISOBATH_F32, ISOBATH_F32, ISOBATH_BF16},
};

static Tensor multiply(Tensor c, const Tensor &a, const Tensor &b, Sizes sizes,
                       int flags) {
  isobath_cpu_product(c.data(), a.data(), b.data(), sizes.M, sizes.N, sizes.K,
                      c.type, a.type, b.type, flags);
  return c;
}

/// Checks every element. An f32 sum of K products is off by some units of the
/// sum of their magnitudes, far below K of them; a bf16 has 8 bits.
static void expectProduct(const Tensor &c, const Tensor &before,
                          const Tensor &a, const Tensor &b, Sizes sizes,
                          int flags) {
  for (std::int64_t m = 0; m < sizes.M; ++m)
    for (std::int64_t n = 0; n < sizes.N; ++n) {
      const double start =
          flags & ISOBATH_ACCUMULATE ? before[m * sizes.N + n] : 0;
      double sum = start, magnitude = std::abs(start);
      for (std::int64_t k = 0; k < sizes.K; ++k) {
        const double product =
            a[flags & ISOBATH_TRANSPOSE_A ? k * sizes.M + m : m * sizes.K + k] *
            b[flags & ISOBATH_TRANSPOSE_B ? n * sizes.K + k : k * sizes.N + n];
        sum += product;
        magnitude += std::abs(product);
      }
      const double tolerance =
          1e-6 * magnitude +
          (c.type == ISOBATH_BF16 ? std::abs(sum) / 256 : 0.0);
      ASSERT_NEAR(c[m * sizes.N + n], sum, tolerance)
          << "element " << m << ", " << n << " of " << sizes.M << "×" << sizes.N
          << "×" << sizes.K << ", flags " << flags << ", types " << c.type
          << a.type << b.type;
    }
}

static void checkProduct(Sizes sizes, Types types, int flags) {
  const Tensor a = Tensor::random(sizes.M * sizes.K, 1, types.a);
  const Tensor b = Tensor::random(sizes.K * sizes.N, 2, types.b);
  const Tensor before = Tensor::random(sizes.M * sizes.N, 3, types.c);
  const Threads scope(2);
  expectProduct(multiply(before, a, b, sizes, flags), before, a, b, sizes,
                flags);
}

class CpuProduct : public testing::TestWithParam<int> {}; // flags

TEST_P(CpuProduct, IsTheSumOfProducts) {
  const Sizes shapes[] = {{1, 1, 1},    {1, 7, 5},     {7, 1, 33},
                          {5, 3, 1},    {16, 16, 16},  {17, 31, 47},
                          {64, 80, 6},  {130, 70, 90}, {1, 96, 64},
                          {48, 2, 300}, {3, 20, 4500}};
  for (Sizes sizes : shapes)
    for (Types types : allTypes)
      checkProduct(sizes, types, GetParam());
}

TEST_P(CpuProduct, OfManyBlocksIsTheSumOfProducts) {
  // The last of the blocks is smaller.
  for (Sizes sizes :
       {Sizes{301, 40, 9}, Sizes{20, 515, 9}, Sizes{129, 257, 70}})
    for (Types types : allTypes)
      checkProduct(sizes, types, GetParam());
}

TEST_P(CpuProduct, HasTheSameBytesForAnyNumberOfThreads) {
  // With a transposed left operand and much depth, oneDNN's own threads do not.
  const Sizes shapes[] = {{64, 48, 2048},   {48, 64, 2500}, {192, 192, 2048},
                          {256, 64, 512},   {2048, 32, 64}, {300, 600, 64},
                          {33, 1000, 2048}, {8, 8, 4096}};
  for (Sizes sizes : shapes)
    for (Types types : {allTypes[0], allTypes[1], allTypes[2]}) {
      const Tensor a = Tensor::random(sizes.M * sizes.K, 1, types.a);
      const Tensor b = Tensor::random(sizes.K * sizes.N, 2, types.b);
      const Tensor c = Tensor::random(sizes.M * sizes.N, 3, types.c);
      const Tensor alone = [&] {
        const Threads scope(1);
        return multiply(c, a, b, sizes, GetParam());
      }();
      for (int count : {2, 5}) {
        const Threads scope(count);
        EXPECT_TRUE(multiply(c, a, b, sizes, GetParam()) == alone)
            << sizes.M << "×" << sizes.N << "×" << sizes.K << ", " << count
            << " threads, type " << types.a;
      }
    }
}

TEST_P(CpuProduct, KeepsNanAndInfinity) {
  const Sizes sizes = {20, 24, 50};
  for (Types types : allTypes)
    for (float special : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
      Tensor a = Tensor::random(sizes.M * sizes.K, 1, types.a);
      Tensor b = Tensor(sizes.K * sizes.N, types.b);
      for (std::int64_t i = 0; i < b.size(); ++i)
        b.set(i, 0.5f);
      const bool isTransposed = GetParam() & ISOBATH_TRANSPOSE_A;
      a.set(isTransposed ? 30 * sizes.M + 7 : 7 * sizes.K + 30, special);
      const Tensor c =
          multiply(Tensor(sizes.M * sizes.N, types.c), a, b, sizes, GetParam());
      for (std::int64_t m = 0; m < sizes.M; ++m)
        for (std::int64_t n = 0; n < sizes.N; ++n) {
          const double value = c[m * sizes.N + n];
          if (m != 7)
            EXPECT_TRUE(std::isfinite(value));
          else if (std::isnan(special))
            EXPECT_TRUE(std::isnan(value));
          else
            EXPECT_EQ(value, special);
        }
    }
}

TEST_P(CpuProduct, OfNoDepthIsNothing) {
  for (Types types : allTypes) {
    const Tensor before = Tensor::random(15, 3, types.c), empty(0, types.a);
    const Tensor c = multiply(before, empty, empty, {3, 5, 0}, GetParam());
    EXPECT_TRUE(
        c == (GetParam() & ISOBATH_ACCUMULATE ? before : Tensor(15, types.c)));
  }
  multiply(Tensor(0), Tensor(0), Tensor(8), {0, 4, 2}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Flags, CpuProduct, testing::Range(0, 8));

TEST(CpuProductRounding, IsToNearestEven) {
  // 1 + 2^-8 lies between two bf16; the even one is 1. 1 + 3·2^-8 goes up.
  const double expected[] = {1.0, 1.015625, -1.0, -1.015625};
  const float values[] = {1 + 1.0f / 256, 1 + 3.0f / 256, -1 - 1.0f / 256,
                          -1 - 3.0f / 256};
  Tensor a(4), one(1);
  one.set(0, 1);
  for (int i = 0; i < 4; ++i)
    a.set(i, values[i]);
  const Tensor c = multiply(Tensor(4, ISOBATH_BF16), a, one, {4, 1, 1}, 0);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(c[i], expected[i]);
}
