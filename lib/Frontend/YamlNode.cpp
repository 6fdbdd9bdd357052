//===- YamlNode.cpp - How values and errors are shown ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of YamlTree.h that do not read text.
//
//===----------------------------------------------------------------------===//

#include "YamlTree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace isobath;
using llvm::StringRef;
using llvm::Twine;

/// Values longer than this are cut when shown in a message.
static constexpr size_t maxShownSize = 60;

/// Replaces control characters by escapes and bytes that are no UTF-8 by the
/// replacement character, so that the result is one printable line.
static std::string onOneLine(StringRef text) {
  std::string line;
  llvm::raw_string_ostream os(line);
  for (char c : llvm::json::fixUTF8(text)) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      os << "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      os << "\\x" << llvm::hexdigit(byte >> 4, /*LowerCase=*/true)
         << llvm::hexdigit(byte & 15, /*LowerCase=*/true);
    else
      os << c;
  }
  return line;
}

/// Cuts a text that is too long to be shown, between two characters.
static std::string shortened(StringRef text) {
  if (text.size() <= maxShownSize)
    return text.str();
  size_t end = maxShownSize;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return (text.take_front(end) + "…").str();
}

std::string YamlNode::describe() const {
  switch (kind) {
  case Kind::null:
    return "null";
  case Kind::list:
    return "a list";
  case Kind::map:
    return "a mapping";
  case Kind::scalar:
    break;
  }
  return quoted ? '"' + shortened(text) + '"' : shortened(text);
}

const YamlEntry *YamlNode::find(StringRef key) const {
  auto entry = llvm::find_if(
      entries, [&](const YamlEntry &entry) { return entry.key == key; });
  return entry == entries.end() ? nullptr : &*entry;
}

YamlEntry *YamlNode::find(StringRef key) {
  return const_cast<YamlEntry *>(std::as_const(*this).find(key));
}

llvm::Error isobath::descriptionError(StringRef where, StringRef key,
                                      const Twine &given,
                                      const Twine &expected) {
  std::string message =
      (where + ": " + key + ": given " + given + ", expected " + expected)
          .str();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 onOneLine(message));
}
