//===- NetDerivativesTest.cpp - The adjoints of the net dialect -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derivatives.h"
#include "gtest/gtest.h"

using namespace isobath::test;

TEST(NetDerivatives, Embedding) {
  // Row 1 is not looked up, row 2 three times.
  Derivative derivative = expectDerivative(R"(
    func.func @loss(%table: tensor<4x3xf64>, %ids: tensor<2x3xi32>)
        -> tensor<2x3x3xf64> {
      %y = net.embedding %table, %ids
        : (tensor<4x3xf64>, tensor<2x3xi32>) -> tensor<2x3x3xf64>
      return %y : tensor<2x3x3xf64>
    })",
                                           {{2, 0, 2, 3, 2, 0}});
  for (int channel = 0; channel < 3; ++channel)
    EXPECT_EQ(derivative.gradients[0].values[3 + channel], 0.0);
}

TEST(NetDerivatives, RmsNorm) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x3x6xf64>, %w: tensor<6xf64>)
        -> tensor<2x3x6xf64> {
      %y = net.rms_norm %x, %w {epsilon = 1.0e-2 : f64}
        : (tensor<2x3x6xf64>, tensor<6xf64>) -> tensor<2x3x6xf64>
      return %y : tensor<2x3x6xf64>
    })");
}

TEST(NetDerivatives, RmsNormInGroups) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x3x6xf64>, %w: tensor<2xf64>)
        -> tensor<2x3x6xf64> {
      %y = net.rms_norm %x, %w {epsilon = 1.0e-2 : f64}
        : (tensor<2x3x6xf64>, tensor<2xf64>) -> tensor<2x3x6xf64>
      return %y : tensor<2x3x6xf64>
    })");
}

TEST(NetDerivatives, Linear) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x3x4xf64>, %w: tensor<5x4xf64>)
        -> tensor<2x3x5xf64> {
      %y = net.linear %x, %w
        : (tensor<2x3x4xf64>, tensor<5x4xf64>) -> tensor<2x3x5xf64>
      return %y : tensor<2x3x5xf64>
    })");
}

TEST(NetDerivatives, Rotary) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x5x12xf64>) -> tensor<2x5x12xf64> {
      %y = net.rotary %x {heads = 2 : i64, base = 1.0e2 : f64}
        : (tensor<2x5x12xf64>) -> tensor<2x5x12xf64>
      return %y : tensor<2x5x12xf64>
    })");
}

TEST(NetDerivatives, InverseRotary) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x5x12xf64>) -> tensor<2x5x12xf64> {
      %y = net.rotary %x {heads = 3 : i64, base = 1.0e2 : f64, inverse}
        : (tensor<2x5x12xf64>) -> tensor<2x5x12xf64>
      return %y : tensor<2x5x12xf64>
    })");
}

TEST(NetDerivatives, Attention) {
  expectDerivative(R"(
    func.func @loss(%q: tensor<2x4x6xf64>, %k: tensor<2x4x6xf64>,
                    %v: tensor<2x4x6xf64>) -> tensor<2x4x6xf64> {
      %y, %lse = net.attention %q, %k, %v {heads = 3 : i64, kv_heads = 3 : i64}
        : (tensor<2x4x6xf64>, tensor<2x4x6xf64>, tensor<2x4x6xf64>)
        -> (tensor<2x4x6xf64>, tensor<2x3x4xf64>)
      return %y : tensor<2x4x6xf64>
    })");
}

TEST(NetDerivatives, AttentionWithGroupedHeads) {
  expectDerivative(R"(
    func.func @loss(%q: tensor<2x4x12xf64>, %k: tensor<2x4x6xf64>,
                    %v: tensor<2x4x6xf64>) -> tensor<2x4x12xf64> {
      %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64}
        : (tensor<2x4x12xf64>, tensor<2x4x6xf64>, tensor<2x4x6xf64>)
        -> (tensor<2x4x12xf64>, tensor<2x4x4xf64>)
      return %y : tensor<2x4x12xf64>
    })");
}

TEST(NetDerivatives, AttentionWithOneKeyValueHead) {
  expectDerivative(R"(
    func.func @loss(%q: tensor<1x4x12xf64>, %k: tensor<1x4x3xf64>,
                    %v: tensor<1x4x3xf64>) -> tensor<1x4x12xf64> {
      %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 1 : i64}
        : (tensor<1x4x12xf64>, tensor<1x4x3xf64>, tensor<1x4x3xf64>)
        -> (tensor<1x4x12xf64>, tensor<1x4x4xf64>)
      return %y : tensor<1x4x12xf64>
    })");
}

TEST(NetDerivatives, CrossEntropy) {
  // The second target of the first sequence does not count.
  Derivative derivative = expectDerivative(R"(
    func.func @loss(%logits: tensor<2x2x5xf64>, %targets: tensor<2x2xi32>)
        -> tensor<2x2xf64> {
      %losses, %lse = net.cross_entropy %logits, %targets
        : (tensor<2x2x5xf64>, tensor<2x2xi32>)
        -> (tensor<2x2xf64>, tensor<2x2xf64>)
      return %losses : tensor<2x2xf64>
    })",
                                           {{4, -1, 0, 4}});
  for (int id = 0; id < 5; ++id)
    EXPECT_EQ(derivative.gradients[0].values[5 + id], 0.0);
}

TEST(NetDerivatives, Add) {
  expectDerivative(R"(
    func.func @loss(%a: tensor<7xf64>, %b: tensor<7xf64>) -> tensor<7xf64> {
      %y = net.add %a, %b : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xf64>
      return %y : tensor<7xf64>
    })");
}

TEST(NetDerivatives, Multiply) {
  expectDerivative(R"(
    func.func @loss(%a: tensor<7xf64>, %b: tensor<7xf64>) -> tensor<7xf64> {
      %y = net.multiply %a, %b : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xf64>
      return %y : tensor<7xf64>
    })");
}

TEST(NetDerivatives, Scale) {
  expectDerivative(R"(
    func.func @loss(%a: tensor<7xf64>) -> tensor<7xf64> {
      %y = net.scale %a {factor = -1.5 : f64} : (tensor<7xf64>) -> tensor<7xf64>
      return %y : tensor<7xf64>
    })");
}

TEST(NetDerivatives, AddVector) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x3x4xf64>, %u: tensor<4xf64>)
        -> tensor<2x3x4xf64> {
      %y = net.add_vector %x, %u
        : (tensor<2x3x4xf64>, tensor<4xf64>) -> tensor<2x3x4xf64>
      return %y : tensor<2x3x4xf64>
    })");
}

TEST(NetDerivatives, SwiGLU) {
  expectDerivative(R"(
    func.func @loss(%gate: tensor<2x3x4xf64>, %up: tensor<2x3x4xf64>)
        -> tensor<2x3x4xf64> {
      %y = net.swiglu %gate, %up
        : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
      return %y : tensor<2x3x4xf64>
    })");
}

// A value with several uses, in ops of several operands.
TEST(NetDerivatives, SeveralUses) {
  expectDerivative(R"(
    func.func @loss(%x: tensor<2x3x4xf64>, %w: tensor<4x4xf64>)
        -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
      %a = net.linear %x, %w
        : (tensor<2x3x4xf64>, tensor<4x4xf64>) -> tensor<2x3x4xf64>
      %b = net.swiglu %a, %x
        : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
      %c = net.multiply %a, %a
        : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
      %d = net.linear %c, %w
        : (tensor<2x3x4xf64>, tensor<4x4xf64>) -> tensor<2x3x4xf64>
      return %b, %d : tensor<2x3x4xf64>, tensor<2x3x4xf64>
    })");
}
