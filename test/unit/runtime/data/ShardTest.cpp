//===- ShardTest.cpp - Token shards, well-formed and otherwise ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Malformed files are a table: contents, and the exact message.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/shard.h"

#include "TestFiles.h"

using namespace isobath::runtime;
using namespace isobath::runtime::test;

namespace {
struct Fields {
  std::int32_t magic = 20240520;
  std::int32_t version = 1;
  std::int32_t count = 3;
};
} // namespace

/// A shard with any header, then `data`.
static std::string makeShard(const Fields &fields, const std::string &data) {
  std::string header = bytesOfValue(fields);
  header.resize(1024, '\x55'); // the rest is ignored
  return header + data;
}

static std::string narrow(std::initializer_list<std::uint16_t> ids) {
  std::string data;
  for (const std::uint16_t id : ids)
    data += bytesOfValue(id);
  return data;
}

static std::string wide(std::initializer_list<std::uint32_t> ids) {
  std::string data;
  for (const std::uint32_t id : ids)
    data += bytesOfValue(id);
  return data;
}

static std::vector<std::uint32_t> idsOf(const Shard &shard) {
  std::vector<std::uint32_t> ids;
  for (std::uint64_t i = 0; i < shard.size(); ++i)
    ids.push_back(shard[i]);
  return ids;
}

using Ids = std::vector<std::uint32_t>;

TEST(Shard, ReadsBothFormats) {
  const TemporaryFolder folder;
  putFile(folder / "narrow", makeShard({}, narrow({7, 65535, 0})));
  const Shard a(folder / "narrow", 65536);
  EXPECT_EQ(idsOf(a), (Ids{7, 65535, 0}));
  EXPECT_EQ(a.width(), 2u);

  putFile(folder / "wide", makeShard({20240801, 7, 3}, wide({7, 99999, 0})));
  const Shard b(folder / "wide", 100000);
  EXPECT_EQ(idsOf(b), (Ids{7, 99999, 0}));
  EXPECT_EQ(b.width(), 4u);

  std::vector<std::int32_t> copied(2);
  a.copy(1, copied);
  EXPECT_EQ(copied, (std::vector<std::int32_t>{65535, 0}));
  b.copy(1, copied);
  EXPECT_EQ(copied, (std::vector<std::int32_t>{99999, 0}));
}

TEST(Shard, ReadsAnEmptyOne) {
  const TemporaryFolder folder;
  putFile(folder / "a", makeShard({20240520, 1, 0}, ""));
  EXPECT_EQ(Shard(folder / "a", 1).size(), 0u);
}

TEST(Shard, MalformedFilesAreNamedWithOffsetValueAndLimit) {
  struct Case {
    std::string contents;
    std::string message;
  };
  const std::string data = narrow({1, 2, 3});
  const Case cases[] = {
      {"", "byte 0: header of a token shard: given 0 bytes, expected 1024"},
      {makeShard({}, "").substr(0, 1023),
       "byte 0: header of a token shard: given 1023 bytes, expected 1024"},
      {makeShard({1, 1, 3}, data),
       "byte 0: magic of a token shard: given 1, expected 20240520 (16-bit "
       "ids) or 20240801 (32-bit ids)"},
      {std::string(2000, '\xff'),
       "byte 0: magic of a token shard: given -1, expected 20240520 (16-bit "
       "ids) or 20240801 (32-bit ids)"},
      {makeShard({20240520, 7, 3}, data),
       "byte 4: version: given 7, expected 1 with magic 20240520"},
      {makeShard({20240801, 1, 3}, data),
       "byte 4: version: given 1, expected 7 with magic 20240801"},
      {makeShard({20240520, 1, -3}, data),
       "byte 8: count of ids: given -3, expected 0 or more"},
      {makeShard({20240520, 1, INT32_MIN}, data),
       "byte 8: count of ids: given -2147483648, expected 0 or more"},
      {makeShard({20240520, 1, 4}, data),
       "byte 8: count of ids: given 4, which makes 1032 bytes, expected a "
       "count that makes the file's 1030"},
      {makeShard({20240520, 1, 2}, data),
       "byte 8: count of ids: given 2, which makes 1028 bytes, expected a "
       "count that makes the file's 1030"},
      {makeShard({20240520, 1, 3}, data + "x"),
       "byte 8: count of ids: given 3, which makes 1030 bytes, expected a "
       "count that makes the file's 1031"},
      {makeShard({20240801, 7, INT32_MAX}, data),
       "byte 8: count of ids: given 2147483647, which makes 8589935612 bytes, "
       "expected a count that makes the file's 1030"},
      {makeShard({20240520, 1, 3}, narrow({1, 256, 300})),
       "byte 1026: id: given 256, expected less than the vocabulary 256"},
      {makeShard({20240801, 7, 3}, wide({1, 2, UINT32_MAX})),
       "byte 1032: id: given 4294967295, expected less than the vocabulary "
       "256"},
  };
  const TemporaryFolder folder;
  const std::string path = folder / "shard.bin";
  for (const Case &test : cases) {
    putFile(path, test.contents);
    EXPECT_EQ(messageOf([&] { Shard(path, 256); }), path + ": " + test.message);
  }
}

TEST(Shard, WritesWhatItReads) {
  const TemporaryFolder folder;
  const Ids small = {0, 255, 65535}, large = {0, 65536, 2147483647};
  writeShard(folder / "a", small, 65536);
  writeShard(folder / "b", small, 65537);
  writeShard(folder / "c", large, maximumVocabulary);
  writeShard(folder / "d", {}, 1);
  EXPECT_EQ(Shard(folder / "a", 65536).width(), 2u);
  EXPECT_EQ(Shard(folder / "b", 65537).width(), 4u);
  EXPECT_EQ(idsOf(Shard(folder / "a", 65536)), small);
  EXPECT_EQ(idsOf(Shard(folder / "b", 65537)), small);
  EXPECT_EQ(idsOf(Shard(folder / "c", maximumVocabulary)), large);
  EXPECT_EQ(Shard(folder / "d", 1).size(), 0u);
  EXPECT_EQ(getFile(folder / "a").substr(1024), narrow({0, 255, 65535}));
}

// 16-bit ids once wrapped silently above 65,535.
TEST(Shard, WriterRefusesIdsOutsideTheVocabulary) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  EXPECT_EQ(messageOf([&] { writeShard(path, Ids{1, 65536}, 65536); }),
            path + ": id number 1: given 65536, expected less than the "
                   "vocabulary 65536");
  EXPECT_EQ(messageOf([&] { writeShard(path, Ids{1}, 0); }),
            path + ": vocabulary: given 0, expected 1 to 2147483648");
  EXPECT_EQ(messageOf([&] { writeShard(path, Ids{1}, 1ull << 32); }),
            path + ": vocabulary: given 4294967296, expected 1 to 2147483648");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(Shard, FingerprintFollowsTheIds) {
  const TemporaryFolder folder;
  const auto fingerprint = [&](const Ids &ids, std::uint64_t vocabulary) {
    writeShard(folder / "a", ids, vocabulary);
    return Shard(folder / "a", vocabulary).fingerprint();
  };
  EXPECT_EQ(fingerprint({1, 2, 3}, 256), fingerprint({1, 2, 3}, 100000));
  EXPECT_NE(fingerprint({1, 2, 3}, 256), fingerprint({1, 3, 2}, 256));
  EXPECT_NE(fingerprint({1, 2, 0}, 256), fingerprint({1, 2}, 256));
}

TEST(Shard, FindsTheShardsOfASplitInOrder) {
  const TemporaryFolder folder;
  for (const char *name :
       {"train_000010.bin", "train_000002.bin", "valid_000000.bin",
        "train_000003.bin.tmp-1-0", "trainer.bin", "train_x.txt"})
    putFile(folder / name, "");
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(findShards(folder.path(), "train"),
            (Paths{folder / "train_000002.bin", folder / "train_000010.bin"}));
  EXPECT_EQ(findEvaluationShards(folder.path()),
            (Paths{folder / "valid_000000.bin"}));
  EXPECT_EQ(findEvaluationShards(folder / "trainer.bin"),
            (Paths{folder / "trainer.bin"}));
}

TEST(Shard, MissingShardsAreAnError) {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  EXPECT_EQ(messageOf([&] { findShards(folder.path(), "train"); }),
            root + ": no files train_*.bin; `isobath prepare` makes them");
  EXPECT_EQ(messageOf([&] { findShards(folder / "no", "train"); }),
            root + "/no: cannot list: no such file or directory");
}

TEST(Shard, OpensAll) {
  const TemporaryFolder folder;
  writeShard(folder / "valid_0.bin", Ids{1}, 256);
  writeShard(folder / "valid_1.bin", Ids{2, 3}, 256);
  const std::vector<Shard> shards =
      openShards(findShards(folder.path(), "valid"), 256);
  ASSERT_EQ(shards.size(), 2u);
  EXPECT_EQ(idsOf(shards[1]), (Ids{2, 3}));
}
