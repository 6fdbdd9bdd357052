//===- SafetensorsReaderTest.cpp - Weight files, well-formed and not ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Malformed files are tables: contents, and the exact message.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/safetensors.h"

#include "TestFiles.h"

#include <cmath>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

static std::string fileOf(const std::string &header, const std::string &data) {
  return bytesOfValue(std::uint64_t(header.size())) + header + data;
}

/// A header with the members given, single quotes standing for double ones.
static std::string quoted(std::string header) {
  std::replace(header.begin(), header.end(), '\'', '"');
  return header;
}

/// Opens `contents` as a file called "w".
static SafetensorsFile open(const std::string &contents) {
  return SafetensorsFile(std::as_bytes(std::span(contents)), "w");
}

TEST(SafetensorsReader, ReadsAllTypesAtAnyAlignment) {
  // The header has an odd length: nothing behind it is aligned.
  std::string header =
      quoted("{'__metadata__':{'format':'pt'},"
             "'b':{'dtype':'BF16','shape':[3],'data_offsets':[1,7]},"
             "'x':{'dtype':'BF16','shape':[0,5],'data_offsets':[0,0]},"
             "'d':{'dtype':'F64','shape':[],'data_offsets':[15,23]},"
             "'f':{'dtype':'F32','shape':[2,1],'data_offsets':[7,15]}}");
  // A file cannot hold a hole, so the first byte is taken out again.
  for (const auto &[from, to] :
       {std::pair("[1,7]", "[0,6]"), std::pair("[15,23]", "[14,22]"),
        std::pair("[7,15]", "[6,14]")})
    header.replace(header.find(from), std::strlen(from), to);
  header += std::string(8 - header.size() % 8 + 1, ' ');
  std::string data;
  data += std::string("\x80\x3f\x00\xc0\x80\x7f", 6); // 1, −2, ∞
  data += bytesOfValue(0.1f) + bytesOfValue(-3.5f) + bytesOfValue(0.1);
  const std::string contents = fileOf(header, data);
  const TemporaryFolder folder;
  putFile(folder / "w", contents);
  const SafetensorsFile file(folder / "w");

  EXPECT_EQ(file.metadata(),
            (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.tensors()[0].name, "b");
  EXPECT_EQ(file.find("none"), nullptr);
  const TensorEntry &f = *file.find("f");
  EXPECT_EQ(f.type, ElementType::f32);
  EXPECT_EQ(f.shape, (Shape{2, 1}));
  EXPECT_EQ(f.elements, 2u);
  EXPECT_NE(f.offset % 2, 0u);

  std::vector<float> floats(3);
  file.read(*file.find("b"), std::span(floats));
  EXPECT_EQ(floats, (std::vector<float>{1, -2, INFINITY}));
  floats.resize(2);
  file.read(f, std::span(floats));
  EXPECT_EQ(floats, (std::vector<float>{0.1f, -3.5f}));
  std::vector<double> doubles(2);
  file.read(f, std::span(doubles));
  EXPECT_EQ(doubles, (std::vector<double>{0.1f, -3.5}));
  doubles.resize(1);
  file.read(*file.find("d"), std::span(doubles));
  EXPECT_EQ(doubles[0], 0.1);
  floats.resize(1);
  file.read(*file.find("d"), std::span(floats));
  EXPECT_EQ(floats[0], 0.1f);
  file.read(*file.find("x"), std::span<float>());
}

TEST(SafetensorsReader, AcceptsAFileWithoutTensors) {
  EXPECT_TRUE(open(fileOf("{}", "")).tensors().empty());
  EXPECT_TRUE(open(fileOf("{}      ", "")).tensors().empty());
}

TEST(SafetensorsReader, RefusesBadLengths) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "byte 0: length of the header: given 0 bytes, expected 8"},
      {"1234567", "byte 0: length of the header: given 7 bytes, expected 8"},
      {bytesOfValue(std::uint64_t(3)) + "{}",
       "byte 0: length of the header: given 3, expected at most 2"},
      {bytesOfValue(UINT64_MAX) + "{}",
       "byte 0: length of the header: given 18446744073709551615, expected at "
       "most 2"},
      {bytesOfValue(std::uint64_t(0)),
       "byte 8: header: given '', expected '{'"},
      {fileOf("{}", "x"), "data: given 1 bytes, expected 0 by the header"},
  };
  for (const auto &[contents, message] : cases)
    EXPECT_EQ(messageOf([&] { open(contents); }), "w: " + message);
}

// A file of 100 MB and a bit, of which nothing is written to disk.
TEST(SafetensorsReader, RefusesHeadersThatThePublicReaderRefuses) {
  const TemporaryFolder folder;
  const std::string path = folder / "w";
  putFile(path, bytesOfValue(std::uint64_t(100'000'001)) + "{}");
  std::filesystem::resize_file(path, 100'000'100);
  EXPECT_EQ(messageOf([&] { SafetensorsFile file(path); }),
            path + ": byte 0: length of the header: given 100000001, expected "
                   "at most 100000000");
}

TEST(SafetensorsReader, RefusesBadJson) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "byte 8: header: given '[', expected '{'"},
      {" {}", "byte 8: header: given ' ', expected '{'"},
      {"\xef\xbb\xbf{}", "byte 8: header: given '\xef', expected '{'"},
      {"{", "byte 9: header: not valid JSON"},
      {"{'a'}", "byte 12: header: not valid JSON"},
      {"{}x", "byte 10: header: not valid JSON"},
      {"{}{}", "byte 10: header: not valid JSON"},
      {"{'\xff':1}", "byte 10: header: not valid JSON"},
      {"{'\n':1}", "byte 10: header: not valid JSON"},
      {"{'a':1}", "tensor 'a': given 1, expected an object"},
      {"{'a':'b'}", "tensor 'a': given 'b', expected an object"},
      {"{'a':null}", "tensor 'a': given null, expected an object"},
      {"{'a':[]}", "tensor 'a': given an array, expected an object"},
      {"{'a':" + std::string(1'000'000, '['),
       "tensor 'a': given an array, expected an object"},
      {"{'__metadata__':null}",
       "tensor '__metadata__': given null, expected an object"},
      {"{'__metadata__':{'x':1}}",
       "__metadata__ 'x': given 1, expected a string"},
      {"{'__metadata__':{'x':{'y':{}}}}",
       "__metadata__ 'x': given an object, expected a string"},
      {"{'__metadata__':{'x':'','x':''}}",
       "header: key 'x' given twice in __metadata__"},
      {"{'__metadata__':{},'__metadata__':{}}",
       "header: key '__metadata__' given twice"},
      {"{'a':{},'a':{}}", "tensor 'a': no dtype"},
  };
  for (const auto &[header, message] : cases)
    EXPECT_EQ(messageOf([&] { open(fileOf(quoted(header), "")); }),
              "w: " + message);
}

TEST(SafetensorsReader, RefusesBadTensors) {
  const std::string offsets = "an array of two integers from 0 to 2^64 - 1";
  const std::string extents = "an array of integers from 0 to 2^64 - 1";
  const std::pair<std::string, std::string> cases[] = {
      {"", "no dtype"},
      {"'dtype':'F32'", "no shape"},
      {"'dtype':'F32','shape':[2]", "no data_offsets"},
      {"'dtype':'F32','dtype':'F32'", "key 'dtype' given twice"},
      {"'stride':[1]",
       "key: given 'stride', expected dtype, shape or data_offsets"},
      {"'dtype':7", "dtype: given 7, expected a string"},
      {"'dtype':['F32']", "dtype: given an array, expected a string"},
      {"'shape':2", "shape: given 2, expected " + extents},
      {"'shape':'2'", "shape: given '2', expected " + extents},
      {"'shape':[-1]", "shape: given -1, expected " + extents},
      {"'shape':[-0]", "shape: given 0, expected " + extents},
      {"'shape':[2.0]", "shape: given 2.0, expected " + extents},
      {"'shape':[2e0]", "shape: given 2e0, expected " + extents},
      {"'shape':[18446744073709551616]",
       "shape: given 18446744073709551616, expected " + extents},
      {"'shape':[true]", "shape: given true, expected " + extents},
      {"'shape':[[2]]", "shape: given an array, expected " + extents},
      {"'shape':{}", "shape: given an object, expected " + extents},
      {"'data_offsets':8", "data_offsets: given 8, expected " + offsets},
      {"'data_offsets':[0]",
       "data_offsets: given fewer numbers, expected " + offsets},
      {"'data_offsets':[0,8,8]", "data_offsets: given 8, expected " + offsets},
      {"'data_offsets':[-8,0]", "data_offsets: given -8, expected " + offsets},
      {"'dtype':'F16','shape':[4],'data_offsets':[0,8]",
       "dtype: given 'F16', expected F64, F32 or BF16"},
      {"'dtype':'f32','shape':[2],'data_offsets':[0,8]",
       "dtype: given 'f32', expected F64, F32 or BF16"},
      {"'dtype':'F32','shape':[4294967296,4294967296],'data_offsets':[0,8]",
       "shape: given [4294967296, 4294967296], expected less than 2^64 bytes"},
      {"'dtype':'F64','shape':[2305843009213693953],'data_offsets':[0,8]",
       "shape: given [2305843009213693953], expected less than 2^64 bytes"},
      {"'dtype':'F32','shape':[3],'data_offsets':[0,12]",
       "data_offsets: given [0, 12], expected two rising numbers up to 8"},
      {"'dtype':'F32','shape':[2],'data_offsets':[8,0]",
       "data_offsets: given [8, 0], expected two rising numbers up to 8"},
      {"'dtype':'F32','shape':[2],'data_offsets':[18446744073709551612,4]",
       "data_offsets: given [18446744073709551612, 4], expected two rising "
       "numbers up to 8"},
      {"'dtype':'F32','shape':[3],'data_offsets':[0,8]",
       "data_offsets: given [0, 8], 8 bytes, expected 12 for F32 [3]"},
      {"'dtype':'F32','shape':[1],'data_offsets':[4,8]",
       "data_offsets: given a begin of 4, expected 0, the end of the data "
       "before it"},
      {"'dtype':'F32','shape':[1],'data_offsets':[0,4]", ""},
  };
  for (const auto &[members, message] : cases) {
    const std::string header = quoted("{'a':{" + members + "}}");
    EXPECT_EQ(messageOf([&] { open(fileOf(header, "12345678")); }),
              message.empty() ? "w: data: given 8 bytes, expected 4 by the "
                                "header"
                              : "w: tensor 'a': " + message);
  }
}

TEST(SafetensorsReader, RefusesDuplicatesOverlapsAndHoles) {
  const auto tensor = [](const char *name, int begin, int end) {
    return concat("'", name, "':{'dtype':'F32','shape':[", (end - begin) / 4,
                  "],'data_offsets':[", begin, ",", end, "]}");
  };
  const auto message = [](const std::string &members) {
    return messageOf(
        [&] { open(fileOf(quoted("{" + members + "}"), "123456789abc")); });
  };
  EXPECT_EQ(message(tensor("b", 8, 12) + "," + tensor("a", 0, 8)), "no error");
  EXPECT_EQ(message(tensor("a", 0, 8) + "," + tensor("a", 8, 12)),
            "w: header: key 'a' given twice");
  EXPECT_EQ(message(tensor("a", 0, 8) + "," + tensor("b", 4, 12)),
            "w: tensor 'b': data_offsets: given a begin of 4, expected 8, the "
            "end of the data before it");
  EXPECT_EQ(message(tensor("a", 0, 4) + "," + tensor("b", 8, 12)),
            "w: tensor 'b': data_offsets: given a begin of 8, expected 4, the "
            "end of the data before it");
  EXPECT_EQ(message(tensor("a", 0, 12) + "," + tensor("b", 0, 12)),
            "w: tensor 'b': data_offsets: given a begin of 0, expected 12, the "
            "end of the data before it");
}

TEST(SafetensorsReader, NamesInMessagesStayOnOneLine) {
  EXPECT_EQ(messageOf([] { open(fileOf(R"({"a\nb":1})", "")); }),
            "w: tensor 'a\\x0ab': given 1, expected an object");
}
