//===- ChunkHeadTest.cpp - A head in chunks is the head -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads of random sizes with their gradients, in chunks of random sizes, on
// both targets, beside the head as a whole on the reference target.
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"
#include "isobath/runtime/cpu_library.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace isobath::test;

namespace {
struct HeadShape {
  int64_t B, T, D, V;
  bool isTied; // the gradient of the embedding is added to that of the weight
  int64_t chunk;
};
} // namespace

static HeadShape randomShape(std::mt19937_64 &engine) {
  auto choose = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(engine() % (most - least + 1));
  };
  HeadShape shape{.B = choose(1, 4),
                  .T = choose(1, 9),
                  .D = choose(1, 40),
                  .V = choose(2, 90),
                  .isTied = choose(0, 1) == 1,
                  .chunk = 0};
  shape.chunk = choose(1, std::max<int64_t>(1, shape.B * shape.T - 1));
  return shape;
}

static std::string print(const HeadShape &shape) {
  return "B " + std::to_string(shape.B) + ", T " + std::to_string(shape.T) +
         ", D " + std::to_string(shape.D) + ", V " + std::to_string(shape.V) +
         (shape.isTied ? ", tied" : "") + ", chunks of " +
         std::to_string(shape.chunk);
}

/// @head(x, w, targets, g, ids) -> (losses, gradient of 2x, that of w), with a
/// tensor in front and one behind that are the head's alone.
static std::string headFunction(const HeadShape &shape, std::string type) {
  std::string text = R"(
    func.func @head(%x: X, %w: W, %targets: I, %g: G, %ids: I) -> (G, X, W) {
      %two = net.scale %x {factor = 2.0 : f64} : (X) -> X
      %y = net.linear %two, %w : (X, W) -> Y
      %losses, %lse = net.cross_entropy %y, %targets : (Y, I) -> (G, G)
      %gy = net.cross_entropy_adjoint %y, %targets, %lse, %g
        : (Y, I, G, G) -> Y
      %gtwo = net.linear_input_adjoint %gy, %w : (Y, W) -> X
      %gw = net.linear_weight_adjoint %gy, %two : (Y, X) -> W
      %gx = net.scale %gtwo {factor = 3.0 : f64} : (X) -> X
      TIED
      return %losses, %gx, %gall : G, X, W
    })";
  const std::string tokens =
      std::to_string(shape.B) + "x" + std::to_string(shape.T);
  const std::string V = std::to_string(shape.V), D = std::to_string(shape.D);
  const std::pair<std::string, std::string> replacements[] = {
      {"TIED", shape.isTied
                   ? "%ge = net.embedding_adjoint %gx, %ids {rows = " + V +
                         " : i64} : (X, I) -> W\n"
                         "%gall = net.add %gw, %ge : (W, W) -> W"
                   : "%gall = net.scale %gw {factor = 1.0 : f64} : (W) -> W"},
      {"X", "tensor<" + tokens + "x" + D + "x" + type + ">"},
      {"Y", "tensor<" + tokens + "x" + V + "x" + type + ">"},
      {"W", "tensor<" + V + "x" + D + "x" + type + ">"},
      {"I", "tensor<" + tokens + "xi32>"},
      {"G", "tensor<" + tokens + "x" + type + ">"}};
  for (const auto &[from, to] : replacements)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

static Tensors randomArguments(const CompiledModule &module,
                               const HeadShape &shape,
                               std::mt19937_64 &engine) {
  Tensors arguments = module.arguments("head");
  RandomNumbers(engine()).fill(arguments);
  for (double &target : arguments[2].values) // -1: does not count
    target = static_cast<double>(engine() % (shape.V + 1)) - 1;
  for (double &id : arguments[4].values)
    id = static_cast<double>(engine() % shape.V);
  return arguments;
}

static void expectEqual(const Tensors &found, const Tensors &expected,
                        double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    // Not a number is never small enough.
    EXPECT_LE(distance(found[i], expected[i]),
              tolerance * std::fmax(norm(expected[i]), 1e-3));
  }
}

static std::string chunkPass(const HeadShape &shape) {
  return "isobath-chunk-head{tokens=" + std::to_string(shape.chunk) + "}";
}

/// Runs `test` on shapes, with numbers that are the same in every run.
static void forRandomShapes(uint64_t seed, void (*test)(const HeadShape &,
                                                        std::mt19937_64 &)) {
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 8; ++i) {
    HeadShape shape = randomShape(engine);
    SCOPED_TRACE(print(shape));
    test(shape, engine);
  }
}

// In f64 the two differ by the order of additions alone.
TEST(ChunkHead, ReferenceOfChunksIsThatOfTheWhole) {
  forRandomShapes(1, [](const HeadShape &shape, std::mt19937_64 &engine) {
    const std::string text = headFunction(shape, "f64");
    CompiledModule whole(text), chunks(text, chunkPass(shape));
    const Tensors arguments = randomArguments(whole, shape, engine);
    expectEqual(chunks.call("head", arguments), whole.call("head", arguments),
                1e-13);
  });
}

/// The same on the CPU, after `passes`; with the same bits for two threads.
static void compareOnCpu(const HeadShape &shape, std::mt19937_64 &engine,
                         const std::string &passes, double tolerance) {
  const std::string text = headFunction(shape, "f32");
  CompiledModule whole(text, passes);
  CompiledModule chunks(text,
                        passes + (passes.empty() ? "" : ",") + chunkPass(shape),
                        Target::cpu);
  const Tensors arguments = randomArguments(whole, shape, engine);
  isobath::runtime::setThreads(1);
  const Tensors found = chunks.call("head", arguments);
  expectEqual(found, whole.call("head", arguments), tolerance);
  isobath::runtime::setThreads(2);
  const Tensors again = chunks.call("head", arguments);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(again[i].values, found[i].values) << "result " << i;
}

TEST(ChunkHead, CpuIsTheReference) {
  forRandomShapes(2, [](const HeadShape &shape, std::mt19937_64 &engine) {
    compareOnCpu(shape, engine, "", 1e-5);
  });
}

// A number in the middle between two of bf16 becomes the other one, now and
// then: 2^-8 of one of many.
TEST(ChunkHead, CpuIsTheReferenceInBf16) {
  forRandomShapes(3, [](const HeadShape &shape, std::mt19937_64 &engine) {
    compareOnCpu(shape, engine, "isobath-bf16", 4e-3);
  });
}
