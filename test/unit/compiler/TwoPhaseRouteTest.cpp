//===- TwoPhaseRouteTest.cpp - Routes in parts equal routes in one --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The equalities that a schedule relies on: a partial with merges is a route,
// and adjoints of routes over the same sources may be taken in one op.
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"
#include "DepthPrograms.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

/// In f64, with sums over a handful of terms of size 1.
static constexpr double tolerance = 1e-12;

static void expectEqual(const Tensor &left, const Tensor &right) {
  EXPECT_LE(distance(left, right), tolerance * std::fmax(norm(right), 1.0));
}

static void expectEqual(const Tensors &left, const Tensors &right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expectEqual(left[i], right[i]);
  }
}

/// Values and gradients of both forms, with random arguments.
static void expectSameInTwoPhases(const RouteShape &shape) {
  CompiledModule module(
      routeFunction("route", shape) + twoPhaseFunction("parts", shape),
      "isobath-differentiate{function=route result=route_gradient},"
      "isobath-differentiate{function=parts result=parts_gradient}");
  Tensors arguments = module.arguments("route_gradient");
  RandomNumbers(/*seed=*/2).fill(arguments);
  expectEqual(module.call("parts_gradient", arguments),
              module.call("route_gradient", arguments));
}

TEST(TwoPhaseRoute, OneClosedSource) {
  expectSameInTwoPhases({.closed = 1, .hasPartial = true});
}

TEST(TwoPhaseRoute, SeveralClosedSources) {
  expectSameInTwoPhases({.closed = 4, .hasPartial = true});
}

TEST(TwoPhaseRoute, SeveralQueriesEachMergedAlone) {
  expectSameInTwoPhases({.queries = 3, .closed = 2, .hasPartial = true});
}

TEST(TwoPhaseRoute, Heads) {
  expectSameInTwoPhases(
      {.queries = 2, .closed = 3, .hasPartial = true, .heads = 4});
}

TEST(TwoPhaseRoute, WeightsOfThePartial) {
  RouteShape shape{.queries = 2, .closed = 3, .hasPartial = true, .heads = 2};
  CompiledModule module(routeFunction("route", shape, /*withWeights=*/true) +
                        twoPhaseFunction("parts", shape, /*withWeights=*/true));
  Tensors arguments = module.arguments("route");
  RandomNumbers(/*seed=*/3).fill(arguments);
  Tensors whole = module.call("route", arguments);
  Tensors parts = module.call("parts", arguments);

  // [Q, B, T, h, N] with the partial last, against [1, B, T, h, 1] a query.
  const Tensor &weights = whole[2];
  size_t rows = parts[2].values.size(), sources = 4;
  for (size_t query = 0; query < 2; ++query)
    for (size_t row = 0; row < rows; ++row)
      EXPECT_NEAR(parts[2 + query].values[row],
                  weights.values[(query * rows + row) * sources + sources - 1],
                  tolerance);
}

// The second query of a partial over three of five sources, extended by the
// other two, against a route over all: mixes, and all of its statistics.
/// The query is `length` times as long as the random numbers are.
static void expectSameWhenExtended(const std::string &type, Target target,
                                   double length, double bound) {
  std::string text = R"(
    func.func @whole(%u: tensor<8xTYPE>, %w: tensor<8xTYPE>,
        %a: tensor<2x3x8xTYPE>, %b: tensor<2x3x8xTYPE>, %c: tensor<2x3x8xTYPE>,
        %d: tensor<2x3x8xTYPE>, %e: tensor<2x3x8xTYPE>)
        -> (tensor<2x3x8xTYPE>, tensor<1x2x3x2x5xTYPE>, tensor<1x2x3x2x5xTYPE>,
            tensor<2x3x5xTYPE>) {
      %h, %weights, %logits, %rstd = depth.route queries(%w : tensor<8xTYPE>)
        closed(%a, %b, %c, %d, %e : tensor<2x3x8xTYPE>) heads(2)
        {epsilon = 1.0e-6 : f64}
      return %h, %weights, %logits, %rstd : tensor<2x3x8xTYPE>,
        tensor<1x2x3x2x5xTYPE>, tensor<1x2x3x2x5xTYPE>, tensor<2x3x5xTYPE>
    }
    func.func @parts(%u: tensor<8xTYPE>, %w: tensor<8xTYPE>,
        %a: tensor<2x3x8xTYPE>, %b: tensor<2x3x8xTYPE>, %c: tensor<2x3x8xTYPE>,
        %d: tensor<2x3x8xTYPE>, %e: tensor<2x3x8xTYPE>)
        -> (tensor<2x3x8xTYPE>, tensor<1x2x3x2x5xTYPE>, tensor<1x2x3x2x5xTYPE>,
            tensor<2x3x5xTYPE>) {
      %o:2, %lse, %l, %r = depth.partial queries(%u, %w : tensor<8xTYPE>)
        closed(%a, %b, %c : tensor<2x3x8xTYPE>) heads(2)
        {epsilon = 1.0e-6 : f64}
      %h, %na, %nl, %nr = depth.extend queries(%w : tensor<8xTYPE>)
        mixes(%o#1 : tensor<2x3x8xTYPE>) newer(%d, %e : tensor<2x3x8xTYPE>)
        lse(%lse : tensor<2x2x3x2xTYPE>)
        {epsilon = 1.0e-6 : f64, first_query = 1 : i64}
      %weights, %logits, %rstd = depth.extended_statistics from 1
        lse(%lse : tensor<2x2x3x2xTYPE>) logits(%l : tensor<2x2x3x2x3xTYPE>)
        rstd(%r : tensor<2x3x3xTYPE>)
        newer(%na, %nl, %nr : tensor<1x2x3x2x2xTYPE>, tensor<1x2x3x2x2xTYPE>,
              tensor<2x3x2xTYPE>)
      return %h, %weights, %logits, %rstd : tensor<2x3x8xTYPE>,
        tensor<1x2x3x2x5xTYPE>, tensor<1x2x3x2x5xTYPE>, tensor<2x3x5xTYPE>
    })";
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;)
    text.replace(at, 4, type);
  CompiledModule module(text, "", target);
  Tensors arguments = module.arguments("whole");
  RandomNumbers(/*seed=*/5).fill(arguments);
  for (double &value : arguments[1].values)
    value *= length;
  Tensors whole = module.call("whole", arguments),
          parts = module.call("parts", arguments);
  ASSERT_EQ(whole.size(), parts.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    EXPECT_LE(distance(whole[i], parts[i]), bound * norm(whole[i]));
  }
}

// A long query makes logits of some hundreds. They overflow exp() in f32 if the
// largest is not taken off, and leave all weight to one source; a short one
// leaves some to each.
TEST(TwoPhaseRoute, ExtendedBySourcesBornSince) {
  expectSameWhenExtended("f64", Target::reference, /*length=*/1, 1e-12);
  expectSameWhenExtended("f64", Target::reference, /*length=*/100, 1e-11);
}

// In f32 a logit of hundreds is rounded by 2^-24 of it, which moves its exp()
// by as much, absolutely.
TEST(TwoPhaseRoute, ExtendedBySourcesBornSinceOnTheCpu) {
  expectSameWhenExtended("f32", Target::cpu, /*length=*/1, 1e-6);
  expectSameWhenExtended("f32", Target::cpu, /*length=*/100, 1e-4);
}

// One op that serves two routes of different numbers of queries and sources
// against one op for each: gradients of sources add up, those of queries stand
// side by side. The saved numbers need not come from routes for that.
TEST(DeferredAdjoint, ServesSeveralRoutes) {
  CompiledModule module(R"(
    func.func @first(
        %w0: tensor<8xf64>, %w1: tensor<8xf64>, %g0: tensor<2x3x8xf64>,
        %g1: tensor<2x3x8xf64>, %e: tensor<2x3x8xf64>, %b: tensor<2x3x8xf64>,
        %a: tensor<2x2x3x2x3xf64>, %l: tensor<2x2x3x2x3xf64>,
        %d: tensor<2x2x3x2xf64>, %r: tensor<2x3x3xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>,
            tensor<8xf64>) {
      %0:4 = depth.route_adjoint_deferred queries(%w0, %w1 : tensor<8xf64>)
        gradients(%g0, %g1 : tensor<2x3x8xf64>)
        closed(%e, %b : tensor<2x3x8xf64>)
        weights(%a : tensor<2x2x3x2x3xf64>) logits(%l : tensor<2x2x3x2x3xf64>)
        dots(%d : tensor<2x2x3x2xf64>) rstd(%r : tensor<2x3x3xf64>)
      return %0#0, %0#1, %0#2, %0#3
        : tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>
    }
    func.func @second(
        %w: tensor<8xf64>, %g: tensor<2x3x8xf64>, %e: tensor<2x3x8xf64>,
        %b: tensor<2x3x8xf64>, %a: tensor<1x2x3x1x2xf64>,
        %l: tensor<1x2x3x1x2xf64>, %d: tensor<1x2x3x1xf64>,
        %r: tensor<2x3x3xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>) {
      %0:3 = depth.route_adjoint_deferred queries(%w : tensor<8xf64>)
        gradients(%g : tensor<2x3x8xf64>) closed(%e, %b : tensor<2x3x8xf64>)
        weights(%a : tensor<1x2x3x1x2xf64>) logits(%l : tensor<1x2x3x1x2xf64>)
        dots(%d : tensor<1x2x3x1xf64>) rstd(%r : tensor<2x3x3xf64>)
      return %0#0, %0#1, %0#2
        : tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>
    }
    func.func @both(
        %w0: tensor<8xf64>, %w1: tensor<8xf64>, %w2: tensor<8xf64>,
        %g0: tensor<2x3x8xf64>, %g1: tensor<2x3x8xf64>, %g2: tensor<2x3x8xf64>,
        %e: tensor<2x3x8xf64>, %b: tensor<2x3x8xf64>,
        %a0: tensor<2x2x3x2x3xf64>, %a1: tensor<1x2x3x1x2xf64>,
        %l0: tensor<2x2x3x2x3xf64>, %l1: tensor<1x2x3x1x2xf64>,
        %d0: tensor<2x2x3x2xf64>, %d1: tensor<1x2x3x1xf64>,
        %r: tensor<2x3x3xf64>)
        -> (tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>,
            tensor<8xf64>) {
      %0:5 = depth.route_adjoint_deferred
        queries(%w0, %w1, %w2 : tensor<8xf64>)
        gradients(%g0, %g1, %g2 : tensor<2x3x8xf64>)
        closed(%e, %b : tensor<2x3x8xf64>)
        weights(%a0, %a1 : tensor<2x2x3x2x3xf64>, tensor<1x2x3x1x2xf64>)
        logits(%l0, %l1 : tensor<2x2x3x2x3xf64>, tensor<1x2x3x1x2xf64>)
        dots(%d0, %d1 : tensor<2x2x3x2xf64>, tensor<1x2x3x1xf64>)
        rstd(%r : tensor<2x3x3xf64>)
      return %0#0, %0#1, %0#2, %0#3, %0#4
        : tensor<2x3x8xf64>, tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>,
          tensor<8xf64>
    })");
  Tensors x = module.arguments("both");
  RandomNumbers(/*seed=*/4).fill(x);
  Tensors both = module.call("both", x);
  Tensors first = module.call(
      "first", {x[0], x[1], x[3], x[4], x[6], x[7], x[8], x[10], x[12], x[14]});
  Tensors second = module.call(
      "second", {x[2], x[5], x[6], x[7], x[9], x[11], x[13], x[14]});
  expectEqual(both, {first[0] + second[0], first[1] + second[1], first[2],
                     first[3], second[2]});
}
