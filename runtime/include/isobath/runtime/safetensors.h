//===- safetensors.h - Weight files ---------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes safetensors: a little-endian u64, the length of a JSON
// header; the header; the data of all tensors, row-major, without gaps. The
// reader checks every bound before it touches the data. It is the public reader
// made stricter: names given twice, unknown keys of a tensor, anything before
// the header's brace and the element types that no model here has are refused.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_SAFETENSORS_H
#define ISOBATH_RUNTIME_SAFETENSORS_H

#include "isobath/runtime/files.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace isobath::runtime {

enum class ElementType { f64, f32, bf16 };

/// 8, 4 or 2.
unsigned bytesOf(ElementType type);
/// As safetensors spells it: F64, F32, BF16.
std::string_view nameOf(ElementType type);

using Shape = std::vector<std::uint64_t>;

/// "[2, 3]"; long ones are shortened.
std::string describe(const Shape &shape);

/// One tensor of a file.
struct TensorEntry {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape; // empty: a scalar
  std::uint64_t elements = 0;
  std::uint64_t offset = 0; // of its data, from the start of the file
};

/// A weight file, mapped into memory and checked. An Error names the file, the
/// tensor, the value given and the values allowed.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::filesystem::path &path);
  /// A file in memory that outlives this object, at any alignment; `name`
  /// stands in messages where a path would.
  SafetensorsFile(std::span<const std::byte> bytes, std::string name);

  const std::string &name() const { return label; }
  /// Sorted by name.
  const std::vector<TensorEntry> &tensors() const { return entries; }
  /// Null if there is none of that name.
  const TensorEntry *find(std::string_view name) const;
  const std::map<std::string, std::string> &metadata() const { return notes; }

  /// Converts the elements of a tensor of this file, to nearest even where the
  /// type is narrower; `values` has entry.elements elements.
  void read(const TensorEntry &entry, std::span<float> values) const;
  void read(const TensorEntry &entry, std::span<double> values) const;

private:
  void parse();

  std::optional<MappedFile> file;
  std::span<const std::byte> bytes; // the whole file
  std::string label;
  std::vector<TensorEntry> entries;
  std::map<std::string, std::string> notes;
};

/// A tensor to be written, its values and the type they are stored as.
struct TensorToWrite {
  std::string name;
  Shape shape;
  ElementType type;
  std::variant<std::span<const float>, std::span<const double>> values;
};

/// Writes a weight file, atomically. Values are rounded to nearest even. The
/// wider types come first, then names in byte order, so that all data are
/// aligned; equal input gives equal bytes, whatever the order of `tensors`. An
/// Error if a name occurs twice, is not UTF-8, or is `__metadata__`.
void writeSafetensors(const std::filesystem::path &path,
                      std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string> &metadata = {});

/// A tensor that a model has.
struct ExpectedTensor {
  std::string name;
  Shape shape;
};

/// Shell patterns (`layers.*.gain`) of the tensors that may be missing from a
/// file, or be in it although the model has none of that name.
struct MatchOptions {
  std::vector<std::string> allowMissing;
  std::vector<std::string> allowExtra;
};

/// The tensors that the options let pass.
struct MatchResult {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
};

/// Compares the names and shapes of a file with those of a model. One Error
/// lists all tensors that are missing, extra or of another shape; of each kind
/// the first eight are named and the rest counted.
MatchResult matchTensors(const SafetensorsFile &file,
                         std::span<const ExpectedTensor> expected,
                         const MatchOptions &options = {});

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_SAFETENSORS_H
