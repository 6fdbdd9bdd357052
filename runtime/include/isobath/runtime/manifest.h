//===- manifest.h - What a compiled unit says about itself --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON object of docs/manifest.md as typed values. Every key is checked
// once, when the unit is loaded, so that nothing later asks whether a shape or
// an offset makes sense. It holds no code; unit.h joins it to the entry points.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_MANIFEST_H
#define ISOBATH_RUNTIME_MANIFEST_H

#include "isobath/runtime/cpu.h"
#include "isobath/runtime/initial_values.h"
#include "isobath/runtime/safetensors.h"
#include "isobath/runtime/settings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// The type of one element of a buffer.
enum class BufferType { i8, i32, f32, f64 };

/// The name of a type in the manifest: "i8", "i32", "f32" or "f64".
std::string_view nameOf(BufferType type);

/// The bytes of one element.
std::uint64_t bytesOf(BufferType type);

/// One tensor inside the contiguous parameters.
struct Parameter {
  std::string name;
  Shape shape;
  std::uint64_t offset = 0;   // in elements
  std::uint64_t elements = 0; // the product of the shape
  InitialValues initial;
  bool decays = false; // weight decay applies: a matrix
};

/// One buffer that an entry takes.
struct Buffer {
  std::string name; // a distribution: the site of its route, "layers.0.attn"
  BufferType type = BufferType::i8;
  Shape shape;
  std::uint64_t bytes = 0;
  /// A depth distribution [groups, B, T, depth heads, sources] of `routes`.
  bool isDistribution = false;
  std::vector<std::string> groups;  // distributions only
  std::vector<std::string> sources; // distributions only
};

/// What an entry is called and which buffers it takes, in their order.
struct EntrySignature {
  std::string name;
  std::uint64_t batch =
      0; // sequences B in one call; 0: the entry takes no tokens
  std::vector<Buffer> buffers;

  /// The buffer called `name`; the name must be one of the entry's.
  const Buffer &buffer(std::string_view name) const;
  bool hasBuffer(std::string_view name) const;
};

/// The model as text, as it is copied into a run's folder.
struct SourceText {
  std::string format; // "yaml" or "mlir"
  std::string text;
};

/// Everything a unit says about itself.
struct Manifest {
  std::string name;
  std::string device;   // "reference", "cpu", …
  std::string lowering; // one line for people: how this unit computes
  CpuRequirement cpu;
  BufferType elementType = BufferType::f32; // f32 or f64
  std::uint64_t vocabulary = 0;
  std::uint64_t context = 0; // T
  SourceText source;
  std::uint64_t elements = 0; // of the contiguous parameters, padding included
  std::uint64_t matrixElements = 0; // the first so many may decay
  std::vector<Parameter> parameters;
  std::vector<EntrySignature> entries;
  TrainSettings train;

  /// The number of trained values: the elements without padding.
  std::uint64_t parameterCount() const;
};

/// Reads and checks a manifest. Throws Error naming the key, the value given
/// and the value expected.
Manifest parseManifest(std::string_view json);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_MANIFEST_H
