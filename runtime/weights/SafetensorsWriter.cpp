//===- SafetensorsWriter.cpp - Writes weight files ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are converted and written in pieces, so that no second copy of a
// model is held in memory.
//
//===----------------------------------------------------------------------===//

#include "SafetensorsHeader.h"

#include "isobath/runtime/bfloat16.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

namespace isobath::runtime {

using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static Bfloat16 toBfloat16(double value) {
  float cut = static_cast<float>(value);
  if (std::isnan(value) || cut == value)
    return toBfloat16(cut);
  // Rounding twice to nearest can differ from rounding once. Rounding to odd
  // first cannot: towards zero, the last bit set because something was lost.
  if (std::fabs(cut) > std::fabs(value))
    cut = std::nextafter(cut, 0.0f);
  return toBfloat16(
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) | 1));
}

template <typename Stored, typename Value> static Stored narrow(Value value) {
  if constexpr (std::is_same_v<Stored, Bfloat16>)
    return toBfloat16(value);
  else
    return static_cast<Stored>(value);
}

template <typename Stored, typename Value>
static void writeAs(AtomicFile &file, std::span<const Value> values) {
  if constexpr (std::is_same_v<Stored, Value>) {
    file.write(std::as_bytes(values));
  } else {
    std::vector<Stored> piece;
    while (!values.empty()) {
      const std::size_t count = std::min<std::size_t>(values.size(), 1 << 16);
      piece.resize(count);
      std::ranges::transform(values.first(count), piece.begin(),
                             narrow<Stored, Value>);
      file.write(std::as_bytes(std::span<const Stored>(piece)));
      values = values.subspan(count);
    }
  }
}

static void writeValues(AtomicFile &file, const TensorToWrite &tensor) {
  std::visit(
      [&](auto values) {
        switch (tensor.type) {
        case ElementType::f64:
          return writeAs<double>(file, values);
        case ElementType::f32:
          return writeAs<float>(file, values);
        case ElementType::bf16:
          return writeAs<Bfloat16>(file, values);
        }
      },
      tensor.values);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::uint64_t countOf(const TensorToWrite &tensor) {
  return std::visit([](auto values) { return std::uint64_t(values.size()); },
                    tensor.values);
}

static void checkTensors(const std::string &file,
                         std::span<const TensorToWrite> sorted) {
  std::vector<std::string_view> names;
  for (const TensorToWrite &tensor : sorted) {
    names.push_back(tensor.name);
    const std::string where =
        concat(file, ": tensor '", printable(tensor.name), "': ");
    if (tensor.name == metadataKey)
      fail(where, "this name is reserved");
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : tensor.shape)
      elements *= extent;
    if (elements != countOf(tensor))
      fail(where, "values: given ", countOf(tensor), ", expected ", elements,
           " for shape ", describe(tensor.shape));
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    fail(file, ": tensor '", printable(*twice), "': given twice");
}

/// The header, with spaces up to a multiple of 8 bytes.
static std::string makeHeader(const std::string &file,
                              std::span<const TensorToWrite> sorted,
                              const std::map<std::string, std::string> &notes) {
  std::string text = "{";
  const auto append = [&](const std::string &key, const ordered_json &value) {
    text += text.size() > 1 ? "," : "";
    try {
      text += ordered_json(key).dump() + ":" + value.dump();
    } catch (const ordered_json::type_error &) {
      fail(file, ": header: '", printable(key), "': expected UTF-8");
    }
  };
  if (!notes.empty())
    append(metadataKey, notes);
  std::uint64_t begin = 0;
  for (const TensorToWrite &tensor : sorted) {
    const std::uint64_t end = begin + countOf(tensor) * bytesOf(tensor.type);
    append(tensor.name, {{"dtype", nameOf(tensor.type)},
                         {"shape", tensor.shape},
                         {"data_offsets", {begin, end}}});
    begin = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > maximumHeaderBytes)
    fail(file, ": header: given ", text.size(), " bytes, expected at most ",
         maximumHeaderBytes);
  return text;
}

void writeSafetensors(const std::filesystem::path &path,
                      std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string> &metadata) {
  std::ranges::sort(
      tensors, [](const TensorToWrite &a, const TensorToWrite &b) {
        return std::tuple(bytesOf(b.type), std::string_view(a.name)) <
               std::tuple(bytesOf(a.type), std::string_view(b.name));
      });
  checkTensors(printable(path), tensors);
  const std::string header = makeHeader(printable(path), tensors, metadata);
  const std::uint64_t length = header.size();

  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorToWrite &tensor : tensors)
    writeValues(file, tensor);
  file.commit();
}

} // namespace isobath::runtime
