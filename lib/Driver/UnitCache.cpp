//===- UnitCache.cpp - Compiled units kept between commands ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file holds the hash of the rest of it and the archive: a disk that lost a
// part of it, or a hand that changed it, is found out before the code runs.
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/UnitCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Caching.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace isobath;
using llvm::StringRef;

/// The bytes in front of an archive.
static constexpr size_t hashSize = LLVM_BLAKE3_OUT_LEN;

static std::string hashOf(llvm::ArrayRef<StringRef> parts) {
  llvm::BLAKE3 hasher;
  for (StringRef part : parts) {
    // With the length, so that no two lists of parts read the same.
    uint64_t size = part.size();
    hasher.update(StringRef(reinterpret_cast<const char *>(&size), 8));
    hasher.update(part);
  }
  auto bytes = hasher.final();
  return std::string(bytes.begin(), bytes.end());
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Tells one build of a file from another.
static std::string identify(StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return {};
  return llvm::utostr(status.getSize()) + " " +
         llvm::itostr(
             status.getLastModificationTime().time_since_epoch().count());
}

/// Of this program and of the LLVM that generates its code.
static std::string identifyCompiler() {
  static const char anchor = 0;
  std::string program =
      llvm::sys::fs::getMainExecutable(nullptr, const_cast<char *>(&anchor));
  Dl_info library;
  std::string llvmPath;
  if (dladdr(reinterpret_cast<void *>(&llvm::pruneCache), &library))
    llvmPath = library.dli_fname;
  return identify(program) + " " + identify(llvmPath);
}

std::string UnitCache::getKey(llvm::ArrayRef<std::string> parts) {
  std::string compiler = identifyCompiler();
  llvm::SmallVector<StringRef> all(parts.begin(), parts.end());
  all.push_back(compiler);
  return llvm::toHex(hashOf(all), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

UnitCache::UnitCache() {
  if (const char *chosen = std::getenv("ISOBATH_CACHE_DIR")) {
    folder = chosen;
    return;
  }
  llvm::SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    return;
  llvm::sys::path::append(path, "isobath");
  folder = path.str().str();
}

/// With the prefix that pruning looks for: it removes no file without it.
static std::string pathOf(StringRef folder, StringRef key) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

std::unique_ptr<llvm::MemoryBuffer> UnitCache::find(StringRef key) const {
  if (folder.empty())
    return nullptr;
  std::string path = pathOf(folder, key);
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path, llvm::sys::fs::OF_UpdateAtime);
  if (!file) {
    llvm::consumeError(file.takeError());
    return nullptr;
  }
  // Read, not mapped: pruning or a full disk could take pages away.
  auto content = llvm::MemoryBuffer::getOpenFile(
      *file, path, /*FileSize=*/-1, /*RequiresNullTerminator=*/true,
      /*IsVolatile=*/true);
  (void)llvm::sys::fs::closeFile(*file);
  if (!content || (*content)->getBufferSize() < hashSize)
    return nullptr;
  StringRef stored = (*content)->getBuffer();
  StringRef archive = stored.drop_front(hashSize);
  if (hashOf(archive) != stored.take_front(hashSize))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(archive, key);
}

void UnitCache::store(StringRef key, StringRef archive) const {
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  llvm::SmallString<128> pattern(folder);
  llvm::sys::path::append(pattern, "new-%%%%%%%%%%%%");
  auto file = llvm::sys::fs::TempFile::create(pattern);
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  bool written = false;
  {
    llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    stream << hashOf(archive) << archive;
    stream.flush();
    written = !stream.has_error();
    stream.clear_error();
  }
  llvm::consumeError(written ? file->keep(pathOf(folder, key))
                             : file->discard());
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = uint64_t(1) << 30;
  llvm::pruneCache(folder, policy);
}
