//===- FunctionBuffer.cpp - Memory of functions, and files of it ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionBuffer.h"
#include "isobath/runtime/bfloat16.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/random.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace isobath;
using namespace isobath::runtime;

std::string isobath::nameOfType(mlir::Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

bool isobath::isFloat(const FunctionBuffer &buffer) {
  return buffer.type == "f32" || buffer.type == "f64" || buffer.type == "bf16";
}

static void narrow(std::span<const float> values, std::span<std::byte> bytes) {
  std::ranges::transform(values, viewAs<Bfloat16>(bytes).begin(),
                         [](float value) { return toBfloat16(value); });
}

void isobath::fillRandom(const FunctionBuffer &buffer,
                         std::span<std::byte> bytes) {
  if (buffer.type == "f32") {
    fillNormal(0, buffer.name, 1, viewAs<float>(bytes));
  } else if (buffer.type == "f64") {
    fillNormal(0, buffer.name, 1, viewAs<double>(bytes));
  } else if (buffer.type == "bf16") {
    std::vector<float> exact(bytes.size() / sizeof(Bfloat16));
    fillNormal(0, buffer.name, 1, exact);
    narrow(exact, bytes);
  }
}

void isobath::readTensor(const SafetensorsFile &file, const TensorEntry &tensor,
                         const FunctionBuffer &buffer,
                         std::span<std::byte> bytes) {
  if (buffer.shape != tensor.shape)
    fail(file.name(), ": ", printable(tensor.name), ": given ",
         describe(tensor.shape), ", expected ", describe(buffer.shape));
  if (buffer.type == "f64") {
    file.read(tensor, viewAs<double>(bytes));
  } else if (buffer.type == "f32") {
    file.read(tensor, viewAs<float>(bytes));
  } else {
    std::vector<float> values(tensor.elements);
    file.read(tensor, values);
    narrow(values, bytes);
  }
}

void TensorFile::add(const FunctionBuffer &buffer,
                     std::span<const std::byte> bytes) {
  TensorToWrite &tensor = tensors.emplace_back();
  tensor.name = buffer.name;
  tensor.shape = buffer.shape;
  if (buffer.type == "f64") {
    tensor.type = ElementType::f64;
    tensor.values = viewAs<double>(bytes);
  } else if (buffer.type == "f32") {
    tensor.type = ElementType::f32;
    tensor.values = viewAs<float>(bytes);
  } else {
    tensor.type = ElementType::bf16;
    std::vector<float> &values = widened.emplace_back();
    for (Bfloat16 value : viewAs<Bfloat16>(bytes))
      values.push_back(toFloat(value));
    tensor.values = std::span<const float>(values);
  }
}

void TensorFile::write(const std::string &path) {
  writeSafetensors(path, std::move(tensors));
}
