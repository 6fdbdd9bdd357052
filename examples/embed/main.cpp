//===- main.cpp - A compiled model inside another program -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores a short text with a model that is linked into this program, and says
// which byte the model expects next. For models of bytes in f32.
//
//     embed WEIGHTS TEXT
//
//===----------------------------------------------------------------------===//

#include <isobath/runtime/buffers.h>
#include <isobath/runtime/error.h>
#include <isobath/runtime/tensors.h>
#include <isobath/runtime/unit.h>
#include <isobath/runtime/windows.h>

#include <algorithm>
#include <iostream>
#include <numeric>

using namespace isobath::runtime;

extern "C" const IsobathUnit isobath_unit; // from the compiled object

static void score(const char *weights, std::string_view text) {
  const Unit unit(&isobath_unit);
  const Manifest &manifest = unit.manifest();
  if (manifest.vocabulary != 256 || manifest.elementType != BufferType::f32)
    fail("model: expected one of 256 bytes in f32");
  if (text.size() < 2 || text.size() > manifest.context)
    fail("text: given ", text.size(), " bytes, expected 2 to ",
         manifest.context);

  Buffers buffers;
  const Buffers::Call loss = buffers.plan(unit.entry("loss"));
  const Buffers::Call logits = buffers.plan(unit.entry("logits"));
  buffers.allocate();
  readTensors(weights, manifest, buffers, weightTensors);

  // The text is sequence 0; all that follows it in the batch does not count.
  const auto tokens = buffers.write<std::int32_t>("tokens");   // [B, T]
  const auto targets = buffers.write<std::int32_t>("targets"); // [B, T]
  std::ranges::fill(targets, ignoredTarget);
  for (std::size_t i = 0; i < text.size(); ++i)
    tokens[i] = static_cast<unsigned char>(text[i]);
  std::copy_n(tokens.begin() + 1, text.size() - 1, targets.begin());
  loss.run();
  logits.run();

  const auto losses = buffers.read<float>("losses"); // [B, T]
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  const auto scores = buffers
                          .read<float>("logits") // [V], after the last byte
                          .subspan((text.size() - 1) * manifest.vocabulary,
                                   manifest.vocabulary);
  std::cout << "loss " << sum / static_cast<double>(text.size() - 1)
            << " nats per byte\nexpected next: byte "
            << std::ranges::max_element(scores) - scores.begin() << '\n';
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: embed WEIGHTS TEXT\n";
    return 2;
  }
  try {
    score(argv[1], argv[2]);
    return 0;
  } catch (const Error &error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
