//===- buffers.h - The memory that entries work in ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All buffers of the calls that a command makes. Calls that name the same
// buffer share it, so its bytes are counted once. The sum is known after
// planning, before anything is allocated. Where a buffer lives inside the arena
// is the compiler's plan, not this one.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_BUFFERS_H
#define ISOBATH_RUNTIME_BUFFERS_H

#include "isobath/runtime/host_memory.h"
#include "isobath/runtime/unit.h"

#include <cassert>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace isobath::runtime {

/// What a buffer of an entry is called in this command, where the two differ:
/// {"gradients", "total"} makes an entry work on the buffer `total`.
using BufferNames = std::map<std::string, std::string, std::less<>>;

/// The name among the buffers of a distribution, the buffer number `index` of
/// its entry: several distributions may belong to one site.
std::string distributionName(const EntrySignature &entry, std::size_t index);

class Buffers {
public:
  /// One entry with its buffers.
  class Call {
  public:
    /// Runs the entry; the buffers have been allocated.
    void run() const;
    const EntrySignature &signature() const { return entry->signature(); }

  private:
    friend class Buffers;
    Call(const Buffers &buffers, const Entry &entry,
         std::vector<std::string> names)
        : buffers(&buffers), entry(&entry), names(std::move(names)) {}

    const Buffers *buffers;
    const Entry *entry;
    std::vector<std::string> names; // of each buffer of the signature
  };

  Buffers() = default;
  Buffers(const Buffers &) = delete; // calls point here
  Buffers &operator=(const Buffers &) = delete;

  /// Reserves the buffers of an entry that outlives this object.
  /// Distributions are called as distributionName() says.
  Call plan(const Entry &entry, const BufferNames &renamed = {});
  /// Reserves one more buffer.
  void reserve(const std::string &name, std::uint64_t bytes);

  /// The bytes that allocate() will take.
  std::uint64_t plannedBytes() const;
  /// Allocates all that was planned, zeroed except for the arena, which gets
  /// no page before it is used. Throws Error that names the buffer and its
  /// bytes when memory runs out. Call once, after the last plan().
  void allocate();

  /// An allocated buffer as `Value`s.
  template <typename Value> std::span<Value> get(std::string_view name) const {
    const Block &block = find(name);
    assert(block.data && "allocate() comes first");
    return {static_cast<Value *>(block.data.get()),
            static_cast<std::size_t>(block.bytes / sizeof(Value))};
  }

private:
  struct Block {
    std::uint64_t bytes = 0;
    HostMemory data;
  };

  const Block &find(std::string_view name) const;

  std::map<std::string, Block, std::less<>> blocks;
};

/// Calls `action` with a float or a double zero, after the manifest's element
/// type: `withElementType(type, [&](auto zero) { using Real = …; })`.
template <typename Action>
decltype(auto) withElementType(BufferType type, Action &&action) {
  if (type == BufferType::f64)
    return action(double(0));
  return action(float(0));
}

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_BUFFERS_H
