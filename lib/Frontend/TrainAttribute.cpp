//===- TrainAttribute.cpp - Training settings as a module's attribute -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing is a visitor of ModelSchema.h. Reading turns the dictionary into the
// tree that YAML text becomes, so that both are checked by the same code.
//
//===----------------------------------------------------------------------===//

#include "TrainAttribute.h"
#include "isobath/Frontend/BuildModel.h"
#include "isobath/Frontend/ModelSchema.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace isobath;

namespace {
class AttributeWriter {
public:
  explicit AttributeWriter(Builder builder) : builder(builder) {}

  void integer(StringRef key, int64_t value, IntegerLimits,
               Need = Need::optional) {
    add(key, builder.getI64IntegerAttr(value));
  }
  void number(StringRef key, double value, NumberLimits) {
    add(key, builder.getF64FloatAttr(value));
  }
  template <typename Enum>
  void choice(StringRef key, Enum value, Need = Need::optional) {
    add(key, builder.getStringAttr(spellingOf(value)));
  }
  void pair(StringRef key, const std::array<double, 2> &value, NumberLimits) {
    add(key, builder.getF64ArrayAttr(value));
  }

  DictionaryAttr finish() { return builder.getDictionaryAttr(attributes); }

private:
  void add(StringRef key, Attribute value) {
    attributes.push_back(builder.getNamedAttr(key, value));
  }

  Builder builder;
  SmallVector<NamedAttribute> attributes;
};
} // namespace

DictionaryAttr isobath::toTrainAttribute(MLIRContext &context,
                                         const TrainSection &train) {
  AttributeWriter writer{Builder(&context)};
  TrainSection copy = train; // visitors take fields by reference
  visitTrainKeys(writer, copy);
  return writer.finish();
}

/// The shape of an attribute as YAML would have it. What has none is shown as a
/// string, which no setting but a word takes.
static YamlNode toYaml(Attribute attribute, StringRef where) {
  YamlNode node;
  node.where = where.str();
  node.kind = YamlNode::Kind::scalar;
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    node.kind = YamlNode::Kind::list;
    for (Attribute item : array)
      node.items.push_back(toYaml(item, where));
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    node = toYamlMap(dictionary, where);
  } else if (auto boolean = dyn_cast<BoolAttr>(attribute)) {
    node.text = boolean.getValue() ? "true" : "false";
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    node.text = llvm::toString(integer.getValue(), 10, /*Signed=*/true);
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    double value = number.getValueAsDouble();
    node.text = std::isnan(value)   ? ".nan"
                : std::isinf(value) ? (value < 0 ? "-.inf" : ".inf")
                                    : formatNumber(value);
  } else if (auto text = dyn_cast<StringAttr>(attribute)) {
    node.text = text.str();
    node.quoted = true;
  } else {
    llvm::raw_string_ostream(node.text) << attribute;
    node.quoted = true;
  }
  return node;
}

YamlNode isobath::toYamlMap(DictionaryAttr dictionary, StringRef where) {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  map.where = where.str();
  for (NamedAttribute entry : dictionary)
    map.entries.push_back(
        {entry.getName().str(), where.str(), toYaml(entry.getValue(), where)});
  return map;
}
