//===- YamlTree.h - YAML text as a tree whose nodes know where they are ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's YAML parser yields nodes as it reads and prints its own complaints.
// Here its result becomes a tree that can be edited (overrides) and read in any
// order (rules), and every complaint becomes one error of our form. What a
// model description has no use for (anchors, aliases, tags, directives, block
// scalars, keys that are not scalars, several documents) is refused by name.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_YAMLTREE_H
#define ISOBATH_LIB_FRONTEND_YAMLTREE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace isobath {

struct YamlEntry;

/// A value of a YAML document.
struct YamlNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  /// Where the value starts: `FILE:LINE:COLUMN` or `--set KEY`.
  std::string where;
  /// The text of a scalar, escapes and line folding resolved.
  std::string text;
  /// Whether a scalar was written in quotes, which makes it a string.
  bool quoted = false;
  std::vector<YamlNode> items;    // of a list
  std::vector<YamlEntry> entries; // of a map, in the order of the text

  /// How the value is shown after "given" in a message: one short line.
  std::string describe() const;

  /// The value of a map under `key`, or null.
  const YamlEntry *find(llvm::StringRef key) const;
  YamlEntry *find(llvm::StringRef key);
};

/// One key of a map and its value.
struct YamlEntry {
  std::string key;
  std::string where; // of the key
  YamlNode value;
};

/// An error `where: key: given X, expected Y`. Line breaks and other control
/// characters in any part are escaped, so that it is always one line.
llvm::Error descriptionError(llvm::StringRef where, llvm::StringRef key,
                             const llvm::Twine &given,
                             const llvm::Twine &expected);

/// Reads the only document of `text`. `fileName` is used in positions.
llvm::Expected<YamlNode> parseYamlFile(llvm::StringRef text,
                                       llvm::StringRef fileName);

/// Reads the value of the override `key`, which gives every node the position
/// `--set key`. An empty text is null.
llvm::Expected<YamlNode> parseYamlOverride(llvm::StringRef text,
                                           llvm::StringRef key);

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_YAMLTREE_H
