//===- json_value.h - JSON members with their place in errors -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view of one JSON value that knows where it stands, so that a wrong value
// is reported as `manifest.parameters.tensors[3].offset: given -1, expected …`.
// It owns nothing and writes nothing; parsing and printing are nlohmann's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_JSON_VALUE_H
#define ISOBATH_RUNTIME_JSON_VALUE_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobath::runtime {

/// Parses a whole text. Throws Error that begins with `where` when it is not
/// JSON.
nlohmann::ordered_json parseJson(std::string_view text, std::string_view where);

class JsonValue {
public:
  /// `value` must outlive this view and every view taken from it.
  JsonValue(const nlohmann::ordered_json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  bool has(const std::string &key) const;
  /// The member `key` of an object; throws Error when it is missing.
  JsonValue operator[](const std::string &key) const;
  /// The elements of an array.
  std::vector<JsonValue> elements() const;

  std::string text() const;
  std::vector<std::string> texts() const;
  bool boolean() const;
  /// A whole number within [minimum, maximum].
  std::uint64_t count(
      std::uint64_t minimum,
      std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max()) const;
  /// A finite number within [minimum, maximum].
  double number(double minimum = std::numeric_limits<double>::lowest(),
                double maximum = std::numeric_limits<double>::max()) const;

  /// Throws the error `PATH: given VALUE, expected EXPECTED`.
  [[noreturn]] void fail(const std::string &expected) const;

private:
  const nlohmann::ordered_json *value;
  std::string path;
};

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_JSON_VALUE_H
