//===- RowLoopsTest.cpp - Row kernels with loops over sources ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

namespace {
/// Sources as a kernel's list.
struct Sources {
  Sources(int64_t count, int64_t elements, const std::string &type)
      : count(count) {
    for (int64_t i = 0; i < count; ++i)
      buffers.push_back(RowBuffer::random(elements, type, 100 + i));
  }
  /// `%s0, %s1` for names of memrefs; `type, type` for their types.
  std::string names(const std::string &prefix) const {
    std::vector<std::string> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(prefix + std::to_string(i));
    return llvm::join(result, ", ");
  }
  std::string arguments(const std::string &prefix) const {
    std::vector<std::string> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(prefix + std::to_string(i) + ": $M");
    return llvm::join(result, ", ");
  }
  std::string types() const {
    return llvm::join(std::vector<std::string>(count, "$M"), ", ");
  }

  int64_t count;
  std::vector<RowBuffer> buffers;
};
} // namespace

static RowProgram compile(const RowCase &one, int64_t rows,
                          const Sources &sources, std::string text,
                          std::vector<Substitution> more) {
  std::vector<Substitution> all = {
      {"SOURCE_ARGUMENTS", sources.arguments("%s")},
      {"SOURCE_NAMES", sources.names("%s")},
      {"RESULT_ARGUMENTS", sources.arguments("%g")},
      {"RESULT_NAMES", sources.names("%g")},
      {"SOURCE_TYPES", sources.types()},
      {"M", "memref<$Rx$Wx$T>"}};
  all.insert(all.end(), more.begin(), more.end());
  all.push_back({"N", std::to_string(sources.count)});
  all.push_back({"R", std::to_string(rows)});
  all.push_back({"W", std::to_string(one.width)});
  return RowProgram(expandRows(substitute(text, all), one.type), one.cpu);
}

/// Two queries over all sources with $H heads: logits first, then the softmax,
/// then the mix, with the sources inside the strip.
static const char *routeText = R"(
  row.kernel private @route(%u0: !row.vector<$Wxf32>, %u1: !row.vector<$Wxf32>,
                            %s: !row.list<$Wx$T>)
      -> (%h0: !row.matrix<$Wx$T>, %h1: !row.matrix<$Wx$T>,
          %alpha: !row.scalars<2xf32>, %logits: !row.scalars<2xf32>,
          %rstd: !row.scalars<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %heads = arith.constant $H : index
    %size = arith.constant $S : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<$Sxf32>
    %lowest = arith.constant 0xFF800000 : f32
    %width = arith.constant $W.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %n = row.count %s : !row.list<$Wx$T>
    scf.for %i = %c0 to %n step %c1 {
      LOAD %x = %s[%i] : !row.list<$Wx$T> -> $W
      %squares = arith.mulf %x, %x : vector<$Wxf32>
      %sum = vector.reduction <add>, %squares : vector<$Wxf32> into f32
      %mean = arith.divf %sum, %width : f32
      %shifted = arith.addf %mean, %eps : f32
      %r = math.rsqrt %shifted : f32
      row.store_scalar %r, %rstd[%i] : !row.scalars<f32>
      scf.for %h = %c0 to %heads step %c1 {
        %c = arith.muli %h, %size : index
        LOAD %xh = %s[%i] columns(%c) : !row.list<$Wx$T> -> $S
        %uh0 = row.load %u0 columns(%c) : !row.vector<$Wxf32> -> vector<$Sxf32>
        %uh1 = row.load %u1 columns(%c) : !row.vector<$Wxf32> -> vector<$Sxf32>
        %p0 = arith.mulf %xh, %uh0 : vector<$Sxf32>
        %p1 = arith.mulf %xh, %uh1 : vector<$Sxf32>
        %d0 = vector.reduction <add>, %p0 : vector<$Sxf32> into f32
        %d1 = vector.reduction <add>, %p1 : vector<$Sxf32> into f32
        %l0 = arith.mulf %r, %d0 : f32
        %l1 = arith.mulf %r, %d1 : f32
        %first = arith.muli %h, %n : index
        %at = arith.addi %first, %i : index
        row.store_scalar %l0, %logits[%at] plane(%c0) : !row.scalars<2xf32>
        row.store_scalar %l1, %logits[%at] plane(%c1) : !row.scalars<2xf32>
      }
    }
    scf.for %h = %c0 to %heads step %c1 {
      %first = arith.muli %h, %n : index
      %end = arith.addi %first, %n : index
      %m:2 = scf.for %at = %first to %end step %c1
          iter_args(%a0 = %lowest, %a1 = %lowest) -> (f32, f32) {
        %l0 = row.load_scalar %logits[%at] plane(%c0) : !row.scalars<2xf32>
        %l1 = row.load_scalar %logits[%at] plane(%c1) : !row.scalars<2xf32>
        %b0 = arith.maximumf %a0, %l0 : f32
        %b1 = arith.maximumf %a1, %l1 : f32
        scf.yield %b0, %b1 : f32, f32
      }
      %t:2 = scf.for %at = %first to %end step %c1
          iter_args(%a0 = %zero, %a1 = %zero) -> (f32, f32) {
        %l0 = row.load_scalar %logits[%at] plane(%c0) : !row.scalars<2xf32>
        %l1 = row.load_scalar %logits[%at] plane(%c1) : !row.scalars<2xf32>
        %x0 = arith.subf %l0, %m#0 : f32
        %x1 = arith.subf %l1, %m#1 : f32
        %e0 = math.exp %x0 : f32
        %e1 = math.exp %x1 : f32
        row.store_scalar %e0, %alpha[%at] plane(%c0) : !row.scalars<2xf32>
        row.store_scalar %e1, %alpha[%at] plane(%c1) : !row.scalars<2xf32>
        %b0 = arith.addf %a0, %e0 : f32
        %b1 = arith.addf %a1, %e1 : f32
        scf.yield %b0, %b1 : f32, f32
      }
      scf.for %at = %first to %end step %c1 {
        %e0 = row.load_scalar %alpha[%at] plane(%c0) : !row.scalars<2xf32>
        %e1 = row.load_scalar %alpha[%at] plane(%c1) : !row.scalars<2xf32>
        %a0 = arith.divf %e0, %t#0 : f32
        %a1 = arith.divf %e1, %t#1 : f32
        row.store_scalar %a0, %alpha[%at] plane(%c0) : !row.scalars<2xf32>
        row.store_scalar %a1, %alpha[%at] plane(%c1) : !row.scalars<2xf32>
      }
      %c = arith.muli %h, %size : index
      %mix:2 = scf.for %i = %c0 to %n step %c1
          iter_args(%o0 = %zeros, %o1 = %zeros)
          -> (vector<$Sxf32>, vector<$Sxf32>) {
        %at = arith.addi %first, %i : index
        %a0 = row.load_scalar %alpha[%at] plane(%c0) : !row.scalars<2xf32>
        %a1 = row.load_scalar %alpha[%at] plane(%c1) : !row.scalars<2xf32>
        %v0 = vector.broadcast %a0 : f32 to vector<$Sxf32>
        %v1 = vector.broadcast %a1 : f32 to vector<$Sxf32>
        LOAD %xh = %s[%i] columns(%c) : !row.list<$Wx$T> -> $S
        %p0 = arith.mulf %v0, %xh : vector<$Sxf32>
        %p1 = arith.mulf %v1, %xh : vector<$Sxf32>
        %n0 = arith.addf %o0, %p0 : vector<$Sxf32>
        %n1 = arith.addf %o1, %p1 : vector<$Sxf32>
        scf.yield %n0, %n1 : vector<$Sxf32>, vector<$Sxf32>
      }
      STORE %mix#0, %h0 columns(%c) : $S, !row.matrix<$Wx$T>
      STORE %mix#1, %h1 columns(%c) : $S, !row.matrix<$Wx$T>
    }
    row.return
  }
  func.func @run($SOURCE_ARGUMENTS, %u0: memref<$Wxf32>, %u1: memref<$Wxf32>,
                 %h0: $M, %h1: $M, %alpha: memref<2x$Rx$Hx$Nxf32>,
                 %logits: memref<2x$Rx$Hx$Nxf32>, %r: memref<$Rx$Nxf32>) {
    row.launch @route(%u0, %u1, [$SOURCE_NAMES]) outs(%h0, %h1, %alpha, %logits, %r)
      {rows = $R : i64} : (memref<$Wxf32>, memref<$Wxf32>, $SOURCE_TYPES)
      outs ($M, $M, memref<2x$Rx$Hx$Nxf32>, memref<2x$Rx$Hx$Nxf32>,
            memref<$Rx$Nxf32>)
    return
  }
)";

static std::vector<RowBuffer> expectRoute(const RowCase &one, int64_t N,
                                          int64_t H) {
  const int64_t rows = 35, W = one.width, S = W / H;
  Sources sources(N, rows * W, one.type);
  RowProgram program =
      compile(one, rows, sources, routeText,
              {{"H", std::to_string(H)}, {"S", std::to_string(S)}});
  RowBuffer u[2] = {RowBuffer::random(W, "f32", 1),
                    RowBuffer::random(W, "f32", 2)};
  RowBuffer h[2] = {RowBuffer(rows * W, one.type),
                    RowBuffer(rows * W, one.type)};
  RowBuffer alpha(2 * rows * H * N), logits(2 * rows * H * N), r(rows * N);
  std::vector<void *> buffers;
  for (RowBuffer &source : sources.buffers)
    buffers.push_back(source.data());
  for (RowBuffer *buffer : {&u[0], &u[1], &h[0], &h[1], &alpha, &logits, &r})
    buffers.push_back(buffer->data());
  program.call("run", buffers);

  std::vector<double> alphas(2 * rows * H * N), logit(alphas.size());
  std::vector<double> rs(rows * N), hs[2];
  hs[0].resize(rows * W);
  hs[1].resize(rows * W);
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t i = 0; i < N; ++i) {
      double squares = 0;
      for (int64_t c = 0; c < W; ++c)
        squares += std::pow(sources.buffers[i][t * W + c], 2);
      rs[t * N + i] = 1 / std::sqrt(squares / W + 1e-5);
    }
    for (int64_t q = 0; q < 2; ++q)
      for (int64_t head = 0; head < H; ++head) {
        size_t at = ((q * rows + t) * H + head) * N;
        double total = 0;
        for (int64_t i = 0; i < N; ++i) {
          double dot = 0;
          for (int64_t c = head * S; c < (head + 1) * S; ++c)
            dot += double(u[q][c]) * sources.buffers[i][t * W + c];
          logit[at + i] = rs[t * N + i] * dot;
          total += std::exp(logit[at + i]);
        }
        for (int64_t i = 0; i < N; ++i) {
          alphas[at + i] = std::exp(logit[at + i]) / total;
          for (int64_t c = head * S; c < (head + 1) * S; ++c)
            hs[q][t * W + c] += alphas[at + i] * sources.buffers[i][t * W + c];
        }
      }
  }
  expectNear(h[0], hs[0], 2 * toleranceOf(one), "h0");
  expectNear(h[1], hs[1], 2 * toleranceOf(one), "h1");
  expectNear(alpha, alphas, 2e-5, "alpha");
  expectNear(logits, logit, 2e-5, "logits");
  expectNear(r, rs, 2e-5, "r");
  return {h[0], h[1], alpha, logits, r};
}

TEST(RowLoops, Route) {
  forEachCase([](const RowCase &one) { return expectRoute(one, 6, 1); });
}

TEST(RowLoops, RouteOverAnyNumberOfSources) {
  for (int64_t N : {1, 2, 3, 4, 5, 8, 9}) {
    SCOPED_TRACE(std::to_string(N) + " sources");
    expectRoute({"native", "f32", 130}, N, 1);
  }
}

TEST(RowLoops, RouteWithHeads) {
  for (std::string type : {"f32", "bf16"})
    for (int64_t H : {2, 5, 13, 130}) {
      SCOPED_TRACE(type + ", " + std::to_string(H) + " heads");
      expectRoute({"native", type, 130}, 5, H);
    }
}

/// The deferred adjoint of a route with one query and head.
static const char *adjointText = R"(
  row.kernel private @adjoint(%u: !row.vector<$Wxf32>, %g: !row.matrix<$Wx$T>,
                              %s: !row.list<$Wx$T>, %alpha: !row.scalars<f32>,
                              %logits: !row.scalars<f32>, %dots: !row.scalars<f32>,
                              %rstd: !row.scalars<f32>)
      -> (%gs: !row.list<$Wx$T>, %gu: !row.sum<$Wxf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant $W.0 : f32
    %n = row.count %s : !row.list<$Wx$T>
    LOAD %grad = %g : !row.matrix<$Wx$T> -> $W
    %query = row.load %u : !row.vector<$Wxf32> -> vector<$Wxf32>
    %dot = row.load_scalar %dots[%c0] : !row.scalars<f32>
    scf.for %i = %c0 to %n step %c1 {
      LOAD %x = %s[%i] : !row.list<$Wx$T> -> $W
      %p = arith.mulf %grad, %x : vector<$Wxf32>
      %own = vector.reduction <add>, %p : vector<$Wxf32> into f32
      %a = row.load_scalar %alpha[%i] : !row.scalars<f32>
      %l = row.load_scalar %logits[%i] : !row.scalars<f32>
      %r = row.load_scalar %rstd[%i] : !row.scalars<f32>
      %0 = arith.subf %own, %dot : f32
      %delta = arith.mulf %a, %0 : f32
      %dr = arith.mulf %delta, %r : f32
      %1 = arith.mulf %dr, %r : f32
      %2 = arith.mulf %1, %l : f32
      %3 = arith.divf %2, %width : f32
      %va = vector.broadcast %a : f32 to vector<$Wxf32>
      %vdr = vector.broadcast %dr : f32 to vector<$Wxf32>
      %v3 = vector.broadcast %3 : f32 to vector<$Wxf32>
      %4 = arith.mulf %va, %grad : vector<$Wxf32>
      %5 = arith.mulf %vdr, %query : vector<$Wxf32>
      %6 = arith.addf %4, %5 : vector<$Wxf32>
      %7 = arith.mulf %v3, %x : vector<$Wxf32>
      %8 = arith.subf %6, %7 : vector<$Wxf32>
      STORE %8, %gs[%i] : $W, !row.list<$Wx$T>
      %9 = arith.mulf %vdr, %x : vector<$Wxf32>
      row.accumulate %9, %gu : vector<$Wxf32>, !row.sum<$Wxf32>
    }
    row.return
  }
  func.func @run($SOURCE_ARGUMENTS, $RESULT_ARGUMENTS, %u: memref<$Wxf32>, %g: $M,
                 %alpha: memref<$Rx$Nxf32>, %logits: memref<$Rx$Nxf32>,
                 %dots: memref<$Rxf32>, %r: memref<$Rx$Nxf32>,
                 %gu: memref<$Wxf32>, %scratch: memref<2x$Wxf32>) {
    row.launch @adjoint(%u, %g, [$SOURCE_NAMES], %alpha, %logits, %dots, %r)
      outs([$RESULT_NAMES], %gu) scratch(%scratch : memref<2x$Wxf32>)
      {rows = $R : i64}
      : (memref<$Wxf32>, $M, $SOURCE_TYPES, memref<$Rx$Nxf32>, memref<$Rx$Nxf32>,
         memref<$Rxf32>, memref<$Rx$Nxf32>)
      outs ($SOURCE_TYPES, memref<$Wxf32>)
    return
  }
)";

TEST(RowLoops, RouteAdjoint) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 67, W = one.width, N = 5;
    Sources sources(N, rows * W, one.type);
    Sources results(N, rows * W, one.type);
    RowProgram program = compile(one, rows, sources, adjointText, {});
    RowBuffer u = RowBuffer::random(W, "f32", 1);
    RowBuffer g = RowBuffer::random(rows * W, one.type, 2);
    RowBuffer alpha = RowBuffer::random(rows * N, "f32", 3);
    RowBuffer logits = RowBuffer::random(rows * N, "f32", 4);
    RowBuffer dots = RowBuffer::random(rows, "f32", 5);
    RowBuffer r = RowBuffer::random(rows * N, "f32", 6);
    RowBuffer gu(W), scratch(2 * W);
    std::vector<void *> buffers;
    for (RowBuffer &source : sources.buffers)
      buffers.push_back(source.data());
    for (RowBuffer &result : results.buffers)
      buffers.push_back(result.data());
    for (RowBuffer *buffer :
         {&u, &g, &alpha, &logits, &dots, &r, &gu, &scratch})
      buffers.push_back(buffer->data());
    program.call("run", buffers);

    std::vector<double> gus(W);
    std::vector<RowBuffer> all;
    for (int64_t i = 0; i < N; ++i) {
      std::vector<double> expected(rows * W);
      const RowBuffer &s = sources.buffers[i];
      for (int64_t t = 0; t < rows; ++t) {
        double own = 0;
        for (int64_t c = 0; c < W; ++c)
          own += double(g[t * W + c]) * s[t * W + c];
        double rt = r[t * N + i], a = alpha[t * N + i];
        double delta = a * (own - dots[t]);
        for (int64_t c = 0; c < W; ++c) {
          expected[t * W + c] = a * g[t * W + c] +
                                delta * (rt * u[c] - logits[t * N + i] * rt *
                                                         rt * s[t * W + c] / W);
          gus[c] += delta * rt * s[t * W + c];
        }
      }
      expectNear(results.buffers[i], expected, 2 * toleranceOf(one), "gs");
      all.push_back(results.buffers[i]);
    }
    expectNear(gu, gus, 2e-5, "gu");
    all.push_back(gu);
    return all;
  });
}

// A mix that is normalised afterwards is needed twice: it lies in a buffer.
TEST(RowLoops, MixThatSeveralPassesRead) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 3, W = one.width, N = 5;
    Sources sources(N, rows * W, one.type);
    RowProgram program = compile(one, rows, sources, R"(
      row.kernel private @mix(%s: !row.list<$Wx$T>, %a: !row.scalars<f32>)
          -> (%y: !row.matrix<$Wx$T>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zeros = arith.constant dense<0.0> : vector<$Wxf32>
        %n = row.count %s : !row.list<$Wx$T>
        %mix = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zeros)
            -> (vector<$Wxf32>) {
          %w = row.load_scalar %a[%i] : !row.scalars<f32>
          %v = vector.broadcast %w : f32 to vector<$Wxf32>
          LOAD %x = %s[%i] : !row.list<$Wx$T> -> $W
          %p = arith.mulf %v, %x : vector<$Wxf32>
          %next = arith.addf %o, %p : vector<$Wxf32>
          scf.yield %next : vector<$Wxf32>
        }
        %squares = arith.mulf %mix, %mix : vector<$Wxf32>
        %sum = vector.reduction <add>, %squares : vector<$Wxf32> into f32
        %r = math.rsqrt %sum : f32
        %scale = vector.broadcast %r : f32 to vector<$Wxf32>
        %out = arith.mulf %mix, %scale : vector<$Wxf32>
        STORE %out, %y : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run($SOURCE_ARGUMENTS, %a: memref<$Rx$Nxf32>, %y: $M) {
        row.launch @mix([$SOURCE_NAMES], %a) outs(%y) {rows = $R : i64}
          : ($SOURCE_TYPES, memref<$Rx$Nxf32>) outs ($M)
        return
      })",
                                 {});
    RowBuffer a = RowBuffer::random(rows * N, "f32", 1);
    RowBuffer y(rows * W, one.type);
    std::vector<void *> buffers;
    for (RowBuffer &source : sources.buffers)
      buffers.push_back(source.data());
    buffers.push_back(a.data());
    buffers.push_back(y.data());
    program.call("run", buffers);
    std::vector<double> expected(rows * W);
    for (int64_t t = 0; t < rows; ++t) {
      double squares = 0;
      for (int64_t c = 0; c < W; ++c) {
        for (int64_t i = 0; i < N; ++i)
          expected[t * W + c] +=
              double(a[t * N + i]) * sources.buffers[i][t * W + c];
        squares += std::pow(expected[t * W + c], 2);
      }
      for (int64_t c = 0; c < W; ++c)
        expected[t * W + c] /= std::sqrt(squares);
    }
    expectNear(y, expected, 2 * toleranceOf(one), "y");
    return std::vector<RowBuffer>{y};
  });
}

// A loop that carries a row and reduces it in each iteration cannot run inside
// the strip.
TEST(RowLoops, RowCarriedPastReductions) {
  forEachCase([](const RowCase &one) {
    const int64_t rows = 3, W = one.width, N = 4;
    Sources sources(N, rows * W, one.type);
    RowProgram program = compile(one, rows, sources, R"(
      row.kernel private @chain(%s: !row.list<$Wx$T>, %x: !row.matrix<$Wx$T>)
          -> (%y: !row.matrix<$Wx$T>, %d: !row.scalars<f32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0.0 : f32
        %width = arith.constant $W.0 : f32
        %n = row.count %s : !row.list<$Wx$T>
        LOAD %first = %x : !row.matrix<$Wx$T> -> $W
        %last, %total = scf.for %i = %c0 to %n step %c1
            iter_args(%v = %first, %sum = %zero) -> (vector<$Wxf32>, f32) {
          LOAD %z = %s[%i] : !row.list<$Wx$T> -> $W
          %p = arith.mulf %v, %z : vector<$Wxf32>
          %dot = vector.reduction <add>, %p : vector<$Wxf32> into f32
          %mean = arith.divf %dot, %width : f32
          %b = vector.broadcast %mean : f32 to vector<$Wxf32>
          %q = arith.mulf %b, %z : vector<$Wxf32>
          %next = arith.addf %v, %q : vector<$Wxf32>
          %more = arith.addf %sum, %mean : f32
          scf.yield %next, %more : vector<$Wxf32>, f32
        }
        row.store_scalar %total, %d[%c0] : !row.scalars<f32>
        STORE %last, %y : $W, !row.matrix<$Wx$T>
        row.return
      }
      func.func @run($SOURCE_ARGUMENTS, %x: $M, %y: $M, %d: memref<$Rxf32>) {
        row.launch @chain([$SOURCE_NAMES], %x) outs(%y, %d) {rows = $R : i64}
          : ($SOURCE_TYPES, $M) outs ($M, memref<$Rxf32>)
        return
      })",
                                 {});
    RowBuffer x = RowBuffer::random(rows * W, one.type, 1);
    RowBuffer y(rows * W, one.type), d(rows);
    std::vector<void *> buffers;
    for (RowBuffer &source : sources.buffers)
      buffers.push_back(source.data());
    for (RowBuffer *buffer : {&x, &y, &d})
      buffers.push_back(buffer->data());
    program.call("run", buffers);
    std::vector<double> expected = x.values(), totals(rows);
    for (int64_t t = 0; t < rows; ++t)
      for (int64_t i = 0; i < N; ++i) {
        double dot = 0;
        for (int64_t c = 0; c < W; ++c)
          dot += expected[t * W + c] * sources.buffers[i][t * W + c];
        for (int64_t c = 0; c < W; ++c)
          expected[t * W + c] += dot / W * sources.buffers[i][t * W + c];
        totals[t] += dot / W;
      }
    expectNear(y, expected, 2 * toleranceOf(one), "y");
    expectNear(d, totals, 1e-4, "d");
    return std::vector<RowBuffer>{y, d};
  });
}
