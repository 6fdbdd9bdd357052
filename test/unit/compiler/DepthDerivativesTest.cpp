//===- DepthDerivativesTest.cpp - The adjoints of the depth dialect -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DepthPrograms.h"
#include "Derivatives.h"
#include "gtest/gtest.h"

using namespace isobath::test;

static Derivative expectRouteDerivative(const RouteShape &shape) {
  return expectDerivative(routeFunction("loss", shape));
}

TEST(DepthDerivatives, Route) { expectRouteDerivative({.closed = 3}); }

TEST(DepthDerivatives, RouteWithPartial) {
  expectRouteDerivative({.closed = 2, .hasPartial = true});
}

TEST(DepthDerivatives, RouteOverOneClosedSourceAndPartial) {
  expectRouteDerivative({.closed = 1, .hasPartial = true});
}

TEST(DepthDerivatives, RouteWithHeads) {
  expectRouteDerivative({.closed = 3, .heads = 4});
}

TEST(DepthDerivatives, RouteWithOneChannelHeads) {
  expectRouteDerivative({.closed = 2, .hasPartial = true, .heads = 8});
}

TEST(DepthDerivatives, RouteWithSeveralQueries) {
  expectRouteDerivative({.queries = 3, .closed = 2});
}

TEST(DepthDerivatives, RouteWithEverything) {
  expectRouteDerivative(
      {.queries = 2, .closed = 3, .hasPartial = true, .heads = 2});
}

// Nothing is known about which source is best from a single one: the query's
// gradient is not small but zero, and the source's is the mix's.
TEST(DepthDerivatives, RouteOverOneSourceIsTheIdentity) {
  for (int heads : {1, 2}) {
    Derivative derivative =
        expectRouteDerivative({.closed = 1, .heads = heads});
    for (double value : derivative.gradients[0].values)
      EXPECT_EQ(value, 0.0);
    EXPECT_EQ(derivative.gradients[1].values,
              derivative.resultGradients[0].values);
  }
}

TEST(DepthDerivatives, TiedQueriesAddUp) {
  expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %e: tensor<2x3x8xf64>,
                    %p: tensor<2x3x8xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>) {
      %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf64>)
        closed(%e : tensor<2x3x8xf64>) partial(%p : tensor<2x3x8xf64>)
        heads(2) {epsilon = 1.0e-2 : f64}
      return %q, %v : tensor<2x3x8xf64>, tensor<2x3x8xf64>
    })");
}

TEST(DepthDerivatives, SourceReadTwice) {
  expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %e: tensor<2x3x8xf64>,
                    %p: tensor<2x3x8xf64>) -> tensor<2x3x8xf64> {
      %q, %a, %l, %r = depth.route queries(%w : tensor<8xf64>)
        closed(%e, %p, %e : tensor<2x3x8xf64>) partial(%p : tensor<2x3x8xf64>)
        heads(1) {epsilon = 1.0e-2 : f64}
      return %q : tensor<2x3x8xf64>
    })");
}

// A gain multiplies the query in front of the route.
TEST(DepthDerivatives, RouteWithGain) {
  expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %gain: tensor<8xf64>,
                    %e: tensor<2x3x8xf64>, %p: tensor<2x3x8xf64>)
        -> tensor<2x3x8xf64> {
      %u = net.multiply %gain, %w
        : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
      %q, %a, %l, %r = depth.route queries(%u : tensor<8xf64>)
        closed(%e : tensor<2x3x8xf64>) partial(%p : tensor<2x3x8xf64>)
        heads(2) {epsilon = 1.0e-2 : f64}
      return %q : tensor<2x3x8xf64>
    })");
}

TEST(DepthDerivatives, StaticRead) {
  expectDerivative(R"(
    func.func @loss(%m: tensor<3xf64>, %n: tensor<3xf64>,
                    %e: tensor<2x3x8xf64>, %b: tensor<2x3x8xf64>,
                    %p: tensor<2x3x8xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>) {
      %q, %v, %a = depth.static_read mixtures(%m, %n : tensor<3xf64>)
        closed(%e, %b : tensor<2x3x8xf64>) partial(%p : tensor<2x3x8xf64>)
      return %q, %v : tensor<2x3x8xf64>, tensor<2x3x8xf64>
    })");
}

// Its mixture has nothing to choose from.
TEST(DepthDerivatives, StaticReadOfOneSourceIsTheIdentity) {
  Derivative derivative = expectDerivative(R"(
    func.func @loss(%m: tensor<1xf64>, %e: tensor<2x3x8xf64>)
        -> tensor<2x3x8xf64> {
      %h, %a = depth.static_read mixtures(%m : tensor<1xf64>)
        closed(%e : tensor<2x3x8xf64>)
      return %h : tensor<2x3x8xf64>
    })");
  EXPECT_EQ(derivative.gradients[0].values, std::vector<double>{0.0});
  EXPECT_EQ(derivative.gradients[1].values,
            derivative.resultGradients[0].values);
}

TEST(DepthDerivatives, FixedReads) {
  for (std::string rule : {"uniform", "newest", "embedding"})
    expectDerivative(R"(
      func.func @loss(%e: tensor<2x3x8xf64>, %b: tensor<2x3x8xf64>,
                      %p: tensor<2x3x8xf64>) -> tensor<2x3x8xf64> {
        %v = depth.fixed_read )" +
                     rule + R"( closed(%e, %b : tensor<2x3x8xf64>)
          partial(%p : tensor<2x3x8xf64>)
        return %v : tensor<2x3x8xf64>
      })");
}

TEST(DepthDerivatives, RunningSum) {
  expectDerivative(R"(
    func.func @loss(%e: tensor<2x3x8xf64>, %b: tensor<2x3x8xf64>,
                    %p: tensor<2x3x8xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>) {
      %s = depth.running_sum %e with %b : tensor<2x3x8xf64>
      %t = depth.running_sum %s with %p : tensor<2x3x8xf64>
      return %s, %t : tensor<2x3x8xf64>, tensor<2x3x8xf64>
    })");
}

TEST(DepthDerivatives, Partial) {
  expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %u: tensor<8xf64>, %e: tensor<2x3x8xf64>,
                    %b: tensor<2x3x8xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<2x2x3x4xf64>) {
      %o0, %o1, %lse, %l, %r = depth.partial queries(%w, %u : tensor<8xf64>)
        closed(%e, %b : tensor<2x3x8xf64>) heads(4) {epsilon = 1.0e-2 : f64}
      return %o0, %o1, %lse
        : tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<2x2x3x4xf64>
    })");
}

// Only the log-sum-exp is used, so the mixes' gradients are zero.
TEST(DepthDerivatives, PartialByItsLogSumExp) {
  expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %e: tensor<2x3x8xf64>,
                    %b: tensor<2x3x8xf64>) -> tensor<1x2x3x1xf64> {
      %o, %lse, %l, %r = depth.partial queries(%w : tensor<8xf64>)
        closed(%e, %b : tensor<2x3x8xf64>) heads(1) {epsilon = 1.0e-2 : f64}
      return %lse : tensor<1x2x3x1xf64>
    })");
}

// Of four queries the two in the middle are merged; the log-sum-exp of the
// others has no gradient.
TEST(DepthDerivatives, Merge) {
  Derivative derivative = expectDerivative(R"(
    func.func @loss(%w: tensor<8xf64>, %u: tensor<8xf64>,
                    %o0: tensor<2x3x8xf64>, %o1: tensor<2x3x8xf64>,
                    %p: tensor<2x3x8xf64>, %lse: tensor<4x2x3x2xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>) {
      %h0, %h1, %a, %l, %r = depth.merge queries(%w, %u : tensor<8xf64>)
        mixes(%o0, %o1 : tensor<2x3x8xf64>) partial(%p : tensor<2x3x8xf64>)
        lse(%lse : tensor<4x2x3x2xf64>)
        {epsilon = 1.0e-2 : f64, first_query = 1 : i64}
      return %h0, %h1 : tensor<2x3x8xf64>, tensor<2x3x8xf64>
    })");
  const Tensor &lse = derivative.gradients[5];
  for (size_t query : {0, 3})
    for (size_t i = 0; i < 12; ++i)
      EXPECT_EQ(lse.values[query * 12 + i], 0.0);
}
