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
// Where the device has memory of its own, the host has a copy of each buffer
// but the arena. Either side is brought up to date when it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_BUFFERS_H
#define ISOBATH_RUNTIME_BUFFERS_H

#include "isobath/runtime/device.h"
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

  /// Reserves the buffers of an entry that outlives this object. All entries
  /// are of one device. Distributions are called as distributionName() says.
  Call plan(const Entry &entry, const BufferNames &renamed = {});
  /// Reserves one more buffer.
  void reserve(const std::string &name, std::uint64_t bytes);

  /// The bytes that allocate() will take of the device's memory.
  std::uint64_t plannedBytes() const;
  /// Allocates all that was planned, zeroed except for the arena, which gets
  /// no page before it is used. Throws Error that names the buffer and its
  /// bytes when memory runs out. Call once, after the last plan().
  void allocate();

  /// An allocated buffer, the arena only on the host, as `Value`s: what the
  /// host or the last call wrote there. Valid until the next call runs.
  template <typename Value>
  std::span<const Value> read(std::string_view name) const {
    return asValues<const Value>(find(name), /*isWritten=*/false);
  }
  /// The same to write to. The next call sees what has been written by then.
  template <typename Value>
  std::span<Value> write(std::string_view name) const {
    return asValues<Value>(find(name), /*isWritten=*/true);
  }

private:
  struct Block {
    std::uint64_t bytes = 0;
    DeviceMemory data;
    /// Of a device with memory of its own: the host's copy, and which of the
    /// two is older than the other.
    HostMemory copy;
    mutable bool isCopyOld = false;
    mutable bool isDataOld = false;
  };

  const Block &find(std::string_view name) const;
  void *getHostSide(const Block &block, bool isWritten) const;
  void *getDeviceSide(const Block &block) const;

  template <typename Value>
  std::span<Value> asValues(const Block &block, bool isWritten) const {
    assert(block.data && "allocate() comes first");
    return {static_cast<Value *>(getHostSide(block, isWritten)),
            static_cast<std::size_t>(block.bytes / sizeof(Value))};
  }

  Device host;
  Device *device = &host; // the planned entries'
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
