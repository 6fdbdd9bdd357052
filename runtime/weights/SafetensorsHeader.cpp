//===- SafetensorsHeader.cpp - The JSON header of a weight file -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built on the parser's events rather than on its document type, which keeps
// one of two equal keys and drops the other, and accepts any nesting.
//
//===----------------------------------------------------------------------===//

#include "SafetensorsHeader.h"

#include "isobath/runtime/error.h"

#include <nlohmann/json.hpp>
#include <set>

namespace isobath::runtime {

using nlohmann::json;

namespace {

/// Receives the parser's events. `place` is the innermost object or array that
/// is open; every event that does not belong there is an Error.
class HeaderEvents : public nlohmann::json_sax<json> {
public:
  HeaderEvents(const std::string &file, SafetensorsHeader &header)
      : file(file), header(header) {}

  bool start_object(std::size_t) override {
    if (place == Place::outside) {
      place = Place::header;
    } else if (place == Place::header && name == metadataKey) {
      place = Place::metadata;
    } else if (place == Place::header) {
      header.tensors.push_back({name, {}, {}, {}});
      fields.clear();
      place = Place::tensor;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(std::string &text) override {
    // A key is only ever read inside one of three objects.
    std::set<std::string> &seen = place == Place::header     ? names
                                  : place == Place::metadata ? notes
                                                             : fields;
    std::string &last = place == Place::header ? name : field;
    if (!seen.insert(text).second)
      refuseTwice(text);
    last = text;
    if (place == Place::tensor && field != "dtype" && field != "shape" &&
        field != "data_offsets")
      fail(where(), "key: given '", printable(field),
           "', expected dtype, shape or data_offsets");
    return true;
  }

  bool end_object() override {
    if (place == Place::tensor)
      for (const char *required : {"dtype", "shape", "data_offsets"})
        if (!fields.contains(required))
          fail(where(), "no ", required);
    place = place == Place::header ? Place::outside : Place::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place != Place::tensor || field == "dtype")
      refuse("an array");
    place = field == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() override {
    if (place == Place::offsets && header.tensors.back().offsets.size() != 2)
      refuse("fewer numbers");
    place = Place::tensor;
    return true;
  }

  bool number_unsigned(json::number_unsigned_t value) override {
    if (place == Place::shape)
      header.tensors.back().shape.push_back(value);
    else if (place == Place::offsets &&
             header.tensors.back().offsets.size() < 2)
      header.tensors.back().offsets.push_back(value);
    else
      refuse(std::to_string(value));
    return true;
  }

  bool string(std::string &text) override {
    if (place == Place::metadata)
      header.metadata[field] = text;
    else if (place == Place::tensor && field == "dtype")
      header.tensors.back().dtype = text;
    else
      refuse("'" + printable(text) + "'");
    return true;
  }

  bool null() override { refuse("null"); }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) override {
    refuse(std::to_string(value));
  }
  bool number_float(double, const std::string &text) override {
    refuse(printable(text));
  }
  bool binary(json::binary_t &) override { refuse("binary data"); }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    // The position counts the bytes read, the faulty one included.
    fail(file, ": byte ", 8 + (position > 0 ? position - 1 : 0),
         ": header: not valid JSON");
  }

private:
  enum class Place { outside, header, metadata, tensor, shape, offsets };

  /// What messages about a tensor begin with.
  std::string where() const {
    return concat(file, ": tensor '", printable(name), "': ");
  }

  [[noreturn]] void refuseTwice(const std::string &text) const {
    if (place == Place::tensor)
      fail(where(), "key '", printable(text), "' given twice");
    fail(file, ": header: key '", printable(text), "' given twice",
         place == Place::metadata ? concat(" in ", metadataKey) : "");
  }

  /// Throws: `given` is not what belongs at this place.
  [[noreturn]] void refuse(const std::string &given) const {
    // Outside of the header there is only the header itself: nothing to refuse.
    if (place == Place::header)
      fail(where(), "given ", given, ", expected an object");
    if (place == Place::metadata)
      fail(file, ": ", metadataKey, " '", printable(field), "': given ", given,
           ", expected a string");
    fail(where(), field, ": given ", given, ", expected ",
         field == "dtype"   ? "a string"
         : field == "shape" ? "an array of integers from 0 to 2^64 - 1"
                            : "an array of two integers from 0 to 2^64 - 1");
  }

  const std::string &file;
  SafetensorsHeader &header;
  Place place = Place::outside;
  std::string name;  // the last key of the header
  std::string field; // the last key of a tensor or of the metadata
  std::set<std::string> names, notes, fields; // the keys seen so far
};

} // namespace

SafetensorsHeader parseSafetensorsHeader(std::string_view text,
                                         const std::string &file) {
  // Also excludes a byte-order mark, which the parser would skip.
  if (!text.starts_with('{'))
    fail(file, ": byte 8: header: given '", printable(text.substr(0, 1)),
         "', expected '{'");
  SafetensorsHeader header;
  HeaderEvents events(file, header);
  json::sax_parse(text, &events);
  return header;
}

} // namespace isobath::runtime
