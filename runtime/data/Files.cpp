//===- Files.cpp - Reading and atomically writing files and folders -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POSIX calls, every one checked. A temporary name is
//
//     NAME.tmp-PID-N
//
// PID tells removeAbandoned() whose it is; N, together with exclusive creation,
// keeps apart threads, and processes that share a folder but not a PID space.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/files.h"

#include "isobath/runtime/error.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace isobath::runtime {

namespace fs = std::filesystem;

static constexpr std::string_view temporaryMark = ".tmp-";

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Closes what it holds; used while a file is opened and read.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { ::close(number); }
};
} // namespace

static int openForReading(const fs::path &path, struct stat &status) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    failSystemCall(path, "open", errno);
  if (::fstat(descriptor, &status) != 0) {
    const int number = errno;
    ::close(descriptor);
    failSystemCall(path, "open", number);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    failSystemCall(path, "read", EISDIR);
  }
  return descriptor;
}

MappedFile::MappedFile(const fs::path &path) {
  struct stat status;
  const Descriptor descriptor(openForReading(path, status));
  if (!S_ISREG(status.st_mode))
    fail(printable(path), ": cannot map: not a regular file");
  length = static_cast<std::size_t>(status.st_size);
  if (length == 0)
    return;
  void *address =
      ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (address == MAP_FAILED)
    failSystemCall(path, "map", errno);
  data = static_cast<const std::byte *>(address);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)),
      length(std::exchange(other.length, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(length, other.length);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<std::byte *>(data), length);
}

std::string readFile(const fs::path &path) {
  struct stat status;
  const Descriptor descriptor(openForReading(path, status));
  std::string text;
  if (S_ISREG(status.st_mode))
    text.reserve(static_cast<std::size_t>(status.st_size));
  // The size is not trusted: pipes have none, and a file may grow meanwhile.
  constexpr std::size_t step = 1 << 20;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + step);
    const ssize_t got = ::read(descriptor.number, text.data() + had, step);
    text.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0)
      return text;
    if (got < 0 && errno != EINTR)
      failSystemCall(path, "read", errno);
  }
}

std::vector<fs::path> listFolder(const fs::path &folder) {
  std::vector<fs::path> paths;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator();
       entry.increment(failure))
    paths.push_back(entry->path());
  if (failure)
    failSystemCall(folder, "list", failure.value());
  std::ranges::sort(paths);
  return paths;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The next of the temporary names that stand for `path`, in its folder.
static fs::path temporaryName(const fs::path &path) {
  static std::atomic<std::uint64_t> counter{0};
  // The suffix must fit into the 255 bytes of a name.
  std::string name = path.filename().native().substr(0, 200);
  name += concat(temporaryMark, ::getpid(), "-", counter++);
  return path.parent_path() / name;
}

static fs::path folderOf(const fs::path &path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// The reason why nothing can be created under `path`, as an error number made
/// at creation: a missing folder is said to be missing, not the file.
[[noreturn]] static void failCreation(const fs::path &path, int errorNumber) {
  std::error_code ignored;
  if (errorNumber == ENOENT && !fs::exists(folderOf(path), ignored))
    fail(printable(path), ": cannot create: no folder ",
         printable(folderOf(path)));
  failSystemCall(path, "create", errorNumber);
}

void syncDirectory(const fs::path &folder) {
  const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0)
    failSystemCall(folder, "open", errno);
  const Descriptor descriptor(number);
  // Some file systems cannot sync a folder and say so with EINVAL.
  if (::fsync(number) != 0 && errno != EINVAL)
    failSystemCall(folder, "sync", errno);
}

AtomicFile::AtomicFile(const fs::path &path) : target(path) {
  // rename() would replace a link, not what it points to.
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    const fs::path resolved = fs::canonical(path, ignored);
    if (!ignored)
      target = resolved;
  }
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    failSystemCall(path, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
      failSystemCall(path, "open", errno);
    return;
  }
  do {
    temporary = temporaryName(target);
    descriptor = ::open(temporary.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0)
    failCreation(target, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  assert(descriptor >= 0 && "write after commit");
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      failSystemCall(target, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::commit() {
  assert(descriptor >= 0 && "commit twice");
  if (!temporary.empty()) {
    if (::fsync(descriptor) != 0)
      failSystemCall(target, "sync", errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0)
      failSystemCall(target, "rename to", errno);
    temporary.clear();
    syncDirectory(folderOf(target));
  }
  if (::close(std::exchange(descriptor, -1)) != 0)
    failSystemCall(target, "write", errno);
}

void writeFile(const fs::path &path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// `path` without a slash at its end, which would leave no name to extend.
static fs::path withoutSlash(const fs::path &path) {
  return path.has_filename() ? path : path.parent_path();
}

AtomicDirectory::AtomicDirectory(const fs::path &path)
    : target(withoutSlash(path)) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(target, ignored)))
    failSystemCall(target, "create", EEXIST);
  int result;
  do {
    temporary = temporaryName(target);
    result = ::mkdir(temporary.c_str(), 0777);
  } while (result != 0 && errno == EEXIST);
  if (result != 0)
    failCreation(target, errno);
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary.empty())
    fs::remove_all(temporary, ignored);
}

static void syncTree(const fs::path &folder) {
  for (const fs::path &path : listFolder(folder)) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      syncTree(path);
      continue;
    }
    struct stat status;
    const Descriptor descriptor(openForReading(path, status));
    if (::fsync(descriptor.number) != 0)
      failSystemCall(path, "sync", errno);
  }
  syncDirectory(folder);
}

void AtomicDirectory::publish() {
  assert(!temporary.empty() && "publish twice");
  syncTree(temporary);
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    failSystemCall(target, "create", errno);
  temporary.clear();
  syncDirectory(folderOf(target));
}

/// The process that made a temporary name; 0 if it is not one.
static pid_t makerOf(std::string_view name) {
  const std::size_t mark = name.rfind(temporaryMark);
  if (mark == std::string_view::npos)
    return 0;
  const char *first = name.data() + mark + temporaryMark.size();
  const char *last = name.data() + name.size();
  pid_t maker = 0;
  std::uint64_t count = 0;
  const auto [dash, failure] = std::from_chars(first, last, maker);
  if (failure != std::errc() || maker <= 0 || dash == last || *dash != '-')
    return 0;
  const auto [end, second] = std::from_chars(dash + 1, last, count);
  return second == std::errc() && end == last ? maker : 0;
}

void removeAbandoned(const fs::path &folder) {
  for (const fs::path &path : listFolder(folder)) {
    const pid_t maker = makerOf(path.filename().native());
    if (maker == 0 || ::kill(maker, 0) == 0 || errno != ESRCH)
      continue;
    std::error_code failure;
    fs::remove_all(path, failure);
    if (failure)
      failSystemCall(path, "remove", failure.value());
  }
}

} // namespace isobath::runtime
