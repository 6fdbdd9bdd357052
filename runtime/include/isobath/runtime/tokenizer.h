//===- tokenizer.h - Text to token ids and back ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tokenizer is chosen by name when text is prepared, and read back from the
// data folder's tokenizer.json when text is generated:
//
//     {"name": "bytes", "vocabulary": 256}
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_TOKENIZER_H
#define ISOBATH_RUNTIME_TOKENIZER_H

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobath::runtime {

class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// The name by which makeTokenizer() finds it.
  virtual std::string_view name() const = 0;
  /// Every id is below this.
  virtual std::uint32_t vocabulary() const = 0;
  /// Appends the ids of `text` to `ids`. Any bytes are accepted.
  virtual void encode(std::string_view text,
                      std::vector<std::uint32_t> &ids) const = 0;
  /// The text of `ids`; an Error if one is not in the vocabulary.
  virtual std::string decode(std::span<const std::uint32_t> ids) const = 0;
};

/// The tokenizer of that name. `bytes`: one id per byte, 256 of them. An Error
/// lists the known names.
std::unique_ptr<Tokenizer> makeTokenizer(std::string_view name);

/// Writes tokenizer.json, atomically.
void writeTokenizer(const std::filesystem::path &path,
                    const Tokenizer &tokenizer);

/// Reads what writeTokenizer() wrote.
std::unique_ptr<Tokenizer> readTokenizer(const std::filesystem::path &path);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_TOKENIZER_H
