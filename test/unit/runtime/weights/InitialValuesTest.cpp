//===- InitialValuesTest.cpp - What a parameter holds before training -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kinds; the random numbers themselves are tested in RandomTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/initial_values.h"

#include "TestFiles.h"
#include "isobath/runtime/random.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;

using Kind = InitialValues::Kind;

template <typename Value>
static std::vector<Value> filled(const InitialValues &initial,
                                 std::uint64_t seed) {
  std::vector<Value> values(3, Value(9));
  fillInitial(initial, seed, std::span(values));
  return values;
}

TEST(InitialValues, ZerosAndOnes) {
  EXPECT_EQ(filled<float>({Kind::zeros, 0, ""}, 1),
            (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(filled<double>({Kind::ones, 0, ""}, 1),
            (std::vector<double>{1, 1, 1}));
}

TEST(InitialValues, NormalUsesSeedKeyAndStd) {
  std::vector<float> floats(3);
  fillNormal(7, "layers.0.attn.route.query", 0.02, std::span(floats));
  const InitialValues initial = {Kind::normal, 0.02,
                                 "layers.0.attn.route.query"};
  EXPECT_EQ(filled<float>(initial, 7), floats);
  EXPECT_NE(filled<float>(initial, 8), floats);
  std::vector<double> doubles(3);
  fillNormal(7, "layers.0.attn.route.query", 0.02, std::span(doubles));
  EXPECT_EQ(filled<double>(initial, 7), doubles);
}

TEST(InitialValues, KindsHaveNames) {
  EXPECT_EQ(parseInitialKind("zeros"), Kind::zeros);
  EXPECT_EQ(parseInitialKind("ones"), Kind::ones);
  EXPECT_EQ(parseInitialKind("normal"), Kind::normal);
  EXPECT_EQ(messageOf([] { parseInitialKind("uniform"); }),
            "initial values: kind: given 'uniform', expected zeros, ones or "
            "normal");
}
