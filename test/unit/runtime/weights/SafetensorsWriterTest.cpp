//===- SafetensorsWriterTest.cpp - Writes weight files --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes written out, rounding, and reading back what was written.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/safetensors.h"

#include "TestFiles.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

TEST(SafetensorsWriter, IsReadBack) {
  const TemporaryFolder folder;
  const Doubles d = {0.1, -1e300};
  const Floats f = {0.1f, -0.0f, 3};
  Floats large(200'000); // more than one piece
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<float>(i % 256);
  writeSafetensors(folder / "w",
                   {{"large", {200, 1000}, ElementType::bf16, std::span(large)},
                    {"f", {3}, ElementType::f32, std::span(f)},
                    {"empty", {0, 7}, ElementType::f32, std::span<float>()},
                    {"dé", {2, 1}, ElementType::f64, std::span(d)},
                    {"f64", {3}, ElementType::f64, std::span(f)}},
                   {{"step", "3"}});
  const SafetensorsFile file(folder / "w");
  EXPECT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.metadata().at("step"), "3");
  EXPECT_EQ(file.find("dé")->shape, (Shape{2, 1}));
  EXPECT_EQ(file.find("dé")->offset % 8, 0u);
  Doubles doubles(2);
  file.read(*file.find("dé"), std::span(doubles));
  EXPECT_EQ(doubles, d);
  Floats floats(3);
  file.read(*file.find("f"), std::span(floats));
  EXPECT_EQ(floats, f);
  EXPECT_TRUE(std::signbit(floats[1]));
  file.read(*file.find("f64"), std::span(floats));
  EXPECT_EQ(floats, f);
  Floats largeAgain(large.size());
  file.read(*file.find("large"), std::span(largeAgain));
  EXPECT_EQ(largeAgain, large);
}

TEST(SafetensorsWriter, BytesAreFixed) {
  const TemporaryFolder folder;
  const Floats a = {1, 2};
  const Doubles b = {1};
  const std::vector<TensorToWrite> tensors = {
      {"z", {1}, ElementType::f64, std::span(b)},
      {"a", {2}, ElementType::bf16, std::span(a)},
      {"b", {1, 2}, ElementType::f32, std::span(a)}};
  writeSafetensors(folder / "w", tensors, {{"k", "v"}});
  std::string header =
      R"({"__metadata__":{"k":"v"},)"
      R"("z":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},)"
      R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(getFile(folder / "w"), bytesOfValue(std::uint64_t(header.size())) +
                                       header + bytesOfValue(1.0) +
                                       bytesOfValue(1.0f) + bytesOfValue(2.0f) +
                                       std::string("\x80\x3f\x00\x40", 4));
  writeSafetensors(folder / "again", {tensors[2], tensors[0], tensors[1]},
                   {{"k", "v"}});
  EXPECT_EQ(getFile(folder / "again"), getFile(folder / "w"));
}

template <typename Value> static std::uint16_t asBfloat16(Value value) {
  const TemporaryFolder folder;
  writeSafetensors(
      folder / "w",
      {{"a", {}, ElementType::bf16, std::span<const Value>(&value, 1)}});
  const std::string bytes = getFile(folder / "w");
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + bytes.size() - 2, 2);
  return bits;
}

TEST(SafetensorsWriter, RoundsToBfloat16OnceToNearestEven) {
  EXPECT_EQ(asBfloat16(1.0f), 0x3f80);
  EXPECT_EQ(asBfloat16(0x1.01p0f), 0x3f80);     // half-way, to even
  EXPECT_EQ(asBfloat16(0x1.03p0f), 0x3f82);     // half-way, to even
  EXPECT_EQ(asBfloat16(0x1.010002p0f), 0x3f81); // just above half-way
  EXPECT_EQ(asBfloat16(-0x1.03p0f), 0xbf82);
  EXPECT_EQ(asBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(asBfloat16(-INFINITY), 0xff80);
  EXPECT_EQ(asBfloat16(0x1p-133f), 0x0001); // subnormal
  // A NaN whose low bits alone tell it from infinity.
  EXPECT_EQ(asBfloat16(std::bit_cast<float>(0x7f800001)), 0x7fc0);
  EXPECT_EQ(asBfloat16(std::nan("")), 0x7fc0);
  // Half-way in f32 only after a first rounding, down or up.
  EXPECT_EQ(asBfloat16(0x1.010000001p0), 0x3f81);
  EXPECT_EQ(asBfloat16(0x1.02ffffffffp0), 0x3f81);
  EXPECT_EQ(asBfloat16(-0x1.02ffffffffp0), 0xbf81);
  EXPECT_EQ(asBfloat16(1e300), 0x7f80);
  EXPECT_EQ(asBfloat16(1e-300), 0x0000);
}

TEST(SafetensorsWriter, RefusesWhatWouldNotBeReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "w";
  const Floats a = {1, 2};
  const auto tensor = [&](const char *name, Shape shape) {
    return TensorToWrite{name, std::move(shape), ElementType::f32,
                         std::span(a)};
  };
  const auto message = [&](std::vector<TensorToWrite> tensors) {
    return messageOf([&] { writeSafetensors(path, std::move(tensors)); });
  };
  EXPECT_EQ(message({tensor("a", {2}), tensor("b", {2}), tensor("a", {1, 2})}),
            path + ": tensor 'a': given twice");
  EXPECT_EQ(message({tensor("a", {3})}),
            path + ": tensor 'a': values: given 2, expected 3 for shape [3]");
  EXPECT_EQ(message({tensor("__metadata__", {2})}),
            path + ": tensor '__metadata__': this name is reserved");
  EXPECT_EQ(message({tensor("\xff", {2})}),
            path + ": header: '\xff': expected UTF-8");
  EXPECT_EQ(folder.names(), Names{});
}
