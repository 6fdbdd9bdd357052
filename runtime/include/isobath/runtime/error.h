//===- error.h - How the runtime reports that it cannot go on -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One exception type for everything a user can cause: bad files, bad options,
// a full disk. what() is one line that says what, where, the value given and
// the value allowed; the program prints it after `error: ` and exits with 1.
// Mistakes of the programmer are assertions, not errors.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_ERROR_H
#define ISOBATH_RUNTIME_ERROR_H

#include <concepts>
#include <filesystem>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace isobath::runtime {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The parts written one after the other, numbers in the classic locale.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  (stream << ... << parts);
  return stream.str();
}

/// Throws the Error whose text is the parts written one after the other.
template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) {
  throw Error(concat(parts...));
}

/// `text` fit for a one-line message: control characters escaped as \xNN, and
/// the middle left out where it is longer than `longest` bytes. For text that
/// comes from outside: names in files, options, paths.
std::string printable(std::string_view text, std::size_t longest = 200);
template <std::same_as<std::filesystem::path> Path>
std::string printable(const Path &path) {
  return printable(std::string_view(path.native()));
}

/// `text` as in the middle of a sentence: the first letter small, unless the
/// second one says that the first word is an abbreviation.
std::string lowerFirst(std::string text);

/// "PATH: cannot ACTION: REASON", the reason being that of `errorNumber`.
[[noreturn]] void failSystemCall(const std::filesystem::path &path,
                                 std::string_view action, int errorNumber);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_ERROR_H
