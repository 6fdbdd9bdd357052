//===- Error.cpp - Text of error messages ---------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape of a message is the caller's: FILE: place: given X, expected Y.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/error.h"

#include <cctype>
#include <cstring>

namespace isobath::runtime {

std::string printable(std::string_view text, std::size_t longest) {
  const std::size_t kept = longest / 2 - 2;
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.size() > longest && i == kept) {
      result += "...";
      i = text.size() - kept;
    }
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string lowerFirst(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void failSystemCall(const std::filesystem::path &path, std::string_view action,
                    int errorNumber) {
  fail(printable(path), ": cannot ", action, ": ",
       lowerFirst(std::strerror(errorNumber)));
}

} // namespace isobath::runtime
