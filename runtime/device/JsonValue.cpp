//===- JsonValue.cpp - JSON members with their place in errors ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Typed access to JSON that was written by another program: every access
// checks, and every failure says where, what was given and what was expected.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/json_value.h"

#include "isobath/runtime/error.h"

#include <cmath>

using nlohmann::ordered_json;

namespace isobath::runtime {

ordered_json parseJson(std::string_view text, std::string_view where) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::parse_error &failure) {
    runtime::fail(where, ": given text that is not JSON at byte ", failure.byte,
                  ", expected one JSON object");
  }
}

void JsonValue::fail(const std::string &expected) const {
  std::string given =
      value->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  runtime::fail(path, ": given ", printable(given), ", expected ", expected);
}

bool JsonValue::has(const std::string &key) const {
  return value->is_object() && value->contains(key);
}

JsonValue JsonValue::operator[](const std::string &key) const {
  if (!value->is_object())
    fail("an object");
  auto member = value->find(key);
  if (member == value->end())
    runtime::fail(path, ".", key, ": given nothing, expected a value");
  return JsonValue(*member, path + "." + key);
}

std::vector<JsonValue> JsonValue::elements() const {
  if (!value->is_array())
    fail("a list");
  std::vector<JsonValue> result;
  for (const ordered_json &element : *value)
    result.emplace_back(element,
                        path + "[" + std::to_string(result.size()) + "]");
  return result;
}

std::string JsonValue::text() const {
  if (!value->is_string())
    fail("a text");
  return value->get<std::string>();
}

std::vector<std::string> JsonValue::texts() const {
  std::vector<std::string> result;
  for (const JsonValue &element : elements())
    result.push_back(element.text());
  return result;
}

bool JsonValue::boolean() const {
  if (!value->is_boolean())
    fail("true or false");
  return value->get<bool>();
}

std::uint64_t JsonValue::count(std::uint64_t minimum,
                               std::uint64_t maximum) const {
  // Whole numbers are signed or unsigned inside the library, as they came.
  const bool isNegative =
      !value->is_number_unsigned() && *value < std::int64_t(0);
  if (value->is_number_integer() && !isNegative) {
    auto number = value->get<std::uint64_t>();
    if (number >= minimum && number <= maximum)
      return number;
  }
  std::string expected = concat("a whole number of at least ", minimum);
  if (maximum != std::numeric_limits<std::uint64_t>::max())
    expected += concat(" and at most ", maximum);
  fail(expected);
}

double JsonValue::number(double minimum, double maximum) const {
  std::string expected = "a finite number";
  if (minimum != std::numeric_limits<double>::lowest())
    expected += " of at least " + ordered_json(minimum).dump();
  if (maximum != std::numeric_limits<double>::max())
    expected += " and at most " + ordered_json(maximum).dump();
  if (!value->is_number())
    fail(expected);
  double number = value->get<double>();
  if (!std::isfinite(number) || number < minimum || number > maximum)
    fail(expected);
  return number;
}

} // namespace isobath::runtime
