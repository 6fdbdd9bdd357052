//===- MatchTensors.cpp - The tensors of a file against those of a model --===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and shapes only: which element types a model reads is its own matter.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/error.h"
#include "isobath/runtime/safetensors.h"

#include <algorithm>
#include <fnmatch.h>
#include <set>

namespace isobath::runtime {

static bool matchesAny(const std::string &name,
                       std::span<const std::string> patterns) {
  return std::ranges::any_of(patterns, [&](const std::string &pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

/// Appends "; WHAT a, b and 5 more", or nothing if there are no items.
static void appendList(std::string &text, std::string_view what,
                       std::span<const std::string> items) {
  constexpr std::size_t shown = 8;
  if (items.empty())
    return;
  text += concat(text.empty() ? "" : "; ", what);
  for (std::size_t i = 0; i < std::min(items.size(), shown); ++i)
    text += concat(i > 0 ? ", " : " ", items[i]);
  if (items.size() > shown)
    text += concat(" and ", items.size() - shown, " more");
}

MatchResult matchTensors(const SafetensorsFile &file,
                         std::span<const ExpectedTensor> expected,
                         const MatchOptions &options) {
  MatchResult allowed;
  std::vector<std::string> missing, extra, misshapen;
  std::set<std::string_view> known;
  for (const ExpectedTensor &tensor : expected) {
    known.insert(tensor.name);
    const TensorEntry *entry = file.find(tensor.name);
    if (entry && entry->shape != tensor.shape)
      misshapen.push_back(concat(tensor.name, " (given ",
                                 describe(entry->shape), ", expected ",
                                 describe(tensor.shape), ")"));
    else if (!entry && matchesAny(tensor.name, options.allowMissing))
      allowed.missing.push_back(tensor.name);
    else if (!entry)
      missing.push_back(tensor.name);
  }
  for (const TensorEntry &entry : file.tensors()) {
    if (known.contains(entry.name))
      continue;
    if (matchesAny(entry.name, options.allowExtra))
      allowed.extra.push_back(entry.name);
    else
      extra.push_back(printable(entry.name));
  }
  std::string text;
  appendList(text, "missing", missing);
  appendList(text, "extra", extra);
  appendList(text, "wrong shape", misshapen);
  if (!text.empty())
    fail(file.name(), ": tensors do not fit the model: ", text);
  return allowed;
}

} // namespace isobath::runtime
