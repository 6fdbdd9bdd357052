//===- FuzzSafetensors.cpp - Weight files of any contents -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is two bytes that say how long the header is, the header, and the
// data. A file either is refused with an Error or all its tensors can be read.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/error.h"
#include "isobath/runtime/safetensors.h"

#include <cstdlib>
#include <cstring>

using namespace isobath::runtime;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

static void checkFile(std::span<const std::byte> bytes) {
  const SafetensorsFile file(bytes, "weights");
  for (const TensorEntry &entry : file.tensors()) {
    require(file.find(entry.name) == &entry);
    require(entry.offset + entry.elements * bytesOf(entry.type) <=
            bytes.size());
    std::vector<float> floats(entry.elements);
    file.read(entry, std::span(floats));
    std::vector<double> doubles(entry.elements);
    file.read(entry, std::span(doubles));
  }
  const std::vector<ExpectedTensor> expected = {{"a", {2}}, {"b", {}}};
  matchTensors(file, expected, {{"*"}, {"a*"}});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  if (size < 2)
    return 0;
  const std::uint64_t length = data[0] + 256u * data[1];
  // An odd place in memory: nothing may count on alignment.
  std::vector<std::byte> bytes(1 + 8 + size - 2);
  std::memcpy(bytes.data() + 1, &length, 8);
  std::memcpy(bytes.data() + 9, data + 2, size - 2);
  try {
    checkFile(std::span<const std::byte>(bytes).subspan(1));
  } catch (const Error &error) {
    require(std::strchr(error.what(), '\n') == nullptr);
  }
  return 0;
}
