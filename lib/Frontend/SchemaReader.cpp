//===- SchemaReader.cpp - Fills a section's fields from a YAML mapping ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which plain scalars are integers, numbers and booleans follows YAML 1.2's
// core schema, in decimal only: what other readers take for octal, hexadecimal
// or a sexagesimal number is refused rather than guessed.
//
//===----------------------------------------------------------------------===//

#include "SchemaReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include <cfloat>
#include <cmath>

using namespace isobath;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

std::string isobath::dottedKey(StringRef section, StringRef key) {
  return section.empty() ? key.str() : (section + "." + key).str();
}

//===----------------------------------------------------------------------===//
// Plain scalars
//===----------------------------------------------------------------------===//

/// Takes the digits at the front of `text` and returns their number.
static size_t takeDigits(StringRef &text) {
  size_t before = text.size();
  text = text.drop_while(llvm::isDigit);
  return before - text.size();
}

static bool takeSign(StringRef &text) {
  return text.consume_front("-") || text.consume_front("+");
}

/// [-+]? digits, without a leading zero.
static bool isInteger(StringRef text) {
  takeSign(text);
  if (text.starts_with("0"))
    return text == "0";
  return takeDigits(text) > 0 && text.empty();
}

/// [-+]? (digits [. digits?] | . digits) ([eE] [-+]? digits)?
static bool isNumber(StringRef text) {
  takeSign(text);
  size_t digits = takeDigits(text);
  if (text.consume_front("."))
    digits += takeDigits(text);
  if (digits == 0)
    return false;
  if (text.consume_front_insensitive("e")) {
    takeSign(text);
    if (takeDigits(text) == 0)
      return false;
  }
  return text.empty();
}

/// Infinities and not-a-number as YAML spells them.
static bool isNonFinite(StringRef text) {
  takeSign(text);
  return text.equals_insensitive(".inf") || text.equals_insensitive(".nan");
}

static std::optional<bool> toBoolean(StringRef text) {
  static constexpr StringRef yes[] = {"true", "True", "TRUE"};
  static constexpr StringRef no[] = {"false", "False", "FALSE"};
  if (llvm::is_contained(yes, text))
    return true;
  if (llvm::is_contained(no, text))
    return false;
  return std::nullopt;
}

static bool isPlain(const YamlNode &value) {
  return value.kind == YamlNode::Kind::scalar && !value.quoted;
}

/// Whether a scalar is a string: quoted, or plain and nothing else.
static bool isString(const YamlNode &value) {
  if (value.kind != YamlNode::Kind::scalar)
    return false;
  return value.quoted || !(isNumber(value.text) || isNonFinite(value.text) ||
                           toBoolean(value.text));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The word nearest to `given`, or nothing if more than half of it would have
/// to change. Two letters in the wrong order count as two changes.
static std::optional<StringRef> nearest(StringRef given,
                                        ArrayRef<StringRef> words) {
  unsigned best = std::max<size_t>(2, given.size() / 2) + 1;
  std::optional<StringRef> found;
  for (StringRef word : words) {
    unsigned distance = given.edit_distance_insensitive(word, true, best);
    if (distance < best) {
      best = distance;
      found = word;
    }
  }
  return found;
}

/// "; nearest is X", or nothing.
static std::string suggestion(StringRef given, ArrayRef<StringRef> words) {
  std::optional<StringRef> word = nearest(given, words);
  return word ? ("; nearest is " + *word).str() : "";
}

llvm::Error isobath::checkKnownKeys(const YamlNode &map, StringRef section,
                                    ArrayRef<StringRef> known,
                                    ArrayRef<std::string> everywhere) {
  for (const YamlEntry &entry : map.entries) {
    if (llvm::is_contained(known, entry.key))
      continue;
    const auto *elsewhere = llvm::find_if(everywhere, [&](StringRef key) {
      return key.rsplit('.').second == entry.key;
    });
    std::string hint = elsewhere == everywhere.end()
                           ? suggestion(entry.key, known)
                           : "; nearest is " + *elsewhere;
    return descriptionError(entry.where, dottedKey(section, entry.key),
                            "an unknown key",
                            "one of " + llvm::join(known, ", ") + hint);
  }
  return llvm::Error::success();
}

llvm::Error isobath::readName(const YamlEntry &entry, std::string &name) {
  const YamlNode &value = entry.value;
  auto fail = [&](const Twine &expected) {
    return descriptionError(value.where, entry.key, value.describe(), expected);
  };
  if (!isString(value))
    return fail("a string (in quotes where it looks like something else)");
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(value.text.data());
  bool isText = llvm::isLegalUTF8String(&begin, begin + value.text.size()) &&
                llvm::none_of(value.text, [](unsigned char c) {
                  return c < 0x20 || c == 0x7f;
                });
  if (value.text.empty() || !isText || value.text.size() > 255)
    return fail("1 to 255 bytes of UTF-8 without control characters");
  name = value.text;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

llvm::Error SchemaReader::takeError() {
  if (!message)
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), *message);
}

void SchemaReader::fail(StringRef path, const YamlNode &value,
                        const Twine &expected) {
  message = llvm::toString(
      descriptionError(value.where, path, value.describe(), expected));
}

const YamlEntry *SchemaReader::begin(StringRef key, Need need) {
  if (message)
    return nullptr;
  const YamlEntry *entry = map.find(key);
  if (entry)
    origins[dottedKey(section, key)] = {entry->value.where,
                                        entry->value.describe()};
  else if (need == Need::required)
    message = llvm::toString(descriptionError(
        map.where, dottedKey(section, key), "nothing", "this required key"));
  return entry;
}

void SchemaReader::integer(StringRef key, int64_t &field, IntegerLimits limits,
                           Need need) {
  const YamlEntry *entry = begin(key, need);
  if (!entry)
    return;
  const YamlNode &value = entry->value;
  StringRef digits = value.text;
  digits.consume_front("+");
  int64_t integer;
  // Two failures, one message: the text is no integer, or none that fits.
  bool valid = isPlain(value) && isInteger(value.text) &&
               !digits.getAsInteger(10, integer) && integer >= limits.least &&
               integer <= limits.most;
  if (valid) {
    field = integer;
    return;
  }
  std::string least = std::to_string(limits.least);
  bool bounded = limits.most < std::numeric_limits<int64_t>::max();
  bool tooLarge = isPlain(value) && isInteger(value.text) &&
                  !StringRef(value.text).starts_with("-");
  fail(dottedKey(section, key), value,
       bounded || (tooLarge && value.text.size() > 18)
           ? "an integer from " + least + " to " + std::to_string(limits.most)
           : "an integer of at least " + least);
}

static StringRef describeLimits(NumberLimits limits) {
  switch (limits) {
  case NumberLimits::positive:
    return "a positive number that is finite and not zero in f32";
  case NumberLimits::notNegative:
    return "a number of at least 0 that is finite in f32";
  case NumberLimits::fraction:
    return "a number from 0 to 1";
  case NumberLimits::decay:
    return "a number of at least 0 and less than 1 in f32";
  }
  return "";
}

static bool isWithin(double number, NumberLimits limits) {
  switch (limits) {
  case NumberLimits::positive:
    return number >= FLT_MIN && number <= FLT_MAX;
  case NumberLimits::notNegative:
    return number >= 0 && number <= FLT_MAX;
  case NumberLimits::fraction:
    return number >= 0 && number <= 1;
  case NumberLimits::decay:
    return number >= 0 && static_cast<float>(number) < 1;
  }
  return false;
}

void SchemaReader::readNumber(const std::string &path, const YamlNode &value,
                              double &field, NumberLimits limits) {
  StringRef digits = value.text;
  digits.consume_front("+");
  double number;
  bool valid = isPlain(value) && isNumber(value.text) &&
               !digits.getAsDouble(number, /*AllowInexact=*/true) &&
               isWithin(number, limits);
  if (!valid)
    return fail(path, value, describeLimits(limits));
  field = number == 0 ? 0.0 : number; // no negative zero
}

void SchemaReader::number(StringRef key, double &field, NumberLimits limits) {
  if (const YamlEntry *entry = begin(key, Need::optional))
    readNumber(dottedKey(section, key), entry->value, field, limits);
}

void SchemaReader::boolean(StringRef key, bool &field) {
  const YamlEntry *entry = begin(key, Need::optional);
  if (!entry)
    return;
  std::optional<bool> value =
      isPlain(entry->value) ? toBoolean(entry->value.text) : std::nullopt;
  if (!value)
    return fail(dottedKey(section, key), entry->value, "true or false");
  field = *value;
}

void SchemaReader::pair(StringRef key, std::array<double, 2> &field,
                        NumberLimits limits) {
  const YamlEntry *entry = begin(key, Need::optional);
  if (!entry)
    return;
  std::string path = dottedKey(section, key);
  const YamlNode &value = entry->value;
  if (value.kind != YamlNode::Kind::list)
    return fail(path, value, "a list of two numbers");
  if (value.items.size() != 2) {
    message = llvm::toString(
        descriptionError(value.where, path,
                         "a list of " + Twine(value.items.size()) +
                             (value.items.size() == 1 ? " value" : " values"),
                         "a list of two numbers"));
    return;
  }
  for (size_t i = 0; i < 2 && !message; ++i)
    readNumber(path + "[" + std::to_string(i) + "]", value.items[i], field[i],
               limits);
}

std::optional<size_t>
SchemaReader::readChoice(const std::string &path, const YamlNode &value,
                         ArrayRef<llvm::StringLiteral> words) {
  if (isString(value))
    for (auto [index, word] : llvm::enumerate(words))
      if (value.text == word)
        return index;
  llvm::SmallVector<StringRef> list(words.begin(), words.end());
  std::string hint = isString(value) ? suggestion(value.text, list) : "";
  fail(path, value,
       (list.size() == 1 ? "" : "one of ") + llvm::join(list, ", ") + hint);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The routes table
//===----------------------------------------------------------------------===//

/// The roles of a group in the order q, k, v: `vqk` is `qkv`. A text that is no
/// group stays as it is.
static std::string canonicalGroup(StringRef group) {
  std::string roles;
  for (char role : {'q', 'k', 'v'})
    if (group.contains(role))
      roles += role;
  return roles.size() == group.size() ? roles : group.str();
}

/// Finds the grouping whose groups are the keys of `groups`, in any order.
std::optional<RoleGrouping> SchemaReader::readGrouping(const std::string &path,
                                                       const YamlNode &groups) {
  static constexpr StringRef known[] = {"qkv", "qk", "q", "k", "v"};
  if (llvm::Error error = checkKnownKeys(groups, path, known)) {
    message = llvm::toString(std::move(error));
    return std::nullopt;
  }
  for (RoleGrouping grouping :
       {RoleGrouping::tied, RoleGrouping::decoupledValue,
        RoleGrouping::separate}) {
    ArrayRef<llvm::StringLiteral> names = groupsOf(grouping);
    if (names.size() == groups.entries.size() &&
        llvm::all_of(names, [&](StringRef name) { return groups.find(name); }))
      return grouping;
  }
  std::string given;
  for (const YamlEntry &entry : groups.entries)
    given += (given.empty() ? "" : ", ") + entry.key;
  message = llvm::toString(
      descriptionError(groups.where, path, "the groups {" + given + "}",
                       "each of q, k and v once: {qkv}, {qk, v} or {q, k, v}"));
  return std::nullopt;
}

void SchemaReader::routes(StringRef key, RoutesTable &field) {
  const YamlEntry *entry = begin(key, Need::optional);
  if (!entry)
    return;
  std::string path = dottedKey(section, key);
  YamlNode value = entry->value;
  if (value.kind != YamlNode::Kind::map)
    return fail(path, value, "a mapping from groups of roles to rules");
  for (YamlEntry &group : value.entries)
    group.key = canonicalGroup(group.key);
  std::optional<RoleGrouping> grouping = readGrouping(path, value);
  if (!grouping)
    return;
  RoutesTable table;
  table.grouping = *grouping;
  ArrayRef<llvm::StringLiteral> rules = spellingsOf(RouteRule());
  for (const YamlEntry &group : value.entries) {
    bool isValue = group.key == "v";
    std::optional<size_t> rule =
        readChoice(dottedKey(path, group.key), group.value,
                   isValue ? rules : rules.take_front(1));
    if (!rule)
      return;
    if (isValue)
      table.value = static_cast<RouteRule>(*rule);
  }
  field = table;
}
