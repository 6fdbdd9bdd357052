//===- SafetensorsReader.cpp - Checks and reads weight files --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the rules of the public reader: data in the order of the offsets,
// without gap or overlap, to the last byte of the file.
//
//===----------------------------------------------------------------------===//

#include "SafetensorsHeader.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/safetensors.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace isobath::runtime {

static_assert(std::endian::native == std::endian::little,
              "weights are little-endian and copied as they are");

unsigned bytesOf(ElementType type) {
  return type == ElementType::f64 ? 8 : type == ElementType::f32 ? 4 : 2;
}

std::string_view nameOf(ElementType type) {
  return type == ElementType::f64   ? "F64"
         : type == ElementType::f32 ? "F32"
                                    : "BF16";
}

std::string describe(const Shape &shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return printable(text + "]");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

SafetensorsFile::SafetensorsFile(const std::filesystem::path &path)
    : file(std::in_place, path), bytes(file->bytes()), label(printable(path)) {
  parse();
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes,
                                 std::string name)
    : bytes(bytes), label(std::move(name)) {
  parse();
}

static ElementType parseType(const std::string &dtype,
                             const std::string &where) {
  for (const ElementType type :
       {ElementType::f64, ElementType::f32, ElementType::bf16})
    if (dtype == nameOf(type))
      return type;
  fail(where, "dtype: given '", printable(dtype),
       "', expected F64, F32 or BF16");
}

/// The product of `shape`, an Error if its bytes exceed 64 bits.
static std::uint64_t countElements(const Shape &shape, ElementType type,
                                   const std::string &where) {
  std::uint64_t elements = 1, size = 0;
  bool overflow = false;
  for (const std::uint64_t extent : shape)
    overflow |= __builtin_mul_overflow(elements, extent, &elements);
  overflow |= __builtin_mul_overflow(elements, bytesOf(type), &size);
  if (overflow)
    fail(where, "shape: given ", describe(shape),
         ", expected less than 2^64 bytes");
  return elements;
}

/// Checks one tensor by itself; `dataBytes` is the length of all data.
static TensorEntry checkTensor(const HeaderTensor &tensor,
                               std::uint64_t dataStart, std::uint64_t dataBytes,
                               const std::string &file) {
  const std::string where =
      concat(file, ": tensor '", printable(tensor.name), "': ");
  const ElementType type = parseType(tensor.dtype, where);
  const std::uint64_t elements = countElements(tensor.shape, type, where);
  const std::uint64_t begin = tensor.offsets[0], end = tensor.offsets[1];
  if (begin > end || end > dataBytes)
    fail(where, "data_offsets: given [", begin, ", ", end,
         "], expected two rising numbers up to ", dataBytes);
  if (end - begin != elements * bytesOf(type))
    fail(where, "data_offsets: given [", begin, ", ", end, "], ", end - begin,
         " bytes, expected ", elements * bytesOf(type), " for ", nameOf(type),
         " ", describe(tensor.shape));
  return {tensor.name, type, tensor.shape, elements, dataStart + begin};
}

void SafetensorsFile::parse() {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    fail(label, ": byte 0: length of the header: given ", bytes.size(),
         " bytes, expected 8");
  std::memcpy(&length, bytes.data(), sizeof(length));
  const std::uint64_t rest = bytes.size() - sizeof(length);
  if (length > std::min(rest, maximumHeaderBytes))
    fail(label, ": byte 0: length of the header: given ", length,
         ", expected at most ", std::min(rest, maximumHeaderBytes));
  const std::string_view text(
      reinterpret_cast<const char *>(bytes.data()) + sizeof(length), length);
  SafetensorsHeader header = parseSafetensorsHeader(text, label);
  notes = std::move(header.metadata);

  const std::uint64_t dataBytes = rest - length;
  std::ranges::sort(header.tensors, {}, &HeaderTensor::offsets);
  std::uint64_t covered = 0;
  for (const HeaderTensor &tensor : header.tensors) {
    entries.push_back(
        checkTensor(tensor, sizeof(length) + length, dataBytes, label));
    if (tensor.offsets[0] != covered)
      fail(label, ": tensor '", printable(tensor.name),
           "': data_offsets: given a begin of ", tensor.offsets[0],
           ", expected ", covered, ", the end of the data before it");
    covered = tensor.offsets[1];
  }
  if (covered != dataBytes)
    fail(label, ": data: given ", dataBytes, " bytes, expected ", covered,
         " by the header");
  std::ranges::sort(entries, {}, &TensorEntry::name);
}

const TensorEntry *SafetensorsFile::find(std::string_view name) const {
  const auto entry =
      std::ranges::lower_bound(entries, name, {}, &TensorEntry::name);
  return entry != entries.end() && entry->name == name ? &*entry : nullptr;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static float widen(std::uint16_t bfloat16) {
  return std::bit_cast<float>(std::uint32_t(bfloat16) << 16);
}
static float widen(float value) { return value; }
static double widen(double value) { return value; }

/// `data` has any alignment.
template <typename Stored, typename Value>
static void convert(const std::byte *data, std::span<Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, data + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Value>(widen(stored));
  }
}

template <typename Value>
static void readTensor(std::span<const std::byte> bytes,
                       const TensorEntry &entry, std::span<Value> values) {
  assert(values.size() == entry.elements && "expected the tensor's size");
  const std::byte *data = bytes.data() + entry.offset;
  switch (entry.type) {
  case ElementType::f64:
    return convert<double>(data, values);
  case ElementType::f32:
    return convert<float>(data, values);
  case ElementType::bf16:
    return convert<std::uint16_t>(data, values);
  }
}

void SafetensorsFile::read(const TensorEntry &entry,
                           std::span<float> values) const {
  readTensor(bytes, entry, values);
}

void SafetensorsFile::read(const TensorEntry &entry,
                           std::span<double> values) const {
  readTensor(bytes, entry, values);
}

} // namespace isobath::runtime
