//===- option_checks.h - Values that options of commands may have ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_OPTION_CHECKS_H
#define ISOBATH_RUNTIME_OPTION_CHECKS_H

#include <CLI/CLI.hpp>

#include <cstdint>

namespace isobath::runtime {

/// Accepts decimal digits whose number is within [least, most]. The parser's
/// own conversion would wrap a minus sign around.
CLI::Validator wholeNumber(std::uint64_t least, std::uint64_t most = INT64_MAX);

/// Accepts any text but the empty one, which names no file.
CLI::Validator fileName();

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_OPTION_CHECKS_H
