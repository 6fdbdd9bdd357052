//===- CpuAttentionTest.cpp - Attention -----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against the formulas in f64, for every kernel that this machine can run; the
// same bytes for every number of threads; and what a NaN may reach.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernels.h"
#include "CpuTensors.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

static constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
struct Inputs {
  Inputs(AttentionShape shape, std::int32_t type)
      : shape(shape), type(type), q(Tensor::random(queries(), 1, type)),
        k(Tensor::random(keys(), 2, type)), v(Tensor::random(keys(), 3, type)),
        dOut(Tensor::random(queries(), 4, type)) {
    // Scores of some size, so that distributions are far from uniform.
    for (std::int64_t i = 0; i < q.size(); ++i)
      q.set(i, static_cast<float>(q[i]) * 8);
  }

  std::int64_t queries() const { return shape.B * shape.T * shape.H * shape.d; }
  std::int64_t keys() const { return shape.B * shape.T * shape.K * shape.d; }
  std::int64_t query(std::int64_t b, std::int64_t t, std::int64_t h) const {
    return ((b * shape.T + t) * shape.H + h) * shape.d;
  }
  std::int64_t key(std::int64_t b, std::int64_t t, std::int64_t head) const {
    return ((b * shape.T + t) * shape.K + head) * shape.d;
  }

  AttentionShape shape;
  std::int32_t type;
  Tensor q, k, v, dOut;
};

/// Everything starts as NaN, so that what is not written is seen.
struct Results {
  explicit Results(const Inputs &inputs)
      : o(inputs.queries(), inputs.type),
        lse(inputs.shape.B * inputs.shape.T * inputs.shape.H),
        dq(inputs.queries(), inputs.type), dk(inputs.keys(), inputs.type),
        dv(inputs.keys(), inputs.type) {
    for (Tensor *tensor : {&o, &lse, &dq, &dk, &dv})
      for (std::int64_t i = 0; i < tensor->size(); ++i)
        tensor->set(i, notANumber);
  }
  bool operator==(const Results &) const = default;

  Tensor o, lse, dq, dk, dv;
};
} // namespace

static std::vector<float> makeScratch(const Inputs &inputs, bool isAdjoint) {
  const auto [B, T, H, K, d] = inputs.shape;
  return std::vector<float>(isobath_cpu_attention_scratch_bytes(
                                B, T, H, K, d, inputs.type, isAdjoint) /
                                sizeof(float),
                            notANumber);
}

static Results attend(const Inputs &inputs) {
  Results r(inputs);
  const auto [B, T, H, K, d] = inputs.shape;
  isobath_cpu_attention(r.o.data(), r.lse.floats(), inputs.q.data(),
                        inputs.k.data(), inputs.v.data(), B, T, H, K, d,
                        inputs.type, makeScratch(inputs, false).data());
  isobath_cpu_attention_adjoint(
      r.dq.data(), r.dk.data(), r.dv.data(), inputs.q.data(), inputs.k.data(),
      inputs.v.data(), r.o.data(), r.lse.floats(), inputs.dOut.data(), B, T, H,
      K, d, inputs.type, makeScratch(inputs, true).data());
  return r;
}

/// The same with given kernels, one task after the other, the last one first.
static Results attendWith(const AttentionKernels &kernels,
                          const Inputs &inputs) {
  Results r(inputs);
  std::vector<float> scratch = makeScratch(inputs, true);
  const AttentionForward forward = {inputs.shape,    r.o.data(),
                                    r.lse.floats(),  inputs.q.data(),
                                    inputs.k.data(), inputs.v.data()};
  const AttentionAdjoint adjoint = {
      inputs.shape,    r.dq.data(),        r.dk.data(),     r.dv.data(),
      inputs.q.data(), inputs.k.data(),    inputs.v.data(), r.o.data(),
      r.lse.floats(),  inputs.dOut.data(), scratch.data()};
  std::vector<float> workspace(planForward(inputs.shape).floats, notANumber);
  for (std::int64_t task = attentionTasks(inputs.shape); task-- > 0;)
    kernels.forward(forward, task, workspace.data());
  workspace.assign(planAdjoint(inputs.shape).floats, notANumber);
  for (std::int64_t task = attentionTasks(inputs.shape); task-- > 0;)
    kernels.adjoint(adjoint, task, workspace.data());
  if (sharesPerHead(inputs.shape) > 1)
    for (std::int64_t head = 0; head < inputs.shape.B * inputs.shape.K; ++head)
      kernels.addShares(adjoint, head);
  return r;
}

//===----------------------------------------------------------------------===//
// The formulas
//===----------------------------------------------------------------------===//

namespace {
/// A result and, for its tolerance, the same with all terms made positive.
struct Expected {
  explicit Expected(std::int64_t count) : value(count), magnitude(count) {}
  void add(std::int64_t i, double term, double size) {
    value[i] += term;
    magnitude[i] += size;
  }
  void add(std::int64_t i, double term) { add(i, term, std::abs(term)); }

  std::vector<double> value, magnitude;
};

struct ExpectedResults {
  explicit ExpectedResults(const Inputs &inputs)
      : o(inputs.queries()),
        lse(inputs.shape.B * inputs.shape.T * inputs.shape.H),
        dq(inputs.queries()), dk(inputs.keys()), dv(inputs.keys()) {}
  Expected o, lse, dq, dk, dv;
};
} // namespace

/// Adds what position t of sequence b and query head h contributes.
static void addPosition(ExpectedResults &r, const Inputs &in, std::int64_t b,
                        std::int64_t t, std::int64_t h) {
  const AttentionShape &shape = in.shape;
  const double scale = 1 / std::sqrt(static_cast<double>(shape.d));
  const std::int64_t head = h * shape.K / shape.H, query = in.query(b, t, h);
  std::vector<double> p(t + 1);
  double total = 0;
  for (std::int64_t u = 0; u <= t; ++u) {
    double score = 0;
    for (std::int64_t c = 0; c < shape.d; ++c)
      score += in.q[query + c] * in.k[in.key(b, u, head) + c];
    total += p[u] = std::exp(score * scale);
  }
  r.lse.add((b * shape.T + t) * shape.H + h, std::log(total), 10);
  for (std::int64_t u = 0; u <= t; ++u) {
    p[u] /= total;
    for (std::int64_t c = 0; c < shape.d; ++c)
      r.o.add(query + c, p[u] * in.v[in.key(b, u, head) + c]);
  }
  double dot = 0, dotSize = 0;
  for (std::int64_t c = 0; c < shape.d; ++c) {
    dot += r.o.value[query + c] * in.dOut[query + c];
    dotSize += r.o.magnitude[query + c] * std::abs(in.dOut[query + c]);
  }
  for (std::int64_t u = 0; u <= t; ++u) {
    const std::int64_t key = in.key(b, u, head);
    double dp = 0, dpSize = 0;
    for (std::int64_t c = 0; c < shape.d; ++c) {
      const double term = in.dOut[query + c] * in.v[key + c];
      dp += term;
      dpSize += std::abs(term);
    }
    const double ds = p[u] * (dp - dot) * scale;
    const double dsSize = p[u] * (dpSize + dotSize) * scale;
    for (std::int64_t c = 0; c < shape.d; ++c) {
      r.dv.add(key + c, p[u] * in.dOut[query + c]);
      r.dq.add(query + c, ds * in.k[key + c], dsSize * std::abs(in.k[key + c]));
      r.dk.add(key + c, ds * in.q[query + c],
               dsSize * std::abs(in.q[query + c]));
    }
  }
}

static ExpectedResults computeExpected(const Inputs &inputs) {
  ExpectedResults results(inputs);
  for (std::int64_t b = 0; b < inputs.shape.B; ++b)
    for (std::int64_t t = 0; t < inputs.shape.T; ++t)
      for (std::int64_t h = 0; h < inputs.shape.H; ++h)
        addPosition(results, inputs, b, t, h);
  return results;
}

static void expectNear(const Tensor &given, const Expected &expected,
                       double tolerance, const std::string &what) {
  for (std::int64_t i = 0; i < given.size(); ++i)
    ASSERT_NEAR(given[i], expected.value[i], tolerance * expected.magnitude[i])
        << what << ", element " << i;
}

static void expectResults(const Results &given, const Inputs &inputs,
                          const ExpectedResults &expected,
                          const std::string &kernels) {
  // A score of size 20 in f32 is off by 1e-6, and so is its exponential,
  // relatively; in bf16, p, o and the result are each off by up to 2^-8.
  const double tolerance = inputs.type == ISOBATH_BF16 ? 3.0 / 256 : 4e-6;
  const auto [B, T, H, K, d] = inputs.shape;
  const std::string what = " of " + kernels + ", B" + std::to_string(B) + " T" +
                           std::to_string(T) + " H" + std::to_string(H) + " K" +
                           std::to_string(K) + " d" + std::to_string(d) +
                           ", type " + std::to_string(inputs.type);
  expectNear(given.o, expected.o, tolerance, "o" + what);
  expectNear(given.lse, expected.lse, 1e-6, "lse" + what);
  expectNear(given.dq, expected.dq, tolerance, "dq" + what);
  expectNear(given.dk, expected.dk, tolerance, "dk" + what);
  expectNear(given.dv, expected.dv, tolerance, "dv" + what);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static const std::int32_t bothTypes[] = {ISOBATH_F32, ISOBATH_BF16};

static const AttentionShape shapes[] = {
    {1, 1, 1, 1, 2},    // one position
    {2, 5, 2, 1, 6},    // a width below a vector's
    {1, 17, 4, 2, 16},  // one key beyond a panel
    {1, 63, 2, 2, 34},  // every size of tile
    {1, 64, 1, 1, 18},  // one block of queries
    {1, 65, 3, 1, 48},  // one query beyond it
    {2, 131, 2, 2, 20}, // beyond a block of keys of the adjoint
    {1, 259, 4, 2, 64}, // beyond one of the forward direction
    {1, 33, 1, 1, 130}, // a wide head
    {32, 9, 2, 1, 4},   // heads enough for one share each
    {1, 300, 6, 3, 24}, // shares of several blocks
};

namespace {
struct NamedKernels {
  const char *name;
  const AttentionKernels *kernels;
};
} // namespace

/// The kernels that this machine can run.
static std::vector<NamedKernels> listKernels() {
  std::vector<NamedKernels> list = {{"generic", attentionKernelsGeneric}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    list.push_back({"avx2", attentionKernelsAvx2});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    list.push_back({"avx512", attentionKernelsAvx512});
#endif
  return list;
}

TEST(CpuAttention, FollowsTheFormulas) {
  const Threads scope(2);
  for (const AttentionShape &shape : shapes)
    for (std::int32_t type : bothTypes) {
      const Inputs inputs(shape, type);
      const ExpectedResults expected = computeExpected(inputs);
      expectResults(attend(inputs), inputs, expected, "the library");
      for (const NamedKernels &kernels : listKernels())
        expectResults(attendWith(kernels.kernels[type], inputs), inputs,
                      expected, kernels.name);
    }
}

TEST(CpuAttention, HasTheSameBytesOfProcessorsWithFusedMultiplyAdd) {
  const std::vector<NamedKernels> list = listKernels();
  if (list.size() < 3)
    GTEST_SKIP() << "this machine has no AVX-512";
  for (const AttentionShape &shape : shapes)
    for (std::int32_t type : bothTypes) {
      const Inputs inputs(shape, type);
      EXPECT_TRUE(attendWith(list[1].kernels[type], inputs) ==
                  attendWith(list[2].kernels[type], inputs));
    }
}

TEST(CpuAttention, HasTheSameBytesForAnyNumberOfThreads) {
  for (const AttentionShape &shape : shapes)
    for (std::int32_t type : bothTypes) {
      const Inputs inputs(shape, type);
      const Results alone = [&] {
        const Threads scope(1);
        return attend(inputs);
      }();
      for (int count : {2, 5}) {
        const Threads scope(count);
        EXPECT_TRUE(attend(inputs) == alone)
            << count << " threads, T " << shape.T;
      }
    }
}

TEST(CpuAttention, OfSeveralBlocksNeedsLittleScratch) {
  EXPECT_EQ(isobath_cpu_attention_scratch_bytes(8, 256, 8, 2, 64, 0, 0), 0);
  EXPECT_EQ(isobath_cpu_attention_scratch_bytes(8, 256, 8, 8, 64, 0, 1), 0);
  // 16 heads of 2 shares.
  EXPECT_EQ(isobath_cpu_attention_scratch_bytes(8, 256, 8, 2, 64, 0, 1),
            16 * 2 * 2 * 256 * 64 * 4);
}

//===----------------------------------------------------------------------===//
// NaN
//===----------------------------------------------------------------------===//

/// Whether each position's elements of one head are all NaN, or none is.
static std::vector<bool> findNan(const Tensor &tensor, std::int64_t T,
                                 std::int64_t pitch, std::int64_t d) {
  std::vector<bool> positions;
  for (std::int64_t t = 0; t < T; ++t) {
    positions.push_back(std::isnan(tensor[t * pitch]));
    for (std::int64_t c = 1; c < d; ++c)
      EXPECT_EQ(std::isnan(tensor[t * pitch + c]), positions.back())
          << "position " << t;
  }
  return positions;
}

namespace {
/// Where one element of one input is NaN, and which positions then are.
struct NanCase {
  Tensor Inputs::*input;
  Tensor Results::*result;
  std::function<bool(std::int64_t t, std::int64_t at)> isNan;
};
} // namespace

TEST(CpuAttention, SpreadsNanToLaterPositionsOnly) {
  const auto never = [](std::int64_t, std::int64_t) { return false; };
  const auto here = [](std::int64_t t, std::int64_t at) { return t == at; };
  const auto later = [](std::int64_t t, std::int64_t at) { return t >= at; };
  const auto earlier = [](std::int64_t t, std::int64_t at) { return t <= at; };
  const NanCase cases[] = {
      {&Inputs::q, &Results::o, here},
      {&Inputs::q, &Results::lse, here},
      {&Inputs::q, &Results::dq, here},
      {&Inputs::q, &Results::dk, earlier},
      {&Inputs::q, &Results::dv, earlier},
      {&Inputs::k, &Results::o, later},
      {&Inputs::k, &Results::lse, later},
      {&Inputs::dOut, &Results::o, never},
      {&Inputs::dOut, &Results::dq, here},
      {&Inputs::dOut, &Results::dk, earlier},
  };
  const AttentionShape shape = {1, 150, 1, 1, 8};
  for (std::int32_t type : bothTypes)
    for (std::int64_t at : {0, 3, 63, 64, 70, 128, 149})
      for (const NanCase &test : cases) {
        Inputs inputs(shape, type);
        (inputs.*test.input).set(at * shape.d + 5, notANumber);
        const Results results = attend(inputs);
        const std::int64_t width = test.result == &Results::lse ? 1 : shape.d;
        const std::vector<bool> found =
            findNan(results.*test.result, shape.T, width, width);
        for (std::int64_t t = 0; t < shape.T; ++t)
          ASSERT_EQ(found[t], test.isNan(t, at))
              << "position " << t << ", NaN at " << at << ", case "
              << &test - cases << ", type " << type;
      }
}

TEST(CpuAttention, OfANanValueIsNanInItsColumnFromThereOn) {
  const AttentionShape shape = {1, 150, 2, 1, 8};
  for (std::int64_t at : {0, 5, 64, 149}) {
    Inputs inputs(shape, ISOBATH_F32);
    inputs.v.set(at * shape.d + 5, notANumber);
    const Results results = attend(inputs);
    for (std::int64_t t = 0; t < shape.T; ++t)
      for (std::int64_t c = 0; c < 2 * shape.d; ++c)
        ASSERT_EQ(std::isnan(results.o[t * 2 * shape.d + c]),
                  t >= at && c % shape.d == 5)
            << "position " << t << ", column " << c << ", NaN at " << at;
  }
}

TEST(CpuAttention, TakesScoresFarApart) {
  // Of scores 0 and ±400, one counts and the other's exponential is zero.
  const AttentionShape shape = {1, 3, 1, 1, 2};
  Inputs inputs(shape, ISOBATH_F32);
  const float q[] = {0, 0, 400, 400, -400, -400}, k[] = {0, 0, 1, 1, -1, -1};
  for (int i = 0; i < 6; ++i) {
    inputs.q.set(i, q[i]);
    inputs.k.set(i, k[i]);
  }
  const Results results = attend(inputs);
  for (int c = 0; c < 2; ++c) {
    EXPECT_EQ(results.o[c], inputs.v[c]);
    EXPECT_EQ(results.o[2 + c], inputs.v[2 + c]);
    EXPECT_EQ(results.o[4 + c], inputs.v[4 + c]);
    EXPECT_EQ(results.dq[2 + c], 0);
    EXPECT_EQ(results.dv[4 + c], inputs.dOut[4 + c]);
  }
}
