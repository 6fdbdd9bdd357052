//===- EntryContract.cpp - The buffers that each entry takes --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of entries in docs/manifest.md as a check. It makes sure that what
// the runtime allocates and fills is what the compiled code reads; that the
// code itself is right is not its business.
//
//===----------------------------------------------------------------------===//

#include "EntryContract.h"

#include "isobath/runtime/error.h"

#include <algorithm>
#include <set>

namespace isobath::runtime {

namespace {
/// A buffer as the table states it.
struct ExpectedBuffer {
  std::string name;
  BufferType type;
  Shape shape;
};
} // namespace

static std::string describe(BufferType type, const Shape &shape) {
  return concat(nameOf(type), " ", describe(shape));
}

/// The rows of the table; empty for an entry that it does not list.
static std::vector<ExpectedBuffer> expectedBuffers(const EntrySignature &entry,
                                                   const Manifest &manifest) {
  BufferType real = manifest.elementType;
  Shape perToken = {entry.batch, manifest.context};
  Shape all = {manifest.elements};
  ExpectedBuffer tokens = {"tokens", BufferType::i32, perToken};
  ExpectedBuffer targets = {"targets", BufferType::i32, perToken};
  ExpectedBuffer parameters = {"parameters", real, all};
  ExpectedBuffer losses = {"losses", real, perToken};
  ExpectedBuffer gradients = {"gradients", real, all};
  if (entry.name == "loss")
    return {tokens, targets, parameters, losses};
  if (entry.name == "gradient")
    return {tokens,     targets, {"scale", real, {}},
            parameters, losses,  gradients};
  if (entry.name == "logits")
    return {
        tokens,
        parameters,
        {"logits", real, {entry.batch, manifest.context, manifest.vocabulary}}};
  if (entry.name == "routes")
    return {tokens, parameters};
  if (entry.name == "accumulate")
    return {{"total", real, all}, gradients};
  if (entry.name == "norm")
    return {gradients, {"norm", BufferType::f64, {}}};
  if (entry.name == "update")
    return {parameters,
            gradients,
            {"first_moment", real, all},
            {"second_moment", real, all},
            {"scalars", real, {4}}};
  return {};
}

/// A distribution is [groups, B, T, depth heads, sources].
static void checkDistribution(const Buffer &buffer, const EntrySignature &entry,
                              const Manifest &manifest) {
  Shape expected = {std::uint64_t(buffer.groups.size()), entry.batch,
                    manifest.context,
                    buffer.shape.size() == 5 ? buffer.shape[3] : 1,
                    std::uint64_t(buffer.sources.size())};
  if (buffer.type != manifest.elementType || buffer.shape != expected)
    fail("manifest: entry routes: buffer ", buffer.name, ": given ",
         describe(buffer.type, buffer.shape), ", expected ",
         describe(manifest.elementType, expected));
}

void checkEntryContract(const EntrySignature &entry, const Manifest &manifest) {
  std::vector<ExpectedBuffer> expected = expectedBuffers(entry, manifest);
  if (expected.empty())
    return;
  std::string where = "manifest: entry " + entry.name + ": ";
  if (expected.front().name == "tokens" && entry.batch == 0)
    fail(where, "given no batch, expected at least 1");
  for (const ExpectedBuffer &row : expected) {
    if (!entry.hasBuffer(row.name))
      fail(where, "given no buffer ", row.name, ", expected ",
           describe(row.type, row.shape));
    const Buffer &buffer = entry.buffer(row.name);
    if (buffer.type != row.type || buffer.shape != row.shape)
      fail(where, "buffer ", row.name, ": given ",
           describe(buffer.type, buffer.shape), ", expected ",
           describe(row.type, row.shape));
  }
  std::set<std::string_view> seen;
  for (const Buffer &buffer : entry.buffers) {
    if (buffer.isDistribution && entry.name == "routes") {
      checkDistribution(buffer, entry, manifest);
      continue;
    }
    bool known =
        buffer.name == "arena" || std::any_of(expected.begin(), expected.end(),
                                              [&](const ExpectedBuffer &row) {
                                                return row.name == buffer.name;
                                              });
    if (!known)
      fail(where, "given an unknown buffer ", buffer.name);
    if (!seen.insert(buffer.name).second)
      fail(where, "given the buffer ", buffer.name, " twice");
  }
}

} // namespace isobath::runtime
