//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each tokenizer is a class of this file; makeTokenizer() knows their names.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/tokenizer.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"

#include <nlohmann/json.hpp>

namespace isobath::runtime {

using nlohmann::json;

namespace {
/// One id per byte.
class ByteTokenizer : public Tokenizer {
public:
  static constexpr std::string_view called = "bytes";

  std::string_view name() const override { return called; }
  std::uint32_t vocabulary() const override { return 256; }

  void encode(std::string_view text,
              std::vector<std::uint32_t> &ids) const override {
    ids.reserve(ids.size() + text.size());
    for (const char byte : text)
      ids.push_back(static_cast<unsigned char>(byte));
  }

  std::string decode(std::span<const std::uint32_t> ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (const std::uint32_t id : ids) {
      if (id >= vocabulary())
        fail("tokenizer ", name(), ": id: given ", id,
             ", expected less than the vocabulary ", vocabulary());
      text.push_back(static_cast<char>(id));
    }
    return text;
  }
};
} // namespace

std::unique_ptr<Tokenizer> makeTokenizer(std::string_view name) {
  if (name == ByteTokenizer::called)
    return std::make_unique<ByteTokenizer>();
  fail("tokenizer: given '", printable(name), "', expected ",
       ByteTokenizer::called);
}

void writeTokenizer(const std::filesystem::path &path,
                    const Tokenizer &tokenizer) {
  const json description = {{"name", tokenizer.name()},
                            {"vocabulary", tokenizer.vocabulary()}};
  writeFile(path, description.dump() + "\n");
}

std::unique_ptr<Tokenizer> readTokenizer(const std::filesystem::path &path) {
  const std::string where = printable(path);
  const json description = json::parse(readFile(path), nullptr, false);
  if (!description.is_object() || !description.contains("name") ||
      !description["name"].is_string() || !description.contains("vocabulary") ||
      !description["vocabulary"].is_number_unsigned())
    fail(where, ": not a tokenizer.json: expected an object with a name and a "
                "vocabulary");
  std::unique_ptr<Tokenizer> tokenizer;
  try {
    tokenizer = makeTokenizer(description["name"].get<std::string>());
  } catch (const Error &error) {
    fail(where, ": ", error.what());
  }
  const std::uint64_t vocabulary = description["vocabulary"];
  if (vocabulary != tokenizer->vocabulary())
    fail(where, ": vocabulary: given ", vocabulary, ", expected ",
         tokenizer->vocabulary(), " for tokenizer ", tokenizer->name());
  return tokenizer;
}

} // namespace isobath::runtime
