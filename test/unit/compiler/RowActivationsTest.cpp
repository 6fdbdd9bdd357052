//===- RowActivationsTest.cpp - Kernels between products ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

TEST(RowActivations, ResidualAdd) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 7, W = one.width;
    RowProgram program = compile(one, rows, R"(
      row.kernel private @add(%a: !row.matrix<$Wx$T>, %b: !row.matrix<$Wx$T>)
          -> (%y: !row.matrix<$Wx$T>) {
        LOAD %x = %a : !row.matrix<$Wx$T> -> $W
        LOAD %z = %b : !row.matrix<$Wx$T> -> $W
        %s = arith.addf %x, %z : vector<$Wxf32>
        STORE %s, %y : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run(%a: memref<$Rx$Wx$T>, %b: memref<$Rx$Wx$T>,
                     %y: memref<$Rx$Wx$T>) {
        row.launch @add(%a, %b) outs(%y) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<$Rx$Wx$T>) outs (memref<$Rx$Wx$T>)
        return
      })");
    RowBuffer a = RowBuffer::random(rows * W, one.type, 1);
    RowBuffer b = RowBuffer::random(rows * W, one.type, 2);
    RowBuffer y(rows * W, one.type);
    program.call("run", {a.data(), b.data(), y.data()});
    std::vector<double> expected(rows * W);
    for (int64_t i = 0; i < rows * W; ++i)
      expected[i] = a[i] + b[i];
    expectNear(y, expected, toleranceOf(one), "y");
    return std::vector<RowBuffer>{y};
  });
}

/// Each part of a row times two numbers of its own, which lie three apart.
static std::vector<RowBuffer> expectSpread(const RowCase &one, int64_t G) {
  const int64_t rows = 7, W = one.width;
  RowProgram program = compile(one, rows, R"(
    row.kernel private @weigh(%x: !row.matrix<$Wx$T>, %s: !row.scalars<2xf32>)
        -> (%y: !row.matrix<$Wx$T>) {
      $CONSTANTS
      %c3 = arith.constant 3 : index
      LOAD %row = %x : !row.matrix<$Wx$T> -> $W
      %a = row.spread %s[%c0] stride(%c3) plane(%c0) groups($G)
        : !row.scalars<2xf32> -> vector<$Wxf32>
      %b = row.spread %s[%c1] stride(%c3) plane(%c1) groups($G)
        : !row.scalars<2xf32> -> vector<$Wxf32>
      %0 = arith.mulf %row, %a : vector<$Wxf32>
      %1 = arith.mulf %0, %b : vector<$Wxf32>
      STORE %1, %y : $W, !row.matrix<$Wx$T>
      row.return
    }
    func.func @run(%x: memref<$Rx$Wx$T>, %s: memref<2x$Rx$Gx3xf32>,
                   %y: memref<$Rx$Wx$T>) {
      row.launch @weigh(%x, %s) outs(%y) {rows = $R : i64}
        : (memref<$Rx$Wx$T>, memref<2x$Rx$Gx3xf32>) outs (memref<$Rx$Wx$T>)
      return
    })",
                               {{"G", std::to_string(G)}});
  RowBuffer x = RowBuffer::random(rows * W, one.type, 1);
  RowBuffer s = RowBuffer::random(2 * rows * G * 3, "f32", 2);
  RowBuffer y(rows * W, one.type);
  program.call("run", {x.data(), s.data(), y.data()});
  std::vector<double> expected(rows * W);
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t c = 0; c < W; ++c) {
      int64_t number = (t * G + c / (W / G)) * 3;
      expected[t * W + c] =
          double(x[t * W + c]) * s[number] * s[rows * G * 3 + number + 1];
    }
  expectNear(y, expected, toleranceOf(one), "y");
  return {y};
}

// Parts as wide as the row, as one column, and some in between.
TEST(RowActivations, Spread) {
  forEachCase([](const RowCase &one) {
    std::vector<RowBuffer> results;
    for (int64_t G = 1; G <= one.width; ++G)
      if (one.width % G == 0 && (G <= 7 || G == one.width))
        for (RowBuffer &result : expectSpread(one, G))
          results.push_back(result);
    return results;
  });
}

// Parts of whole strips and of whole groups of strips.
TEST(RowActivations, SpreadOverStrips) {
  for (int64_t G : {2, 4, 8})
    expectSpread({"native", "f32", 256}, G);
}

// The last of 3 chunks is shorter than the others.
TEST(RowActivations, RMSNormAndAdjoint) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 97, W = one.width;
    RowProgram program = compile(one, rows, R"(
      row.kernel private @norm(%x: !row.matrix<$Wx$T>, %w: !row.vector<$Wx$T>)
          -> (%y: !row.matrix<$Wx$T>, %r: !row.scalars<f32>) {
        $CONSTANTS
        LOAD %row = %x : !row.matrix<$Wx$T> -> $W
        LOAD %weight = %w : !row.vector<$Wx$T> -> $W
        %squares = arith.mulf %row, %row : vector<$Wxf32>
        %sum = vector.reduction <add>, %squares : vector<$Wxf32> into f32
        %mean = arith.divf %sum, %width : f32
        %shifted = arith.addf %mean, %eps : f32
        %rstd = math.rsqrt %shifted : f32
        row.store_scalar %rstd, %r[%c0] : !row.scalars<f32>
        %scale = vector.broadcast %rstd : f32 to vector<$Wxf32>
        %normal = arith.mulf %row, %scale : vector<$Wxf32>
        %out = arith.mulf %normal, %weight : vector<$Wxf32>
        STORE %out, %y : $W, !row.matrix<$Wx$T>
        row.return
      }
      row.kernel private @adjoint(%g: !row.matrix<$Wx$T>, %x: !row.matrix<$Wx$T>,
                                  %w: !row.vector<$Wx$T>, %r: !row.scalars<f32>)
          -> (%gx: !row.matrix<$Wx$T>, %gw: !row.sum<$Wx$T>) {
        $CONSTANTS
        LOAD %row = %x : !row.matrix<$Wx$T> -> $W
        LOAD %grad = %g : !row.matrix<$Wx$T> -> $W
        LOAD %weight = %w : !row.vector<$Wx$T> -> $W
        %rstd = row.load_scalar %r[%c0] : !row.scalars<f32>
        %a = arith.mulf %grad, %weight : vector<$Wxf32>
        %ax = arith.mulf %a, %row : vector<$Wxf32>
        %dot = vector.reduction <add>, %ax : vector<$Wxf32> into f32
        %r2 = arith.mulf %rstd, %rstd : f32
        %r3 = arith.mulf %r2, %rstd : f32
        %s0 = arith.mulf %r3, %dot : f32
        %s1 = arith.divf %s0, %width : f32
        %shrink = vector.broadcast %s1 : f32 to vector<$Wxf32>
        %scale = vector.broadcast %rstd : f32 to vector<$Wxf32>
        %0 = arith.mulf %scale, %a : vector<$Wxf32>
        %1 = arith.mulf %row, %shrink : vector<$Wxf32>
        %2 = arith.subf %0, %1 : vector<$Wxf32>
        STORE %2, %gx : $W, !row.matrix<$Wx$T>
        %3 = arith.mulf %grad, %row : vector<$Wxf32>
        %4 = arith.mulf %3, %scale : vector<$Wxf32>
        row.accumulate %4, %gw : vector<$Wxf32>, !row.sum<$Wx$T>
        row.return
      }
      func.func @run(%x: memref<$Rx$Wx$T>, %w: memref<$Wx$T>,
                     %g: memref<$Rx$Wx$T>, %y: memref<$Rx$Wx$T>,
                     %r: memref<$Rxf32>, %gx: memref<$Rx$Wx$T>,
                     %gw: memref<$Wx$T>, %scratch: memref<3x$Wxf32>) {
        row.launch @norm(%x, %w) outs(%y, %r) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<$Wx$T>)
          outs (memref<$Rx$Wx$T>, memref<$Rxf32>)
        row.launch @adjoint(%g, %x, %w, %r) outs(%gx, %gw)
          scratch(%scratch : memref<3x$Wxf32>) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<$Rx$Wx$T>, memref<$Wx$T>, memref<$Rxf32>)
          outs (memref<$Rx$Wx$T>, memref<$Wx$T>)
        return
      })");
    RowBuffer x = RowBuffer::random(rows * W, one.type, 1);
    RowBuffer w = RowBuffer::random(W, one.type, 2);
    RowBuffer g = RowBuffer::random(rows * W, one.type, 3);
    RowBuffer y(rows * W, one.type), r(rows), gx(rows * W, one.type);
    RowBuffer gw(W, one.type), scratch(3 * W);
    program.call("run", {x.data(), w.data(), g.data(), y.data(), r.data(),
                         gx.data(), gw.data(), scratch.data()});
    std::vector<double> ys(rows * W), rs(rows), gxs(rows * W), gws(W, 0.0);
    for (int64_t t = 0; t < rows; ++t) {
      double squares = 0, dot = 0;
      for (int64_t c = 0; c < W; ++c) {
        squares += double(x[t * W + c]) * x[t * W + c];
        dot += double(g[t * W + c]) * w[c] * x[t * W + c];
      }
      rs[t] = 1 / std::sqrt(squares / W + 1e-5);
      for (int64_t c = 0; c < W; ++c) {
        double value = x[t * W + c], gradient = g[t * W + c];
        ys[t * W + c] = value * rs[t] * w[c];
        gxs[t * W + c] =
            rs[t] * gradient * w[c] - value * std::pow(rs[t], 3) * dot / W;
        gws[c] += gradient * value * rs[t];
      }
    }
    expectNear(y, ys, toleranceOf(one), "y");
    expectNear(r, rs, 1e-5, "r");
    // Of width 1 the two terms cancel.
    expectNear(gx, gxs, W == 1 ? 0.1 : 2 * toleranceOf(one), "gx");
    expectNear(gw, gws, toleranceOf(one), "gw");
    EXPECT_TRUE(scratch.isIntact());
    return std::vector<RowBuffer>{y, r, gx, gw};
  });
}

TEST(RowActivations, SwiGLUAndAdjoint) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 5, W = one.width;
    RowProgram program = compile(one, rows, R"(
      row.kernel private @swiglu(%a: !row.matrix<$Wx$T>, %b: !row.matrix<$Wx$T>)
          -> (%y: !row.matrix<$Wx$T>) {
        $CONSTANTS
        LOAD %gate = %a : !row.matrix<$Wx$T> -> $W
        LOAD %up = %b : !row.matrix<$Wx$T> -> $W
        %0 = arith.negf %gate : vector<$Wxf32>
        %1 = math.exp %0 : vector<$Wxf32>
        %2 = arith.addf %ones, %1 : vector<$Wxf32>
        %sigma = arith.divf %ones, %2 : vector<$Wxf32>
        %3 = arith.mulf %gate, %sigma : vector<$Wxf32>
        %4 = arith.mulf %3, %up : vector<$Wxf32>
        STORE %4, %y : $W, !row.matrix<$Wx$T>
        row.return
      }
      row.kernel private @adjoint(%a: !row.matrix<$Wx$T>, %b: !row.matrix<$Wx$T>,
                                  %g: !row.matrix<$Wx$T>)
          -> (%ga: !row.matrix<$Wx$T>, %gb: !row.matrix<$Wx$T>) {
        $CONSTANTS
        LOAD %gate = %a : !row.matrix<$Wx$T> -> $W
        LOAD %up = %b : !row.matrix<$Wx$T> -> $W
        LOAD %grad = %g : !row.matrix<$Wx$T> -> $W
        %0 = arith.negf %gate : vector<$Wxf32>
        %1 = math.exp %0 : vector<$Wxf32>
        %2 = arith.addf %ones, %1 : vector<$Wxf32>
        %sigma = arith.divf %ones, %2 : vector<$Wxf32>
        %3 = arith.subf %ones, %sigma : vector<$Wxf32>
        %4 = arith.mulf %gate, %3 : vector<$Wxf32>
        %5 = arith.addf %ones, %4 : vector<$Wxf32>
        %6 = arith.mulf %grad, %sigma : vector<$Wxf32>
        %7 = arith.mulf %6, %up : vector<$Wxf32>
        %8 = arith.mulf %7, %5 : vector<$Wxf32>
        STORE %8, %ga : $W, !row.matrix<$Wx$T>
        %9 = arith.mulf %6, %gate : vector<$Wxf32>
        STORE %9, %gb : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run(%a: memref<$Rx$Wx$T>, %b: memref<$Rx$Wx$T>,
                     %g: memref<$Rx$Wx$T>, %y: memref<$Rx$Wx$T>,
                     %ga: memref<$Rx$Wx$T>, %gb: memref<$Rx$Wx$T>) {
        row.launch @swiglu(%a, %b) outs(%y) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<$Rx$Wx$T>) outs (memref<$Rx$Wx$T>)
        row.launch @adjoint(%a, %b, %g) outs(%ga, %gb) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<$Rx$Wx$T>, memref<$Rx$Wx$T>)
          outs (memref<$Rx$Wx$T>, memref<$Rx$Wx$T>)
        return
      })");
    RowBuffer a = RowBuffer::random(rows * W, one.type, 1);
    RowBuffer b = RowBuffer::random(rows * W, one.type, 2);
    RowBuffer g = RowBuffer::random(rows * W, one.type, 3);
    RowBuffer y(rows * W, one.type), ga(rows * W, one.type);
    RowBuffer gb(rows * W, one.type);
    program.call(
        "run", {a.data(), b.data(), g.data(), y.data(), ga.data(), gb.data()});
    std::vector<double> ys(rows * W), gas(rows * W), gbs(rows * W);
    for (int64_t i = 0; i < rows * W; ++i) {
      double sigma = 1 / (1 + std::exp(-double(a[i])));
      ys[i] = a[i] * sigma * b[i];
      gas[i] = g[i] * b[i] * sigma * (1 + a[i] * (1 - sigma));
      gbs[i] = g[i] * a[i] * sigma;
    }
    expectNear(y, ys, toleranceOf(one), "y");
    expectNear(ga, gas, toleranceOf(one), "ga");
    expectNear(gb, gbs, toleranceOf(one), "gb");
    return std::vector<RowBuffer>{y, ga, gb};
  });
}

// Halves of 2 · $W channels; angles by the token's place in its sequence.
TEST(RowActivations, Rotary) {
  forEachCase([](const RowCase &one) {
    const int64_t T = 3, H = 2, rows = 2 * T * H, W = one.width;
    RowProgram program = compile(one, rows, R"(
      row.kernel private @rotary(%x: !row.matrix<$Dx$T>, %cos: !row.matrix<$Wxf32>,
                                 %sin: !row.matrix<$Wxf32>)
          -> (%y: !row.matrix<$Dx$T>) {
        $CONSTANTS
        %half = arith.constant $W : index
        %heads = arith.constant 2 : index
        %tokens = arith.constant 3 : index
        %r = row.index : index
        %token = arith.divui %r, %heads : index
        %t = arith.remui %token, %tokens : index
        LOAD %u = %x columns(%c0) : !row.matrix<$Dx$T> -> $W
        LOAD %v = %x columns(%half) : !row.matrix<$Dx$T> -> $W
        %c = row.load %cos[%t] : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %s = row.load %sin[%t] : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %uc = arith.mulf %u, %c : vector<$Wxf32>
        %vs = arith.mulf %v, %s : vector<$Wxf32>
        %low = arith.subf %uc, %vs : vector<$Wxf32>
        %vc = arith.mulf %v, %c : vector<$Wxf32>
        %us = arith.mulf %u, %s : vector<$Wxf32>
        %high = arith.addf %vc, %us : vector<$Wxf32>
        STORE %low, %y columns(%c0) : $W, !row.matrix<$Dx$T>
        STORE %high, %y columns(%half) : $W, !row.matrix<$Dx$T>
        row.return
      }
      func.func @run(%x: memref<$Rx$Dx$T>, %cos: memref<3x$Wxf32>,
                     %sin: memref<3x$Wxf32>, %y: memref<$Rx$Dx$T>) {
        row.launch @rotary(%x, %cos, %sin) outs(%y) {rows = $R : i64}
          : (memref<$Rx$Dx$T>, memref<3x$Wxf32>, memref<3x$Wxf32>)
          outs (memref<$Rx$Dx$T>)
        return
      })",
                                 {{"D", std::to_string(2 * W)}});
    RowBuffer x = RowBuffer::random(rows * 2 * W, one.type, 1);
    RowBuffer cosine = RowBuffer::random(T * W, "f32", 2);
    RowBuffer sine = RowBuffer::random(T * W, "f32", 3);
    RowBuffer y(rows * 2 * W, one.type);
    program.call("run", {x.data(), cosine.data(), sine.data(), y.data()});
    std::vector<double> expected(rows * 2 * W);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < W; ++i) {
        double c = cosine[r / H % T * W + i], s = sine[r / H % T * W + i];
        double u = x[r * 2 * W + i], v = x[r * 2 * W + W + i];
        expected[r * 2 * W + i] = u * c - v * s;
        expected[r * 2 * W + W + i] = v * c + u * s;
      }
    expectNear(y, expected, toleranceOf(one), "y");
    return std::vector<RowBuffer>{y};
  });
}
