//===- SchemaReader.h - Fills a section's fields from a YAML mapping ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The visitor of ModelSchema.h that reads. It checks the type and the limits of
// each value on its own; rules between values are the caller's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_SCHEMAREADER_H
#define ISOBATH_LIB_FRONTEND_SCHEMAREADER_H

#include "YamlTree.h"
#include "isobath/Frontend/ModelSchema.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>

namespace isobath {

/// What was written for a key, for messages that come later.
struct Origin {
  std::string where;
  std::string given;
};

/// From the dotted keys that were given to what was written for them.
using Origins = std::map<std::string, Origin>;

/// The dotted key of `key` in the section `section`, which is empty at the top.
std::string dottedKey(llvm::StringRef section, llvm::StringRef key);

/// Fails if `map` has a key that is not in `known`, and suggests one: the same
/// word in another section, of which `everywhere` lists the dotted keys, or the
/// nearest in this section.
llvm::Error checkKnownKeys(const YamlNode &map, llvm::StringRef section,
                           llvm::ArrayRef<llvm::StringRef> known,
                           llvm::ArrayRef<std::string> everywhere = {});

/// Reads a string that is neither a number, a boolean nor null.
llvm::Error readName(const YamlEntry &entry, std::string &name);

/// Reads the fields of one section. The first error stops the reading; it is
/// taken from the reader at the end.
class SchemaReader {
public:
  /// `map` is the section's mapping, `section` its dotted key.
  SchemaReader(const YamlNode &map, llvm::StringRef section, Origins &origins)
      : map(map), section(section), origins(origins) {}

  void integer(llvm::StringRef key, int64_t &field, IntegerLimits limits,
               Need need = Need::optional);
  void number(llvm::StringRef key, double &field, NumberLimits limits);
  void boolean(llvm::StringRef key, bool &field);
  void pair(llvm::StringRef key, std::array<double, 2> &field,
            NumberLimits limits);
  void routes(llvm::StringRef key, RoutesTable &field);

  template <typename Enum>
  void choice(llvm::StringRef key, Enum &field, Need need = Need::optional) {
    if (const YamlEntry *entry = begin(key, need))
      if (std::optional<size_t> index = readChoice(
              dottedKey(section, key), entry->value, spellingsOf(Enum())))
        field = static_cast<Enum>(*index);
  }

  /// The first error, if there was one.
  llvm::Error takeError();

private:
  /// The entry of `key`, noted as given; null if there is none or an earlier
  /// key had an error.
  const YamlEntry *begin(llvm::StringRef key, Need need);

  void fail(llvm::StringRef path, const YamlNode &value,
            const llvm::Twine &expected);
  void readNumber(const std::string &path, const YamlNode &value, double &field,
                  NumberLimits limits);
  std::optional<size_t> readChoice(const std::string &path,
                                   const YamlNode &value,
                                   llvm::ArrayRef<llvm::StringLiteral> words);
  std::optional<RoleGrouping> readGrouping(const std::string &path,
                                           const YamlNode &groups);

  const YamlNode &map;
  std::string section;
  Origins &origins;
  std::optional<std::string> message;
};

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_SCHEMAREADER_H
