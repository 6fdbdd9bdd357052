//===- RowArithmeticTest.cpp - Functions and roundings in row kernels --===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace isobath::test;

/// f over f32 → $T, on rows of 16.
static std::vector<float> map(const std::string &cpu, const std::string &body,
                              std::vector<float> values,
                              const std::string &type = "f32") {
  const size_t count = values.size();
  values.resize((count + 15) / 16 * 16);
  RowProgram program(substitute(R"(
    row.kernel private @map(%x: !row.matrix<16xf32>) -> (%y: !row.matrix<16x$T>) {
      %a = row.load %x : !row.matrix<16xf32> -> vector<16xf32>
      $BODY
      row.store %b, %y : vector<16x$T>, !row.matrix<16x$T>
      row.return
    }
    func.func @run(%x: memref<$Rx16xf32>, %y: memref<$Rx16x$T>) {
      row.launch @map(%x) outs(%y) {rows = $R : i64}
        : (memref<$Rx16xf32>) outs (memref<$Rx16x$T>)
      return
    })",
                                {{"BODY", body},
                                 {"R", std::to_string(values.size() / 16)},
                                 {"T", type}}),
                     cpu);
  RowBuffer results(values.size(), type);
  program.call("run", {values.data(), results.data()});
  std::vector<float> mapped(count);
  for (size_t i = 0; i < count; ++i)
    mapped[i] = results[i];
  return mapped;
}

static const float infinity = std::numeric_limits<float>::infinity();
static const float notANumber = std::numeric_limits<float>::quiet_NaN();

TEST(RowArithmetic, Exp) {
  std::vector<float> values = {0.0f, -0.0f, 1.0f, -1.0f, 88.7f, -86.6f};
  for (int i = -4000; i <= 4000; ++i)
    values.push_back(static_cast<float>(i) * 0.0215f);
  for (std::string cpu : {"native", "x86-64-v3", "x86-64"}) {
    std::vector<float> results =
        map(cpu, "%b = math.exp %a : vector<16xf32>", values);
    for (size_t i = 0; i < values.size(); ++i) {
      double expected = std::exp(static_cast<double>(values[i]));
      EXPECT_NEAR(results[i] / expected, 1.0, 2e-7)
          << "exp(" << values[i] << ") on " << cpu;
    }
    EXPECT_EQ(results[0], 1.0f);
  }
}

TEST(RowArithmetic, ExpAtTheEnds) {
  for (std::string cpu : {"native", "x86-64-v3", "x86-64"}) {
    std::vector<float> results = map(cpu, "%b = math.exp %a : vector<16xf32>",
                                     {infinity, -infinity, notANumber, 89.0f,
                                      1e30f, -88.0f, -150.0f, -1e30f, 88.72f});
    EXPECT_EQ(results[0], infinity);
    EXPECT_EQ(results[1], 0.0f);
    EXPECT_TRUE(std::isnan(results[2]));
    EXPECT_EQ(results[3], infinity);
    EXPECT_EQ(results[4], infinity);
    // Would be subnormal.
    EXPECT_EQ(results[5], 0.0f);
    EXPECT_EQ(results[6], 0.0f);
    EXPECT_EQ(results[7], 0.0f);
    EXPECT_NEAR(results[8] / std::exp(88.72), 1.0, 1e-5);
  }
}

// The largest logits come first in a softmax: log of 1 and of large sums.
TEST(RowArithmetic, Log) {
  std::vector<float> values;
  for (float value = 1.0f; value < 1e6f; value *= 1.01f)
    values.push_back(value);
  for (std::string cpu : {"native", "x86-64-v3", "x86-64"}) {
    std::vector<float> results =
        map(cpu, "%b = math.log %a : vector<16xf32>", values);
    EXPECT_EQ(results[0], 0.0f);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(results[i], std::log(static_cast<double>(values[i])), 2e-6)
          << "log(" << values[i] << ") on " << cpu;
  }
}

TEST(RowArithmetic, RoundingToBf16) {
  auto fromBits = [](uint32_t bits) { return std::bit_cast<float>(bits); };
  std::vector<float> values = {
      0.0f,
      -0.0f,
      infinity,
      -infinity,
      std::numeric_limits<float>::max(), // to infinity
      1.0f,
      fromBits(0x3F808000), // ties: to even, down
      fromBits(0x3F818000), // and up
      fromBits(0x3F807FFF), // below a tie
      fromBits(0x3F808001), // above it
      fromBits(0xBF818000),
      fromBits(0x00000001), // subnormals: to zero,
      fromBits(0x00018000), // to the even one,
      fromBits(0x00410000), // kept
      fromBits(0x807FFFFF), // to the smallest normal
      fromBits(0x7F7F7FFF),
  };
  for (std::string cpu : {"native", "x86-64-v3", "x86-64"}) {
    std::vector<float> results =
        map(cpu, "%b = arith.truncf %a : vector<16xf32> to vector<16xbf16>",
            values, "bf16");
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(results[i]),
                std::bit_cast<uint32_t>(roundToBf16(values[i])))
          << std::hex << std::bit_cast<uint32_t>(values[i]) << " on " << cpu;
    // A NaN whose upper half looks like infinity.
    results =
        map(cpu, "%b = arith.truncf %a : vector<16xf32> to vector<16xbf16>",
            {notANumber, fromBits(0x7F800001), fromBits(0xFFFFFFFF)}, "bf16");
    for (float value : results)
      EXPECT_TRUE(std::isnan(value)) << cpu;
  }
}
