//===- WriteModelDescription.cpp - A description as YAML and JSON ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The visitors of ModelSchema.h that write text. One description has exactly
// one canonical text, so that texts can be compared instead of descriptions.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ModelSchema.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace isobath;
using llvm::StringRef;

std::string isobath::formatNumber(double value) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  std::string text(digits, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

namespace {
/// Writes one key a line, indented.
class YamlWriter {
public:
  YamlWriter(llvm::raw_ostream &os, unsigned indent) : os(os), indent(indent) {}

  template <typename... Rest>
  void integer(StringRef key, int64_t value, Rest &&...) {
    line(key) << value << '\n';
  }
  void number(StringRef key, double value, NumberLimits) {
    line(key) << formatNumber(value) << '\n';
  }
  void boolean(StringRef key, bool value) {
    line(key) << (value ? "true" : "false") << '\n';
  }
  template <typename Enum, typename... Rest>
  void choice(StringRef key, Enum value, Rest &&...) {
    line(key) << spellingOf(value) << '\n';
  }
  void pair(StringRef key, const std::array<double, 2> &value, NumberLimits) {
    line(key) << '[' << formatNumber(value[0]) << ", " << formatNumber(value[1])
              << "]\n";
  }
  void routes(StringRef key, const RoutesTable &table) {
    line(key) << '{';
    llvm::ListSeparator separator;
    for (StringRef group : groupsOf(table.grouping))
      os << separator << group << ": "
         << spellingOf(group == "v" ? table.value : RouteRule::learned);
    os << "}\n";
  }

private:
  llvm::raw_ostream &line(StringRef key) {
    return os.indent(indent) << key << ": ";
  }

  llvm::raw_ostream &os;
  unsigned indent;
};

/// Fills an object with the keys of a section that holds no routes.
struct JsonWriter {
  void integer(StringRef key, int64_t value, IntegerLimits) {
    object[key] = value;
  }
  void number(StringRef key, double value, NumberLimits) {
    object[key] = value;
  }
  template <typename Enum> void choice(StringRef key, Enum value) {
    object[key] = spellingOf(value);
  }
  void pair(StringRef key, const std::array<double, 2> &value, NumberLimits) {
    object[key] = llvm::json::Array{value[0], value[1]};
  }

  llvm::json::Object object;
};
} // namespace

llvm::json::Object isobath::toJson(const TrainSection &train) {
  TrainSection copy = train; // visitors take fields by reference
  JsonWriter writer;
  visitTrainKeys(writer, copy);
  return std::move(writer.object);
}

std::string isobath::toCanonicalYaml(const ModelDescription &description) {
  // Visitors take fields by reference, since most of them fill them.
  ModelDescription copy = description;
  std::string text;
  llvm::raw_string_ostream os(text);
  YamlWriter section(os, 2), subsection(os, 4);
  os << "name: \"" << llvm::yaml::escape(copy.name, /*EscapePrintable=*/false)
     << "\"\n";
  os << "model:\n";
  visitModelKeys(section, copy.model);
  os << "  residual:\n";
  visitResidualKeys(subsection, copy.model.residual, /*onlyAllowed=*/true);
  os << "  controls:\n";
  visitControlsKeys(subsection, copy.model.controls);
  os << "train:\n";
  visitTrainKeys(section, copy.train);
  return text;
}
