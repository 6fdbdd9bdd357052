//===- FunctionBuffer.h - Memory of functions, and files of it ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What commands that run a user's functions or kernels have in common: what
// inputs hold without a file, and how files are read and written.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_FUNCTIONBUFFER_H
#define ISOBATH_TOOLS_ISOBATH_FUNCTIONBUFFER_H

#include "isobath/runtime/safetensors.h"
#include "mlir/IR/Types.h"
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace isobath {

/// Memory that a function reads or writes.
struct FunctionBuffer {
  enum class Role { Input, Result, Scratch };

  /// `net.name` of the argument or result or, without one,
  /// `FUNCTION.argument 0`. Buffers of one name are one buffer.
  std::string name;
  std::string type; // of an element: f32, bf16, …
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  Role role = Role::Input;
};

/// A buffer's bytes as the numbers that they are.
template <typename Number>
std::span<Number> viewAs(std::span<std::byte> bytes) {
  return {reinterpret_cast<Number *>(bytes.data()),
          bytes.size() / sizeof(Number)};
}
template <typename Number>
std::span<const Number> viewAs(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Number *>(bytes.data()),
          bytes.size() / sizeof(Number)};
}

/// The name of an element's type: f32, bf16, …
std::string nameOfType(mlir::Type type);

/// Whether elements are f32, f64 or bf16, the types that files have here.
bool isFloat(const FunctionBuffer &buffer);

/// Fills floating-point numbers with random ones of the standard normal
/// distribution, whose seed is the buffer's name, and leaves others alone.
void fillRandom(const FunctionBuffer &buffer, std::span<std::byte> bytes);

/// Reads a tensor of `file` to `bytes`, those of `buffer`, whose name it has.
/// Throws Error if it has another shape.
void readTensor(const runtime::SafetensorsFile &file,
                const runtime::TensorEntry &tensor,
                const FunctionBuffer &buffer, std::span<std::byte> bytes);

/// Tensors on the way to a file.
class TensorFile {
public:
  /// `bytes` are those of `buffer`, which isFloat, and live until `write`.
  void add(const FunctionBuffer &buffer, std::span<const std::byte> bytes);
  void write(const std::string &path);

private:
  std::vector<runtime::TensorToWrite> tensors;
  std::deque<std::vector<float>> widened; // of bf16
};

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_FUNCTIONBUFFER_H
