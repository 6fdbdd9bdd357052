//===- SafetensorsHeader.h - The JSON header of a weight file -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header's grammar only: what is a string, a number, an object, and that
// nothing occurs twice. Whether the numbers fit the file is checked by the
// reader (SafetensorsReader.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_WEIGHTS_SAFETENSORSHEADER_H
#define ISOBATH_RUNTIME_WEIGHTS_SAFETENSORSHEADER_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// The key under which a header holds text that is not about tensors.
inline constexpr const char *metadataKey = "__metadata__";

/// The longest header that the public reader accepts, in bytes.
inline constexpr std::uint64_t maximumHeaderBytes = 100'000'000;

struct HeaderTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets; // begin and end, from the data's start
};

struct SafetensorsHeader {
  std::vector<HeaderTensor> tensors; // in the order of the header
  std::map<std::string, std::string> metadata;
};

/// Parses the header `text`; errors begin with `file`. Memory and time are
/// linear in the text, whatever it says.
SafetensorsHeader parseSafetensorsHeader(std::string_view text,
                                         const std::string &file);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_WEIGHTS_SAFETENSORSHEADER_H
