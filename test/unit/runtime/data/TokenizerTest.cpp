//===- TokenizerTest.cpp - Text to token ids and back ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokenizers by name; their training is not part of the runtime.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/tokenizer.h"

#include "TestFiles.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;

using Ids = std::vector<std::uint32_t>;

TEST(Tokenizer, BytesAreIds) {
  const auto tokenizer = makeTokenizer("bytes");
  EXPECT_EQ(tokenizer->name(), "bytes");
  EXPECT_EQ(tokenizer->vocabulary(), 256u);
  Ids ids = {9};
  tokenizer->encode("A\xff", ids);
  tokenizer->encode(std::string_view("\0", 1), ids);
  EXPECT_EQ(ids, (Ids{9, 65, 255, 0}));
}

TEST(Tokenizer, EveryByteComesBack) {
  const auto tokenizer = makeTokenizer("bytes");
  std::string text;
  for (int byte = 0; byte < 256; ++byte)
    text += static_cast<char>(byte);
  Ids ids;
  tokenizer->encode(text, ids);
  EXPECT_EQ(tokenizer->decode(ids), text);
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  EXPECT_EQ(messageOf([] { makeTokenizer("bytes")->decode(Ids{65, 256}); }),
            "tokenizer bytes: id: given 256, expected less than the "
            "vocabulary 256");
}

TEST(Tokenizer, UnknownNamesListTheKnown) {
  EXPECT_EQ(messageOf([] { makeTokenizer("byte\n"); }),
            "tokenizer: given 'byte\\x0a', expected bytes");
}

TEST(Tokenizer, IsReadBack) {
  const TemporaryFolder folder;
  writeTokenizer(folder / "tokenizer.json", *makeTokenizer("bytes"));
  EXPECT_EQ(getFile(folder / "tokenizer.json"),
            "{\"name\":\"bytes\",\"vocabulary\":256}\n");
  EXPECT_EQ(readTokenizer(folder / "tokenizer.json")->name(), "bytes");
}

TEST(Tokenizer, MalformedFilesAreErrors) {
  const std::string expected =
      "not a tokenizer.json: expected an object with a name and a vocabulary";
  const std::pair<std::string, std::string> cases[] = {
      {"", expected},
      {"[]", expected},
      {"{\"name\": \"bytes\"", expected},
      {"{\"name\": \"bytes\"}", expected},
      {"{\"name\": 1, \"vocabulary\": 256}", expected},
      {"{\"name\": \"bytes\", \"vocabulary\": -256}", expected},
      {std::string(1'000'000, '['), expected},
      {std::string(100'000, '[') + std::string(100'000, ']'), expected},
      {"{\"name\": \"words\", \"vocabulary\": 256}",
       "tokenizer: given 'words', expected bytes"},
      {"{\"name\": \"bytes\", \"vocabulary\": 257}",
       "vocabulary: given 257, expected 256 for tokenizer bytes"},
  };
  const TemporaryFolder folder;
  const std::string path = folder / "tokenizer.json";
  for (const auto &[contents, message] : cases) {
    putFile(path, contents);
    EXPECT_EQ(messageOf([&] { readTokenizer(path); }), path + ": " + message);
  }
}
