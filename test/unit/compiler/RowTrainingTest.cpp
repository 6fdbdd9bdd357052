//===- RowTrainingTest.cpp - Kernels around the layers ------------------===//
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

// The gradient's rows are those of the vocabulary; some ids occur never, some
// more often than a loop over tokens is unrolled.
TEST(RowTraining, EmbeddingAndAdjoint) {
  forEachCase([](const RowCase &one) {
    const int64_t tokens = 12, V = 9, W = one.width;
    RowProgram program = compile(one, tokens, R"(
      row.kernel private @gather(%ids: !row.scalars<i32>, %table: !row.matrix<$Wx$T>)
          -> (%y: !row.matrix<$Wx$T>) {
        $CONSTANTS
        %id = row.load_scalar %ids[%c0] : !row.scalars<i32>
        %i = arith.index_cast %id : i32 to index
        %row = row.load %table[%i] : !row.matrix<$Wx$T> -> vector<$Wx$T>
        row.store %row, %y : vector<$Wx$T>, !row.matrix<$Wx$T>
        row.return
      }
      row.kernel private @adjoint(%g: !row.matrix<$Wx$T>, %starts: !row.vector<10xi32>,
                                  %order: !row.vector<$Rxi32>)
          -> (%gt: !row.matrix<$Wx$T>) {
        $CONSTANTS
        %none = arith.constant dense<0.0> : vector<$Wxf32>
        %r = row.index : index
        %after = arith.addi %r, %c1 : index
        %b = row.load_scalar %starts[%r] : !row.vector<10xi32>
        %e = row.load_scalar %starts[%after] : !row.vector<10xi32>
        %begin = arith.index_cast %b : i32 to index
        %end = arith.index_cast %e : i32 to index
        %sum = scf.for %j = %begin to %end step %c1 iter_args(%a = %none)
            -> (vector<$Wxf32>) {
          %o = row.load_scalar %order[%j] : !row.vector<$Rxi32>
          %token = arith.index_cast %o : i32 to index
          LOAD %row = %g[%token] : !row.matrix<$Wx$T> -> $W
          %next = arith.addf %a, %row : vector<$Wxf32>
          scf.yield %next : vector<$Wxf32>
        }
        STORE %sum, %gt : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run(%ids: memref<$Rxi32>, %table: memref<9x$Wx$T>,
                     %g: memref<$Rx$Wx$T>, %starts: memref<10xi32>,
                     %order: memref<$Rxi32>, %y: memref<$Rx$Wx$T>,
                     %gt: memref<9x$Wx$T>) {
        row.launch @gather(%ids, %table) outs(%y) {rows = $R : i64}
          : (memref<$Rxi32>, memref<9x$Wx$T>) outs (memref<$Rx$Wx$T>)
        row.launch @adjoint(%g, %starts, %order) outs(%gt) {rows = 9 : i64}
          : (memref<$Rx$Wx$T>, memref<10xi32>, memref<$Rxi32>)
          outs (memref<9x$Wx$T>)
        return
      })");
    std::vector<int32_t> ids = {8, 0, 3, 3, 8, 3, 3, 1, 3, 3, 3, 0};
    std::vector<int32_t> starts = {0}, order;
    for (int32_t id = 0; id < V; ++id) {
      for (int32_t token = 0; token < tokens; ++token)
        if (ids[token] == id)
          order.push_back(token);
      starts.push_back(static_cast<int32_t>(order.size()));
    }
    RowBuffer table = RowBuffer::random(V * W, one.type, 1);
    RowBuffer g = RowBuffer::random(tokens * W, one.type, 2);
    RowBuffer y(tokens * W, one.type), gt(V * W, one.type);
    program.call("run", {ids.data(), table.data(), g.data(), starts.data(),
                         order.data(), y.data(), gt.data()});
    std::vector<double> ys(tokens * W), gts(V * W, 0.0);
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t c = 0; c < W; ++c) {
        ys[t * W + c] = table[ids[t] * W + c];
        gts[ids[t] * W + c] += g[t * W + c];
      }
    expectNear(y, ys, 0.0, "y");
    expectNear(gt, gts, toleranceOf(one), "gt");
    return std::vector<RowBuffer>{y, gt};
  });
}

// The kernel of losses and gradients: a maximum, a sum of exponentials, and a
// row that compares columns with the target. Ids below 0 do not count.
TEST(RowTraining, CrossEntropy) {
  auto run = [](const RowCase &one) {
    const int64_t rows = 6, W = one.width;
    RowProgram program = compile(one, rows, R"(
      row.kernel private @loss(%x: !row.matrix<$Wx$T>, %targets: !row.scalars<i32>)
          -> (%losses: !row.scalars<f32>, %gx: !row.matrix<$Wx$T>) {
        $CONSTANTS
        %none = arith.constant 0 : i32
        LOAD %row = %x : !row.matrix<$Wx$T> -> $W
        %max = vector.reduction <maximumf>, %row : vector<$Wxf32> into f32
        %m = vector.broadcast %max : f32 to vector<$Wxf32>
        %0 = arith.subf %row, %m : vector<$Wxf32>
        %1 = math.exp %0 : vector<$Wxf32>
        %sum = vector.reduction <add>, %1 : vector<$Wxf32> into f32
        %log = math.log %sum : f32
        %lse = arith.addf %max, %log : f32
        %id = row.load_scalar %targets[%c0] : !row.scalars<i32>
        %counts = arith.cmpi sge, %id, %none : i32
        %known = arith.maxsi %id, %none : i32
        %target = arith.index_cast %known : i32 to index
        LOAD %there = %x columns(%target) : !row.matrix<$Wx$T> -> 1
        %logit = vector.extract %there[0] : f32 from vector<1xf32>
        %2 = arith.subf %lse, %logit : f32
        %loss = arith.select %counts, %2, %zero : f32
        row.store_scalar %loss, %losses[%c0] : !row.scalars<f32>
        %g = arith.select %counts, %one, %zero : f32
        %gs = vector.broadcast %g : f32 to vector<$Wxf32>
        %l = vector.broadcast %lse : f32 to vector<$Wxf32>
        %3 = arith.subf %row, %l : vector<$Wxf32>
        %p = math.exp %3 : vector<$Wxf32>
        %columns = vector.step : vector<$Wxindex>
        %t = vector.broadcast %target : index to vector<$Wxindex>
        %is = arith.cmpi eq, %columns, %t : vector<$Wxindex>
        %4 = arith.subf %p, %ones : vector<$Wxf32>
        %5 = arith.select %is, %4, %p : vector<$Wxi1>, vector<$Wxf32>
        %6 = arith.mulf %gs, %5 : vector<$Wxf32>
        STORE %6, %gx : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run(%x: memref<$Rx$Wx$T>, %targets: memref<2x3xi32>,
                     %losses: memref<2x3xf32>, %gx: memref<$Rx$Wx$T>) {
        row.launch @loss(%x, %targets) outs(%losses, %gx) {rows = $R : i64}
          : (memref<$Rx$Wx$T>, memref<2x3xi32>)
          outs (memref<2x3xf32>, memref<$Rx$Wx$T>)
        return
      })");
    RowBuffer x = RowBuffer::random(rows * W, one.type, 1);
    auto last = static_cast<int32_t>(W - 1);
    std::vector<int32_t> targets = {0, last, -1, last / 2, last / 3, -7};
    RowBuffer losses(rows), gx(rows * W, one.type);
    program.call("run", {x.data(), targets.data(), losses.data(), gx.data()});
    std::vector<double> expected(rows), gxs(rows * W);
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < W; ++c)
        sum += std::exp(double(x[r * W + c]));
      bool counts = targets[r] >= 0;
      if (counts)
        expected[r] = std::log(sum) - x[r * W + targets[r]];
      for (int64_t c = 0; c < W; ++c)
        gxs[r * W + c] =
            counts ? std::exp(double(x[r * W + c])) / sum - (c == targets[r])
                   : 0;
    }
    expectNear(losses, expected, 1e-5, "losses");
    expectNear(gx, gxs, toleranceOf(one), "gx");
    return std::vector<RowBuffer>{losses, gx};
  };
  forEachCase(run);
  run({"native", "f32", 50257});
}

TEST(RowTraining, AdamW) {
  for (std::string cpu : {"native", "x86-64-v3", "x86-64"}) {
    const int64_t rows = 100, W = 16, decayed = 50;
    RowCase one{cpu, "f32", W};
    RowProgram program = compile(one, rows, R"(
      row.kernel private @adamw(%p: !row.matrix<$Wxf32>, %g: !row.matrix<$Wxf32>,
                                %m: !row.matrix<$Wxf32>, %v: !row.matrix<$Wxf32>,
                                %settings: !row.vector<2xf32>)
          -> (%p1: !row.matrix<$Wxf32>, %m1: !row.matrix<$Wxf32>,
              %v1: !row.matrix<$Wxf32>) {
        $CONSTANTS
        %limit = arith.constant 50 : index
        %r = row.index : index
        %decays = arith.cmpi ult, %r, %limit : index
        %rate = row.load_scalar %settings[%c0] : !row.vector<2xf32>
        %clip = row.load_scalar %settings[%c1] : !row.vector<2xf32>
        %tenth = arith.constant 0.1 : f32
        %lambda = arith.select %decays, %tenth, %zero : f32
        %decay = vector.broadcast %lambda : f32 to vector<$Wxf32>
        %rates = vector.broadcast %rate : f32 to vector<$Wxf32>
        %clips = vector.broadcast %clip : f32 to vector<$Wxf32>
        %b1 = arith.constant dense<0.9> : vector<$Wxf32>
        %a1 = arith.constant dense<0.1> : vector<$Wxf32>
        %b2 = arith.constant dense<0.99> : vector<$Wxf32>
        %a2 = arith.constant dense<0.01> : vector<$Wxf32>
        %small = arith.constant dense<1.0e-4> : vector<$Wxf32>
        %theta = row.load %p : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %raw = row.load %g : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %first = row.load %m : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %second = row.load %v : !row.matrix<$Wxf32> -> vector<$Wxf32>
        %grad = arith.mulf %clips, %raw : vector<$Wxf32>
        %0 = arith.mulf %b1, %first : vector<$Wxf32>
        %1 = arith.mulf %a1, %grad : vector<$Wxf32>
        %2 = arith.addf %0, %1 : vector<$Wxf32>
        %3 = arith.mulf %b2, %second : vector<$Wxf32>
        %4 = arith.mulf %a2, %grad : vector<$Wxf32>
        %5 = arith.mulf %4, %grad : vector<$Wxf32>
        %6 = arith.addf %3, %5 : vector<$Wxf32>
        %root = math.sqrt %6 : vector<$Wxf32>
        %7 = arith.addf %root, %small : vector<$Wxf32>
        %8 = arith.divf %2, %7 : vector<$Wxf32>
        %9 = arith.mulf %decay, %theta : vector<$Wxf32>
        %10 = arith.addf %8, %9 : vector<$Wxf32>
        %11 = arith.mulf %rates, %10 : vector<$Wxf32>
        %12 = arith.subf %theta, %11 : vector<$Wxf32>
        row.store %12, %p1 : vector<$Wxf32>, !row.matrix<$Wxf32>
        row.store %2, %m1 : vector<$Wxf32>, !row.matrix<$Wxf32>
        row.store %6, %v1 : vector<$Wxf32>, !row.matrix<$Wxf32>
        row.return
      }
      func.func @run(%p: memref<1600xf32>, %g: memref<1600xf32>,
                     %m: memref<1600xf32>, %v: memref<1600xf32>,
                     %settings: memref<2xf32>, %p1: memref<1600xf32>,
                     %m1: memref<1600xf32>, %v1: memref<1600xf32>) {
        row.launch @adamw(%p, %g, %m, %v, %settings) outs(%p1, %m1, %v1)
          {rows = $R : i64}
          : (memref<1600xf32>, memref<1600xf32>, memref<1600xf32>,
             memref<1600xf32>, memref<2xf32>)
          outs (memref<1600xf32>, memref<1600xf32>, memref<1600xf32>)
        return
      })");
    RowBuffer p = RowBuffer::random(rows * W, "f32", 1);
    RowBuffer g = RowBuffer::random(rows * W, "f32", 2);
    RowBuffer m(rows * W), v(rows * W);
    std::fill_n(static_cast<float *>(m.data()), rows * W, 0.25f);
    std::fill_n(static_cast<float *>(v.data()), rows * W, 0.5f);
    std::vector<float> settings = {0.125f, 0.5f};
    RowBuffer p1(rows * W), m1(rows * W), v1(rows * W);
    program.call("run", {p.data(), g.data(), m.data(), v.data(),
                         settings.data(), p1.data(), m1.data(), v1.data()});
    std::vector<double> ps(rows * W), ms(rows * W), vs(rows * W);
    for (int64_t i = 0; i < rows * W; ++i) {
      double gradient = 0.5 * g[i];
      ms[i] = 0.9 * 0.25 + 0.1 * gradient;
      vs[i] = 0.99 * 0.5 + 0.01 * gradient * gradient;
      double lambda = i / W < decayed ? 0.1 : 0;
      ps[i] =
          p[i] - 0.125 * (ms[i] / (std::sqrt(vs[i]) + 1e-4) + lambda * p[i]);
    }
    expectNear(p1, ps, 1e-6, "p");
    expectNear(m1, ms, 1e-6, "m");
    expectNear(v1, vs, 1e-6, "v");
  }
}

// In f64, where in f32 most of the terms would be lost.
TEST(RowTraining, SquaredNormInF64) {
  const int64_t rows = 200, W = 130;
  RowProgram program = compile({"native", "f32", W}, rows, R"(
    row.kernel private @norm(%x: !row.matrix<$Wxf32>) -> (%s: !row.sum<1xf64>) {
      %row = row.load %x : !row.matrix<$Wxf32> -> vector<$Wxf32>
      %wide = arith.extf %row : vector<$Wxf32> to vector<$Wxf64>
      %squares = arith.mulf %wide, %wide : vector<$Wxf64>
      %sum = vector.reduction <add>, %squares : vector<$Wxf64> into f64
      %0 = vector.broadcast %sum : f64 to vector<1xf64>
      row.accumulate %0, %s : vector<1xf64>, !row.sum<1xf64>
      row.return
    }
    func.func @run(%x: memref<$Rx$Wxf32>, %s: memref<f64>,
                   %scratch: memref<6x1xf64>) {
      row.launch @norm(%x) outs(%s) scratch(%scratch : memref<6x1xf64>)
        {rows = $R : i64} : (memref<$Rx$Wxf32>) outs (memref<f64>)
      return
    })");
  RowBuffer x = RowBuffer::random(rows * W, "f32", 1);
  static_cast<float *>(x.data())[0] = 1e6f;
  double sum, scratch[6], expected = 0;
  program.call("run", {x.data(), &sum, scratch});
  for (double value : x.values())
    expected += value * value;
  EXPECT_NEAR(sum, expected, 1e-13 * expected);
}
