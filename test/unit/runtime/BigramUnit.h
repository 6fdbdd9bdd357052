//===- BigramUnit.h - A compiled unit written by hand ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model small enough to check by hand, behind the real ABI: the logits of the
// next token are a row of embed.weight [V, V] plus bias [V]. Its routes are
// made up, as functions of the token. It is no model of the family.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_RUNTIME_BIGRAMUNIT_H
#define ISOBATH_TEST_UNIT_RUNTIME_BIGRAMUNIT_H

#include "isobath/runtime/unit.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isobath::runtime::test {

class BigramUnit {
public:
  static constexpr std::uint64_t vocabulary = 7; // V
  static constexpr std::uint64_t context = 4;    // T
  static constexpr std::uint64_t batch = 2;      // B of gradient and routes
  static constexpr std::uint64_t lossBatch = 3;  // B of loss
  static constexpr std::uint64_t biasOffset = 64;
  static constexpr std::uint64_t elements = 80; // with padding

  /// `elementType` is f32 or f64.
  explicit BigramUnit(const std::string &elementType = "f32");

  /// May be changed before load().
  nlohmann::ordered_json manifest;
  nlohmann::ordered_json &train() { return manifest["train"]; }

  /// What the ABI would export; lives as long as this object.
  const IsobathUnit *unit();
  std::shared_ptr<Unit> load() { return std::make_shared<Unit>(unit()); }

  /// Called at the start of every call of the entry `gradient` of any unit.
  static std::function<void()> onGradient;
  /// The elements of gradients that are made not-a-number: none if negative.
  static std::int64_t poisoned;

private:
  std::string text;
  std::vector<IsobathEntry> entries;
  IsobathUnit exported = {};
};

/// A folder with train_000000.bin, train_000001.bin and valid_000000.bin, whose
/// ids follow a pattern with noise. 5 + 4 windows of training data.
void putBigramData(const std::filesystem::path &folder);

} // namespace isobath::runtime::test

#endif // ISOBATH_TEST_UNIT_RUNTIME_BIGRAMUNIT_H
