//===- TestFiles.h - Folders, files and messages for tests ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the GoogleTests of the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_RUNTIME_TESTFILES_H
#define ISOBATH_TEST_UNIT_RUNTIME_TESTFILES_H

#include "isobath/runtime/error.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime::test {

/// A new folder with a space and a letter beyond ASCII in its name, removed
/// with its contents at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        std::filesystem::temp_directory_path() / "isobath tést XXXXXX";
    if (!::mkdtemp(name.data()))
      throw std::runtime_error("no temporary folder");
    folder = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(folder); }

  const std::filesystem::path &path() const { return folder; }
  std::filesystem::path operator/(std::string_view name) const {
    return folder / name;
  }

  /// The names of everything inside, sorted, with slashes behind folders.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      result.push_back(entry.path().filename().string() +
                       (entry.is_directory() ? "/" : ""));
    std::sort(result.begin(), result.end());
    return result;
  }

private:
  std::filesystem::path folder;
};

using Names = std::vector<std::string>;

inline void putFile(const std::filesystem::path &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string getFile(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The bytes of `value`, as they lie in memory.
template <typename Value> std::string bytesOfValue(const Value &value) {
  std::string bytes(sizeof(Value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Value));
  return bytes;
}

/// The text of the Error that `action` throws; "no error" if it throws none.
template <typename Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace isobath::runtime::test

#endif // ISOBATH_TEST_UNIT_RUNTIME_TESTFILES_H
