//===- files.h - Reading and atomically writing files and folders ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file the runtime reads or writes passes through here. Sizes and offsets
// are 64-bit, any path works, and every failure is an Error that names the file
// and the reason. What is written appears complete or not at all, also when the
// process or the machine stops in the middle.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_FILES_H
#define ISOBATH_RUNTIME_FILES_H

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// A regular file mapped into memory, read-only. An empty file is an empty
/// span. The file must not be cut shorter while it is mapped: the system then
/// ends the process (SIGBUS). Replacing it by rename, as this header does, is
/// safe.
class MappedFile {
public:
  explicit MappedFile(const std::filesystem::path &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data, length}; }

private:
  const std::byte *data = nullptr; // [length]
  std::size_t length = 0;
};

/// The whole contents of a file, a pipe or a device.
std::string readFile(const std::filesystem::path &path);

/// The paths of everything directly inside `folder`, sorted.
std::vector<std::filesystem::path>
listFolder(const std::filesystem::path &folder);

/// A file under construction. It is written under a temporary name in the
/// folder of `path` and takes the place of `path` at commit(), synced to disk
/// before and after. Without commit() nothing is left behind. Symbolic links
/// are followed, and where `path` names a pipe or a device (/dev/stdout) the
/// bytes go there directly.
class AtomicFile {
public:
  explicit AtomicFile(const std::filesystem::path &path);
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// At most once; nothing may be written after it.
  void commit();

private:
  std::filesystem::path target;
  std::filesystem::path temporary; // empty: written directly
  int descriptor = -1;
};

/// AtomicFile, write and commit in one.
void writeFile(const std::filesystem::path &path, std::string_view text);

/// A folder under construction. Its files are put in folder(), which has a
/// temporary name next to `path`; publish() syncs all of them and gives the
/// folder its name. Without publish() the folder and its contents are removed.
class AtomicDirectory {
public:
  /// An Error when something of that name exists already.
  explicit AtomicDirectory(const std::filesystem::path &path);
  AtomicDirectory(const AtomicDirectory &) = delete;
  AtomicDirectory &operator=(const AtomicDirectory &) = delete;
  ~AtomicDirectory();

  const std::filesystem::path &folder() const { return temporary; }
  /// At most once. An Error when a folder with contents has appeared under the
  /// name meanwhile.
  void publish();

private:
  std::filesystem::path target;
  std::filesystem::path temporary; // empty: published
};

/// Removes the temporary files and folders directly inside `folder` whose
/// processes no longer run on this machine: what a kill leaves behind. Not for
/// a folder into which another machine is writing.
void removeAbandoned(const std::filesystem::path &folder);

/// Makes the names inside `folder` survive a crash of the machine.
void syncDirectory(const std::filesystem::path &folder);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_FILES_H
