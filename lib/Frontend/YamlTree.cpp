//===- YamlTree.cpp - YAML text as a tree whose nodes know where they are -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three steps: the bytes are checked (size, UTF-8, control characters, what the
// LLVM parser would accept silently or trip over), LLVM parses them, and its
// nodes are copied. It knows nothing about the keys of a model.
//
//===----------------------------------------------------------------------===//

#include "YamlTree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace isobath;
using llvm::StringRef;
using llvm::Twine;

/// A model description needs 3 levels; more than this is never one, and the
/// conversion below is recursive.
static constexpr unsigned maxDepth = 16;

/// Descriptions have about a thousand bytes.
static constexpr size_t maxTextSize = size_t(64) * 1024;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {
/// Turns offsets into positions. Offsets that grow from call to call cost one
/// pass over the text in all.
class Locator {
public:
  /// Positions in a file.
  static Locator ofFile(StringRef text, StringRef fileName) {
    return Locator(text, fileName.str(), /*counts=*/true);
  }
  /// The one position of an override's value.
  static Locator ofOverride(StringRef key) {
    return Locator("", ("--set " + key).str(), /*counts=*/false);
  }

  std::string locate(size_t target) {
    if (!counts)
      return name;
    if (target < offset) {
      offset = 0;
      line = column = 1;
    }
    for (; offset < std::min(target, text.size()); ++offset)
      step();
    return (name + ":" + Twine(line) + ":" + Twine(column)).str();
  }

private:
  Locator(StringRef text, std::string name, bool counts)
      : text(text), name(std::move(name)), counts(counts) {}

  /// Moves over one byte. A line ends with LF, CR LF or CR; a byte inside a
  /// character does not move the column.
  void step() {
    char c = text[offset];
    bool carriageReturnOfPair =
        c == '\r' && offset + 1 < text.size() && text[offset + 1] == '\n';
    if (c == '\n' || (c == '\r' && !carriageReturnOfPair)) {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++column;
    }
  }

  StringRef text;
  std::string name;
  bool counts;
  size_t offset = 0;
  size_t line = 1;
  size_t column = 1;
};

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

/// Reads one document. `rootKey` is the dotted key of the document's root,
/// empty for a whole description.
class YamlReader {
public:
  YamlReader(StringRef text, Locator locator, StringRef rootKey)
      // The line break at the end keeps the scanner, which looks ahead without
      // asking, inside the buffer.
      : text((text + "\n").str()), locator(std::move(locator)),
        rootKey(rootKey) {
    sourceManager.setDiagHandler(&YamlReader::takeComplaint, this);
  }

  llvm::Expected<YamlNode> read();

private:
  static void takeComplaint(const llvm::SMDiagnostic &diagnostic, void *self);

  std::string locate(llvm::SMRange range);
  std::string locateSigil(StringRef name);
  llvm::Error documentError(size_t offset, const Twine &given,
                            const Twine &expected);
  llvm::Error checkBytes();
  llvm::Error checkLines();
  llvm::Error complaintOr(const Twine &given, size_t offset);
  llvm::Error convert(llvm::yaml::Node *node, StringRef key, unsigned depth,
                      YamlNode &result);
  llvm::Error convertScalar(llvm::yaml::ScalarNode &node, YamlNode &result);
  llvm::Error convertMap(llvm::yaml::MappingNode &node, StringRef key,
                         unsigned depth, YamlNode &result);
  llvm::Error convertEntry(llvm::yaml::KeyValueNode &node, StringRef key,
                           unsigned depth, YamlNode &result);

  std::string text;
  Locator locator;
  StringRef rootKey;
  llvm::SourceMgr sourceManager;
  /// LLVM's first complaint, in our form.
  std::optional<std::string> complaint;
  size_t complaintOffset = 0;
};
} // namespace

void YamlReader::takeComplaint(const llvm::SMDiagnostic &diagnostic,
                               void *self) {
  auto &reader = *static_cast<YamlReader *>(self);
  if (reader.complaint)
    return;
  std::string message = diagnostic.getMessage().rtrim(".").str();
  if (!message.empty())
    message.front() = llvm::toLower(message.front());
  reader.complaint = message;
  const char *place = diagnostic.getLoc().getPointer();
  const char *begin = reader.text.data();
  bool inside = place >= begin && place <= begin + reader.text.size();
  reader.complaintOffset = inside ? place - begin : 0;
}

llvm::Error YamlReader::documentError(size_t offset, const Twine &given,
                                      const Twine &expected) {
  return descriptionError(locator.locate(offset),
                          rootKey.empty() ? "document" : rootKey, given,
                          expected);
}

/// The parser's complaint if it has one, else an error of our own.
llvm::Error YamlReader::complaintOr(const Twine &given, size_t offset) {
  if (complaint)
    return documentError(complaintOffset, "malformed YAML (" + *complaint + ")",
                         "well-formed YAML");
  return documentError(offset, given, "well-formed YAML");
}

/// Where a node starts. A flow collection starts at its bracket; the parser's
/// range starts behind it.
std::string YamlReader::locate(llvm::SMRange range) {
  const char *place = range.Start.getPointer();
  if (place < text.data() || place > text.data() + text.size())
    return locator.locate(0);
  size_t offset = place - text.data();
  StringRef before = StringRef(text).take_front(offset).rtrim(" \t\r\n");
  if (before.ends_with("{") || before.ends_with("["))
    offset = before.size() - 1;
  return locator.locate(offset);
}

/// Where the sigil in front of a name stands: & of an anchor, * of an alias.
std::string YamlReader::locateSigil(StringRef name) {
  return locator.locate(name.data() - 1 - text.data());
}

/// Refuses what is not text: bytes that are no UTF-8 and control characters.
llvm::Error YamlReader::checkBytes() {
  if (text.size() > maxTextSize)
    return documentError(0, Twine(text.size()) + " bytes",
                         "at most " + Twine(maxTextSize));
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *place = begin;
  if (!llvm::isLegalUTF8String(&place, begin + text.size()))
    return documentError(place - begin,
                         "the byte 0x" + llvm::utohexstr(*place, true, 2),
                         "UTF-8");
  for (auto [offset, c] : llvm::enumerate(text)) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      return documentError(
          offset, "the control character 0x" + llvm::utohexstr(byte, true, 2),
          "text");
  }
  return llvm::Error::success();
}

/// Refuses tabs as indentation, which the parser would count as one space, and
/// directives.
llvm::Error YamlReader::checkLines() {
  StringRef rest = text;
  while (!rest.empty()) {
    size_t offset = rest.data() - text.data();
    StringRef line =
        rest.take_until([](char c) { return c == '\n' || c == '\r'; });
    StringRef content = line.ltrim(" \t");
    StringRef indent = line.drop_back(content.size());
    size_t tab = indent.find('\t');
    if (tab != StringRef::npos && !content.empty() && content.front() != '#')
      return documentError(offset + tab, "a tab as indentation", "spaces");
    if (line.starts_with("%"))
      return documentError(offset, "a directive", "none");
    rest = rest.drop_front(std::min(rest.size(), line.size() + 1));
  }
  return llvm::Error::success();
}

llvm::Error YamlReader::convertScalar(llvm::yaml::ScalarNode &node,
                                      YamlNode &result) {
  StringRef raw = node.getRawValue();
  llvm::SmallString<64> storage;
  result.text = node.getValue(storage).str();
  if (complaint)
    return complaintOr("", 0);
  result.quoted = raw.starts_with("\"") || raw.starts_with("'");
  static constexpr StringRef nulls[] = {"", "~", "null", "Null", "NULL"};
  bool isNull = !result.quoted && llvm::is_contained(nulls, result.text);
  result.kind = isNull ? YamlNode::Kind::null : YamlNode::Kind::scalar;
  return llvm::Error::success();
}

llvm::Error YamlReader::convertEntry(llvm::yaml::KeyValueNode &node,
                                     StringRef key, unsigned depth,
                                     YamlNode &result) {
  YamlEntry entry;
  YamlNode keyNode;
  if (llvm::Error error = convert(node.getKey(), key, depth, keyNode))
    return error;
  entry.where = keyNode.where;
  if (keyNode.kind != YamlNode::Kind::scalar)
    return descriptionError(entry.where, key.empty() ? "document" : key,
                            keyNode.describe() + " as a key", "a word");
  entry.key = keyNode.text;
  std::string path =
      key.empty() ? entry.key : (key + "." + Twine(entry.key)).str();
  if (result.find(entry.key))
    return descriptionError(entry.where, path, "a second time", "one value");
  if (llvm::Error error = convert(node.getValue(), path, depth, entry.value))
    return error;
  // A value that is not there has no place of its own.
  if (entry.value.kind == YamlNode::Kind::null && entry.value.text.empty())
    entry.value.where = entry.where;
  result.entries.push_back(std::move(entry));
  return llvm::Error::success();
}

llvm::Error YamlReader::convertMap(llvm::yaml::MappingNode &node, StringRef key,
                                   unsigned depth, YamlNode &result) {
  result.kind = YamlNode::Kind::map;
  for (llvm::yaml::KeyValueNode &entry : node) {
    if (llvm::Error error = convertEntry(entry, key, depth, result))
      return error;
    if (complaint)
      return complaintOr("", 0);
  }
  return llvm::Error::success();
}

llvm::Error YamlReader::convert(llvm::yaml::Node *node, StringRef key,
                                unsigned depth, YamlNode &result) {
  if (complaint || !node)
    return complaintOr("malformed YAML", 0);
  result.where = locate(node->getSourceRange());
  StringRef name = key.empty() ? "document" : key;
  if (depth > maxDepth)
    return descriptionError(result.where, name, "a value nested too deeply",
                            "at most " + Twine(maxDepth) + " levels");
  if (!node->getAnchor().empty())
    return descriptionError(locateSigil(node->getAnchor()), name,
                            "the anchor &" + node->getAnchor(), "a value");
  if (!node->getRawTag().empty())
    return descriptionError(result.where, name, "the tag " + node->getRawTag(),
                            "a value without a tag");

  if (auto *alias = llvm::dyn_cast<llvm::yaml::AliasNode>(node))
    return descriptionError(locateSigil(alias->getName()), name,
                            "the alias *" + alias->getName(), "a value");
  if (llvm::isa<llvm::yaml::BlockScalarNode>(node))
    return descriptionError(result.where, name, "a block of text",
                            "a value on one line");
  if (auto *scalar = llvm::dyn_cast<llvm::yaml::ScalarNode>(node))
    return convertScalar(*scalar, result);
  if (auto *map = llvm::dyn_cast<llvm::yaml::MappingNode>(node))
    return convertMap(*map, key, depth + 1, result);
  if (auto *list = llvm::dyn_cast<llvm::yaml::SequenceNode>(node)) {
    result.kind = YamlNode::Kind::list;
    for (llvm::yaml::Node &item : *list) {
      std::string itemKey =
          (key + "[" + Twine(result.items.size()) + "]").str();
      if (llvm::Error error =
              convert(&item, itemKey, depth + 1, result.items.emplace_back()))
        return error;
    }
    if (complaint)
      return complaintOr("", 0);
  }
  return llvm::Error::success();
}

llvm::Expected<YamlNode> YamlReader::read() {
  if (llvm::Error error = checkBytes())
    return error;
  if (llvm::Error error = checkLines())
    return error;
  llvm::yaml::Stream stream(text, sourceManager, /*ShowColors=*/false);
  YamlNode root;
  llvm::yaml::document_iterator document = stream.begin();
  if (document == stream.end())
    return complaintOr("malformed YAML", 0);
  if (llvm::Error error = convert(document->getRoot(), rootKey, 0, root))
    return error;
  ++document;
  if (complaint)
    return complaintOr("", 0);
  if (document != stream.end()) {
    llvm::yaml::Node *second = document->getRoot();
    if (complaint || !second)
      return complaintOr("a second document", text.size());
    return descriptionError(locate(second->getSourceRange()),
                            rootKey.empty() ? "document" : rootKey,
                            "more text after the end", "one document");
  }
  return root;
}

llvm::Expected<YamlNode> isobath::parseYamlFile(StringRef text,
                                                StringRef fileName) {
  text.consume_front("\xef\xbb\xbf");
  return YamlReader(text, Locator::ofFile(text, fileName), "").read();
}

llvm::Expected<YamlNode> isobath::parseYamlOverride(StringRef text,
                                                    StringRef key) {
  return YamlReader(text, Locator::ofOverride(key), key).read();
}
