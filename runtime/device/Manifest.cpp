//===- Manifest.cpp - What a compiled unit says about itself --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the JSON object of docs/manifest.md. What each entry must look like is
// checked in EntryContract.cpp.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/manifest.h"

#include "EntryContract.h"
#include "isobath/runtime/abi.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/json_value.h"

#include <algorithm>
#include <set>

namespace isobath::runtime {

std::string_view nameOf(BufferType type) {
  switch (type) {
  case BufferType::i8:
    return "i8";
  case BufferType::i32:
    return "i32";
  case BufferType::f32:
    return "f32";
  case BufferType::f64:
    return "f64";
  }
  return "";
}

std::uint64_t bytesOf(BufferType type) {
  switch (type) {
  case BufferType::i8:
    return 1;
  case BufferType::i32:
  case BufferType::f32:
    return 4;
  case BufferType::f64:
    return 8;
  }
  return 0;
}

bool EntrySignature::hasBuffer(std::string_view wanted) const {
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer &buffer) {
    return buffer.name == wanted;
  });
}

const Buffer &EntrySignature::buffer(std::string_view wanted) const {
  for (const Buffer &buffer : buffers)
    if (buffer.name == wanted)
      return buffer;
  fail("manifest: entry ", name, ": given no buffer ", wanted);
}

std::uint64_t Manifest::parameterCount() const {
  std::uint64_t count = 0;
  for (const Parameter &parameter : parameters)
    count += parameter.elements;
  return count;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The largest number of elements whose bytes still fit 64 bits.
static constexpr std::uint64_t mostElements = std::uint64_t(1) << 59;

static BufferType parseBufferType(const JsonValue &value) {
  std::string name = value.text();
  for (BufferType type :
       {BufferType::i8, BufferType::i32, BufferType::f32, BufferType::f64})
    if (nameOf(type) == name)
      return type;
  value.fail("i8, i32, f32 or f64");
}

static Shape parseShape(const JsonValue &value) {
  Shape shape;
  std::uint64_t elements = 1;
  for (const JsonValue &extent : value.elements()) {
    shape.push_back(extent.count(1));
    if (__builtin_mul_overflow(elements, shape.back(), &elements) ||
        elements > mostElements)
      value.fail("at most 2^59 elements");
  }
  return shape;
}

static std::uint64_t elementsOf(const Shape &shape) {
  std::uint64_t elements = 1;
  for (std::uint64_t extent : shape)
    elements *= extent;
  return elements;
}

static InitialValues parseInitialValues(const JsonValue &value) {
  InitialValues initial;
  initial.kind = parseInitialKind(value["kind"].text());
  if (initial.kind == InitialValues::Kind::normal) {
    initial.std = value["std"].number(0);
    initial.key = value["key"].text();
  }
  return initial;
}

static Parameter parseParameter(const JsonValue &value,
                                const Manifest &manifest) {
  Parameter parameter;
  parameter.name = value["name"].text();
  parameter.shape = parseShape(value["shape"]);
  parameter.elements = elementsOf(parameter.shape);
  parameter.offset = value["offset"].count(0, manifest.elements);
  std::uint64_t aligned = ISOBATH_ABI_ALIGNMENT / bytesOf(manifest.elementType);
  if (parameter.offset % aligned != 0)
    value["offset"].fail(concat("a multiple of ", aligned));
  if (parameter.elements > manifest.elements - parameter.offset)
    value["offset"].fail(
        concat("a tensor that ends by element ", manifest.elements));
  parameter.initial = parseInitialValues(value["initial"]);
  parameter.decays = value["decay"].boolean();
  bool amongMatrices =
      parameter.offset + parameter.elements <= manifest.matrixElements;
  if (parameter.decays && !amongMatrices)
    value["decay"].fail(concat("false behind the first matrix_elements = ",
                               manifest.matrixElements));
  if (!parameter.decays && parameter.offset < manifest.matrixElements)
    value["decay"].fail(concat("true within the first matrix_elements = ",
                               manifest.matrixElements));
  return parameter;
}

/// Tensors share no element and no name.
static void checkDisjoint(const std::vector<Parameter> &parameters) {
  std::vector<const Parameter *> byOffset;
  std::set<std::string_view> names;
  for (const Parameter &parameter : parameters) {
    byOffset.push_back(&parameter);
    if (!names.insert(parameter.name).second)
      fail("manifest.parameters.tensors: given ", parameter.name,
           " twice, expected distinct names");
  }
  std::sort(byOffset.begin(), byOffset.end(),
            [](const Parameter *a, const Parameter *b) {
              return a->offset < b->offset;
            });
  for (size_t i = 1; i < byOffset.size(); ++i) {
    const Parameter &before = *byOffset[i - 1];
    if (before.offset + before.elements > byOffset[i]->offset)
      fail("manifest.parameters.tensors: given ", before.name, " and ",
           byOffset[i]->name, " that overlap, expected distinct elements");
  }
}

static void parseParameters(const JsonValue &value, Manifest &manifest) {
  manifest.elements = value["elements"].count(1, mostElements);
  manifest.matrixElements =
      value["matrix_elements"].count(0, manifest.elements);
  for (const JsonValue &tensor : value["tensors"].elements())
    manifest.parameters.push_back(parseParameter(tensor, manifest));
  checkDisjoint(manifest.parameters);
}

static Buffer parseBuffer(const JsonValue &value) {
  Buffer buffer;
  buffer.name = value["name"].text();
  buffer.type = parseBufferType(value["type"]);
  buffer.shape = parseShape(value["shape"]);
  std::uint64_t least = elementsOf(buffer.shape) * bytesOf(buffer.type);
  buffer.bytes = value["bytes"].count(least);
  if (value.has("kind")) {
    if (value["kind"].text() != "distribution")
      value["kind"].fail("distribution");
    buffer.isDistribution = true;
    buffer.groups = value["groups"].texts();
    buffer.sources = value["sources"].texts();
  }
  return buffer;
}

static CpuRequirement parseCpu(const JsonValue &value) {
  return {value["name"].text(), value["features"].texts()};
}

static EntrySignature parseEntry(const JsonValue &value) {
  EntrySignature entry;
  entry.name = value["name"].text();
  if (value.has("batch"))
    entry.batch = value["batch"].count(1);
  for (const JsonValue &buffer : value["buffers"].elements())
    entry.buffers.push_back(parseBuffer(buffer));
  return entry;
}

Manifest parseManifest(std::string_view json) {
  nlohmann::ordered_json object = parseJson(json, "manifest");
  JsonValue root(object, "manifest");
  Manifest manifest;
  manifest.name = root["name"].text();
  manifest.device = root["device"].text();
  manifest.lowering = root["lowering"].text();
  if (root.has("cpu"))
    manifest.cpu = parseCpu(root["cpu"]);
  manifest.elementType = parseBufferType(root["element_type"]);
  if (manifest.elementType != BufferType::f32 &&
      manifest.elementType != BufferType::f64)
    root["element_type"].fail("f32 or f64");
  // Tokens are i32, and -1 is taken.
  manifest.vocabulary = root["vocabulary"].count(1, INT32_MAX);
  manifest.context = root["context"].count(1);
  manifest.source.format = root["source"]["format"].text();
  if (manifest.source.format != "yaml" && manifest.source.format != "mlir")
    root["source"]["format"].fail("yaml or mlir");
  manifest.source.text = root["source"]["text"].text();
  parseParameters(root["parameters"], manifest);
  manifest.train = parseTrainSettings(root["train"]);
  std::set<std::string> names;
  for (const JsonValue &value : root["entries"].elements()) {
    EntrySignature entry = parseEntry(value);
    if (!names.insert(entry.name).second)
      value["name"].fail("each entry once");
    checkEntryContract(entry, manifest);
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

} // namespace isobath::runtime
