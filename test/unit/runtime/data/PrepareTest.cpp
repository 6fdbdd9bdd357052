//===- PrepareTest.cpp - Text files to a folder of token shards -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From text to shards, read back through shard.h.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/prepare.h"

#include "TestFiles.h"
#include "isobath/runtime/shard.h"
#include "isobath/runtime/tokenizer.h"

#include <cmath>
#include <functional>

using namespace isobath::runtime;
using namespace isobath::runtime::test;
namespace fs = std::filesystem;

static std::string textOf(const fs::path &path) {
  const Shard shard(path, 256);
  std::string text;
  for (std::uint64_t i = 0; i < shard.size(); ++i)
    text += static_cast<char>(shard[i]);
  return text;
}

static Names namesIn(const fs::path &folder) {
  Names names;
  for (const auto &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Prepare, TakesTheEndForValidation) {
  const TemporaryFolder folder;
  putFile(folder / "a", "abcdefgh");
  putFile(folder / "b", "ijkl\r\nmnopqr");
  PrepareOptions options;
  options.texts = {folder / "a", folder / "b"};
  options.output = folder / "new/data/";
  const PrepareSummary summary = prepare(options);
  EXPECT_EQ(textOf(folder / "new/data/train_000000.bin"),
            "abcdefghijkl\r\nmnop");
  EXPECT_EQ(textOf(folder / "new/data/valid_000000.bin"), "qr");
  EXPECT_EQ(readTokenizer(folder / "new/data/tokenizer.json")->vocabulary(),
            256u);
  EXPECT_EQ(namesIn(folder / "new/data"),
            (Names{"tokenizer.json", "train_000000.bin", "valid_000000.bin"}));
  EXPECT_EQ(namesIn(folder / "new"), Names{"data"});
  ASSERT_EQ(summary.train.size(), 1u);
  ASSERT_EQ(summary.valid.size(), 1u);
  EXPECT_EQ(summary.train[0].ids, 18u);
  EXPECT_EQ(summary.train[0].path, folder / "new/data/train_000000.bin");
  EXPECT_EQ(summary.valid[0].ids, 2u);
  EXPECT_EQ(summary.vocabulary, 256u);
}

TEST(Prepare, TakesTextsForValidation) {
  const TemporaryFolder folder;
  putFile(folder / "a", "train");
  putFile(folder / "b", "va");
  putFile(folder / "c", "lid");
  PrepareOptions options;
  options.texts = {folder / "a"};
  options.validTexts = {folder / "b", folder / "c"};
  options.output = folder / "data";
  prepare(options);
  EXPECT_EQ(textOf(folder / "data/train_000000.bin"), "train");
  EXPECT_EQ(textOf(folder / "data/valid_000000.bin"), "valid");
}

TEST(Prepare, FractionIsRounded) {
  const TemporaryFolder folder;
  putFile(folder / "a", "0123456789");
  for (const auto &[fraction, ids] :
       {std::pair(0.8, 8), std::pair(0.25, 3), std::pair(0.24, 2)}) {
    PrepareOptions options;
    options.texts = {folder / "a"};
    options.output = folder / std::to_string(ids);
    options.validFraction = fraction;
    EXPECT_EQ(prepare(options).valid[0].ids, static_cast<std::uint64_t>(ids));
  }
}

// A rest of one id would make a shard that no command can evaluate.
TEST(Prepare, CutsIntoShardsOfEqualSize) {
  const TemporaryFolder folder;
  putFile(folder / "a", "0123456789x");
  putFile(folder / "b", "0123");
  PrepareOptions options;
  options.texts = {folder / "a"};
  options.validTexts = {folder / "b"};
  options.output = folder / "data";
  options.idsPerShard = 5;
  EXPECT_EQ(prepare(options).train.size(), 3u);
  EXPECT_EQ(textOf(folder / "data/train_000000.bin"), "012");
  EXPECT_EQ(textOf(folder / "data/train_000001.bin"), "3456");
  EXPECT_EQ(textOf(folder / "data/train_000002.bin"), "789x");
}

TEST(Prepare, KeepsOtherFilesOfTheFolder) {
  const TemporaryFolder folder;
  putFile(folder / "text", "some text");
  PrepareOptions options;
  options.texts = {folder / "text"};
  options.output = folder.path();
  options.validFraction = 0.5;
  prepare(options);
  EXPECT_EQ(folder.names(), (Names{"text", "tokenizer.json", "train_000000.bin",
                                   "valid_000000.bin"}));
}

TEST(Prepare, RefusesAFolderWithShards) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  putFile(folder / "text", "some text");
  PrepareOptions options;
  options.texts = {folder / "text"};
  options.output = folder.path();
  for (const char *name :
       {"train_000007.bin", "valid_x.bin", "tokenizer.json"}) {
    putFile(folder / name, "old");
    EXPECT_EQ(messageOf([&] { prepare(options); }),
              root + ": holds " + name +
                  " already, expected a folder without shards and "
                  "tokenizer.json");
    EXPECT_EQ(folder.names(), (Names{"text", name}));
    fs::remove(folder / name);
  }
}

TEST(Prepare, BadInputLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  putFile(folder / "empty", "");
  putFile(folder / "a", "0123456789");
  putFile(folder / "one", "0");
  PrepareOptions good;
  good.texts = {folder / "a"};
  good.validTexts = {folder / "a"};
  good.output = folder / "data";

  using Change = std::function<void(PrepareOptions &)>;
  const std::pair<Change, std::string> cases[] = {
      {[](PrepareOptions &o) { o.texts = {}; },
       "prepare: texts: given none, expected at least one"},
      {[](PrepareOptions &o) { o.output = ""; },
       "prepare: output folder: given '', expected a name"},
      {[&](PrepareOptions &o) { o.texts.push_back(folder / "no"); },
       root + "/no: cannot open: no such file or directory"},
      {[&](PrepareOptions &o) { o.texts.push_back(folder.path()); },
       root + ": cannot read: is a directory"},
      {[&](PrepareOptions &o) { o.texts.push_back(folder / "empty"); },
       root + "/empty: text: given 0 bytes, expected at least 1"},
      {[&](PrepareOptions &o) { o.validTexts = {folder / "one"}; },
       "prepare: ids for validation: given 1 of 11, expected at least 2"},
      {[&](PrepareOptions &o) { o.validTexts = {}; },
       "prepare: ids for validation: given 1 of 10, expected at least 2"},
      {[&](PrepareOptions &o) { o.validTexts = {}, o.validFraction = 0.9; },
       "prepare: ids for training: given 1 of 10, expected at least 2"},
      {[](PrepareOptions &o) { o.validFraction = 0; },
       "prepare: validation fraction: given 0, expected more than 0 and less "
       "than 1"},
      {[](PrepareOptions &o) { o.validFraction = 1; },
       "prepare: validation fraction: given 1, expected more than 0 and less "
       "than 1"},
      {[](PrepareOptions &o) { o.validFraction = std::nan(""); },
       "prepare: validation fraction: given nan, expected more than 0 and "
       "less than 1"},
      {[](PrepareOptions &o) { o.idsPerShard = 2; },
       "prepare: ids in one shard: given 2, expected 3 to 2147483647"},
      {[](PrepareOptions &o) { o.tokenizer = "words"; },
       "tokenizer: given 'words', expected bytes"},
      {[&](PrepareOptions &o) { o.output = folder / "a"; },
       root + "/a: cannot list: not a directory"},
      {[&](PrepareOptions &o) { o.output = folder / "a/b/c"; },
       root + "/a/b: cannot create: not a directory"},
  };
  for (const auto &[change, message] : cases) {
    PrepareOptions options = good;
    change(options);
    EXPECT_EQ(messageOf([&] { prepare(options); }), message);
    EXPECT_EQ(folder.names(), (Names{"a", "empty", "one"}));
  }
}
