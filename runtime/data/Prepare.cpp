//===- Prepare.cpp - Text files to a folder of token shards ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is read and encoded before the first file is made.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/prepare.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "isobath/runtime/shard.h"
#include "isobath/runtime/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace isobath::runtime {

namespace fs = std::filesystem;

using Ids = std::vector<std::uint32_t>;

static constexpr const char *tokenizerFile = "tokenizer.json";

static void checkOptions(const PrepareOptions &options) {
  if (options.texts.empty())
    fail("prepare: texts: given none, expected at least one");
  if (options.output.empty())
    fail("prepare: output folder: given '', expected a name");
  if (!(options.validFraction > 0 && options.validFraction < 1))
    fail("prepare: validation fraction: given ", options.validFraction,
         ", expected more than 0 and less than 1");
  if (options.idsPerShard < 3 || options.idsPerShard > maximumIdsInShard)
    fail("prepare: ids in one shard: given ", options.idsPerShard,
         ", expected 3 to ", maximumIdsInShard);
}

/// Shards of another text would be trained on together with the new ones, and
/// a tokenizer.json may be somebody else's.
static void checkNothingStale(const fs::path &output) {
  for (const fs::path &path : listFolder(output)) {
    const std::string name = path.filename();
    const bool shard =
        (name.starts_with("train_") || name.starts_with("valid_")) &&
        name.ends_with(".bin");
    if (shard || name == tokenizerFile)
      fail(printable(output), ": holds ", printable(name),
           " already, expected a folder without shards and ", tokenizerFile);
  }
}

static Ids encodeFiles(std::span<const fs::path> texts,
                       const Tokenizer &tokenizer) {
  Ids ids;
  for (const fs::path &path : texts) {
    const std::string text = readFile(path);
    if (text.empty())
      fail(printable(path), ": text: given 0 bytes, expected at least 1");
    tokenizer.encode(text, ids);
  }
  return ids;
}

/// Writes the shards of one split to `folder`; the paths returned are those in
/// `output`, where they will end up.
static std::vector<PreparedShard>
writeSplit(const std::string &split, std::span<const std::uint32_t> ids,
           std::uint64_t vocabulary, std::uint64_t idsPerShard,
           const fs::path &folder, const fs::path &output) {
  std::vector<PreparedShard> written;
  const std::uint64_t shards = (ids.size() + idsPerShard - 1) / idsPerShard;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < shards; ++i) {
    const std::uint64_t size = (ids.size() - first) / (shards - i);
    std::string number = std::to_string(i);
    number.insert(0, 6 - std::min<std::size_t>(6, number.size()), '0');
    const std::string name = concat(split, "_", number, ".bin");
    writeShard(folder / name, ids.subspan(first, size), vocabulary);
    written.push_back({output / name, size});
    first += size;
  }
  return written;
}

namespace {
/// The texts of both splits as ids.
struct EncodedTexts {
  std::unique_ptr<Tokenizer> tokenizer;
  Ids ids, validIds;
  std::span<const std::uint32_t> train, valid; // parts of ids and validIds
};
} // namespace

static void encodeTexts(const PrepareOptions &options, EncodedTexts &encoded) {
  encoded.tokenizer = makeTokenizer(options.tokenizer);
  encoded.ids = encodeFiles(options.texts, *encoded.tokenizer);
  encoded.validIds = encodeFiles(options.validTexts, *encoded.tokenizer);
  encoded.train = encoded.ids;
  encoded.valid = encoded.validIds;
  if (options.validTexts.empty()) {
    const double share = std::round(options.validFraction *
                                    static_cast<double>(encoded.ids.size()));
    encoded.valid = encoded.train.last(static_cast<std::size_t>(share));
    encoded.train =
        encoded.train.first(encoded.train.size() - encoded.valid.size());
  }
  // With fewer than 2 ids there is nothing to predict.
  for (const auto &[split, ids] : {std::pair("training", encoded.train),
                                   std::pair("validation", encoded.valid)})
    if (ids.size() < 2)
      fail("prepare: ids for ", split, ": given ", ids.size(), " of ",
           encoded.ids.size() + encoded.validIds.size(),
           ", expected at least 2");
}

/// Fills `folder`, whose contents will go to options.output.
static PrepareSummary writeData(const PrepareOptions &options,
                                const EncodedTexts &encoded,
                                const fs::path &folder) {
  PrepareSummary summary;
  summary.vocabulary = encoded.tokenizer->vocabulary();
  const auto write = [&](const char *split,
                         std::span<const std::uint32_t> ids) {
    return writeSplit(split, ids, summary.vocabulary, options.idsPerShard,
                      folder, options.output);
  };
  summary.train = write("train", encoded.train);
  summary.valid = write("valid", encoded.valid);
  writeTokenizer(folder / tokenizerFile, *encoded.tokenizer);
  return summary;
}

static PrepareSummary writeNewFolder(const PrepareOptions &options,
                                     const EncodedTexts &encoded) {
  // With or without a slash at its end, the folder that `output` is in.
  const fs::path parent = (options.output / "").parent_path().parent_path();
  if (!parent.empty())
    fs::create_directories(parent);
  AtomicDirectory folder(options.output);
  PrepareSummary summary = writeData(options, encoded, folder.folder());
  folder.publish();
  return summary;
}

/// The folder may hold other things, or be where another file system is
/// mounted: the files are made inside it, then take their places one by one.
static PrepareSummary writeIntoFolder(const PrepareOptions &options,
                                      const EncodedTexts &encoded) {
  AtomicDirectory folder(options.output / "prepare");
  PrepareSummary summary = writeData(options, encoded, folder.folder());
  for (const fs::path &path : listFolder(folder.folder()))
    fs::rename(path, options.output / path.filename());
  syncDirectory(options.output);
  return summary;
}

PrepareSummary prepare(const PrepareOptions &options) {
  checkOptions(options);
  try {
    const bool exists = fs::exists(options.output);
    if (exists)
      checkNothingStale(options.output);
    EncodedTexts encoded;
    encodeTexts(options, encoded);
    return exists ? writeIntoFolder(options, encoded)
                  : writeNewFolder(options, encoded);
  } catch (const fs::filesystem_error &error) {
    failSystemCall(error.path1(), "create", error.code().value());
  }
}

} // namespace isobath::runtime
