//===- OptionChecks.cpp - Values that options of commands may have --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/option_checks.h"

#include "isobath/runtime/error.h"

#include <charconv>

namespace isobath::runtime {

CLI::Validator wholeNumber(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string &text) -> std::string {
        std::uint64_t value = 0;
        const char *end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data(), end, value);
        if (failure == std::errc() && stop == end && value >= least &&
            value <= most)
          return {};
        return concat("given ", printable(text),
                      ", expected a whole number from ", least, " to ", most);
      },
      "");
}

CLI::Validator fileName() {
  return CLI::Validator(
      [](const std::string &text) -> std::string {
        return text.empty() ? "given an empty name, expected a file's" : "";
      },
      "");
}

} // namespace isobath::runtime
