//===- ParseModelDescription.cpp - From YAML to a checked description -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In order: text to tree, overrides into the tree, known keys, types and limits
// of each value, defaults, and the rules between values. The first error in
// this order is the one reported. Types and limits are SchemaReader's.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ParseModelDescription.h"
#include "DescriptionRules.h"
#include "KeyCollector.h"
#include "SchemaReader.h"
#include "TrainAttribute.h"
#include "YamlTree.h"
#include "isobath/Frontend/ModelSchema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace isobath;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Overrides
//===----------------------------------------------------------------------===//

/// No key has more parts: model.residual.routes.v.
static constexpr size_t maxKeyParts = 4;

/// Puts one setting `key=value` into the tree, making the sections on its way.
static llvm::Error applyOverride(YamlNode &root, StringRef setting) {
  auto [key, text] = setting.split('=');
  key = key.trim();
  std::string where = ("--set " + key).str();
  auto fail = [&](const Twine &given, const Twine &expected) {
    return descriptionError(where, key.empty() ? "key" : key, given, expected);
  };
  if (!setting.contains('='))
    return fail("no value", "key=value");
  llvm::SmallVector<StringRef> parts;
  key.split(parts, '.');
  if (parts.size() > maxKeyParts || llvm::is_contained(parts, ""))
    return fail("this key", "words joined by points, as in train.steps");
  llvm::Expected<YamlNode> value = parseYamlOverride(text, key);
  if (!value)
    return value.takeError();

  YamlNode *place = &root;
  for (auto [index, part] : llvm::enumerate(parts)) {
    if (place->kind != YamlNode::Kind::map) {
      std::string section =
          llvm::join(llvm::ArrayRef(parts).take_front(index), ".");
      return fail("a key inside " + (index ? section : "the document") +
                      ", which is " + place->describe(),
                  "a mapping there");
    }
    YamlEntry *entry = place->find(part);
    if (!entry) {
      YamlNode section;
      section.kind = YamlNode::Kind::map;
      section.where = where;
      place->entries.push_back({part.str(), where, std::move(section)});
      entry = &place->entries.back();
    }
    place = &entry->value;
  }
  *place = std::move(*value);
  place->where = where;
  return llvm::Error::success();
}

static llvm::Error applyOverrides(YamlNode &root,
                                  llvm::ArrayRef<std::string> overrides) {
  llvm::StringSet<> seen;
  for (StringRef setting : overrides) {
    StringRef key = setting.split('=').first.trim();
    if (!seen.insert(key).second)
      return descriptionError(("--set " + key).str(), key, "a second time",
                              "one value");
    if (llvm::Error error = applyOverride(root, setting))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

namespace {
/// The dotted key of every key inside a section.
std::vector<std::string> everyKey() {
  std::vector<std::string> paths = {"model.residual", "model.controls"};
  auto add = [&](StringRef section, auto visit) {
    KeyCollector collector;
    visit(collector);
    for (StringRef key : collector.keys)
      paths.push_back(dottedKey(section, key));
  };
  ModelDescription fields;
  add("model", [&](auto &visitor) { visitModelKeys(visitor, fields.model); });
  add("model.residual", [&](auto &visitor) {
    visitResidualKeys(visitor, fields.model.residual, /*onlyAllowed=*/false);
  });
  add("model.controls", [&](auto &visitor) {
    visitControlsKeys(visitor, fields.model.controls);
  });
  add("train", [&](auto &visitor) { visitTrainKeys(visitor, fields.train); });
  return paths;
}

/// Turns the tree into a description.
class DescriptionReader {
public:
  explicit DescriptionReader(Origins &origins) : origins(origins) {}

  llvm::Error read(const YamlNode &root, ModelDescription &description);
  llvm::Error readTrain(const YamlNode &root, TrainSection &train);

private:
  /// Reads the section `key` of `parent` by `visit`. `subsections` are its keys
  /// that are sections themselves.
  template <typename Visit>
  llvm::Error readSection(const YamlNode &parent, StringRef path, StringRef key,
                          Need need, llvm::ArrayRef<StringRef> subsections,
                          Visit visit);

  Origins &origins;
};
} // namespace

template <typename Visit>
llvm::Error DescriptionReader::readSection(
    const YamlNode &parent, StringRef path, StringRef key, Need need,
    llvm::ArrayRef<StringRef> subsections, Visit visit) {
  std::string section = dottedKey(path, key);
  const YamlEntry *entry = parent.find(key);
  if (!entry) {
    if (need == Need::optional)
      return llvm::Error::success();
    return descriptionError(parent.where, section, "nothing",
                            "this required key");
  }
  const YamlNode &map = entry->value;
  origins[section] = {map.where, map.describe()};
  if (map.kind != YamlNode::Kind::map)
    return descriptionError(map.where, section, map.describe(), "a mapping");
  KeyCollector collector;
  visit(collector);
  llvm::append_range(collector.keys, subsections);
  if (llvm::Error error =
          checkKnownKeys(map, section, collector.keys, everyKey()))
    return error;
  SchemaReader reader(map, section, origins);
  visit(reader);
  return reader.takeError();
}

llvm::Error DescriptionReader::read(const YamlNode &root,
                                    ModelDescription &description) {
  if (root.kind != YamlNode::Kind::map)
    return descriptionError(root.where, "document",
                            root.kind == YamlNode::Kind::null ? "an empty text"
                                                              : root.describe(),
                            "a mapping with the keys name, model, train");
  if (llvm::Error error =
          checkKnownKeys(root, "", {"name", "model", "train"}, everyKey()))
    return error;
  if (const YamlEntry *name = root.find("name"))
    if (llvm::Error error = readName(*name, description.name))
      return error;

  ModelSection &model = description.model;
  if (llvm::Error error = readSection(
          root, "", "model", Need::required, {"residual", "controls"},
          [&](auto &visitor) { visitModelKeys(visitor, model); }))
    return error;
  const YamlNode &modelMap = root.find("model")->value;
  if (llvm::Error error = readSection(
          modelMap, "model", "residual", Need::required, {},
          [&](auto &visitor) {
            visitResidualKeys(visitor, model.residual, /*onlyAllowed=*/false);
          }))
    return error;
  if (llvm::Error error = readSection(
          modelMap, "model", "controls", Need::optional, {},
          [&](auto &visitor) { visitControlsKeys(visitor, model.controls); }))
    return error;
  return readTrain(root, description.train);
}

llvm::Error DescriptionReader::readTrain(const YamlNode &root,
                                         TrainSection &train) {
  return readSection(root, "", "train", Need::optional, {},
                     [&](auto &visitor) { visitTrainKeys(visitor, train); });
}

//===----------------------------------------------------------------------===//
// Defaults that depend on other values
//===----------------------------------------------------------------------===//

static void fillDefaults(ModelDescription &description, StringRef fileName) {
  if (description.name.empty())
    description.name = nameOfFile(fileName);
  ModelSection &model = description.model;
  if (model.kvHeads == 0)
    model.kvHeads = model.heads;
  if (model.hidden == 0)
    model.hidden = defaultHidden(model.width);
}

llvm::Expected<ModelDescription>
isobath::parseModelDescription(StringRef text, StringRef fileName,
                               llvm::ArrayRef<std::string> overrides) {
  llvm::Expected<YamlNode> root = parseYamlFile(text, fileName);
  if (!root)
    return root.takeError();
  if (llvm::Error error = applyOverrides(*root, overrides))
    return error;
  ModelDescription description;
  Origins origins;
  if (llvm::Error error = DescriptionReader(origins).read(*root, description))
    return error;
  fillDefaults(description, fileName);
  if (llvm::Error error =
          checkModelRules(description.model, description.train.batch, origins))
    return error;
  if (llvm::Error error = checkTrainRules(description.train, origins))
    return error;
  return description;
}

llvm::Expected<TrainSection>
isobath::parseTrainSettings(YamlNode train,
                            llvm::ArrayRef<std::string> overrides) {
  for (StringRef setting : overrides) {
    StringRef key = setting.split('=').first.trim();
    if (key != "train" && !key.starts_with("train."))
      return descriptionError(("--set " + key).str(), key,
                              "a setting of a model that is an MLIR module",
                              "a key of train, the only ones that can be set");
  }
  YamlNode root;
  root.kind = YamlNode::Kind::map;
  root.where = train.where;
  root.entries.push_back({"train", train.where, std::move(train)});
  if (llvm::Error error = applyOverrides(root, overrides))
    return error;
  Origins origins;
  TrainSection settings;
  if (llvm::Error error = DescriptionReader(origins).readTrain(root, settings))
    return error;
  if (llvm::Error error = checkTrainRules(settings, origins))
    return error;
  return settings;
}
