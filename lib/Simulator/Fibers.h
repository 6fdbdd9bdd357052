//===- Fibers.h - Stacks that code can be left on -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On Boost.Context's switch. Its public class is not used, because a fiber that
// has not ended is unwound by an exception there, which compiled kernels cannot
// pass on; here it is simply forgotten. So nothing that a destructor must end
// may live on a fiber's stack while it is switched away.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_FIBERS_H
#define ISOBATH_LIB_SIMULATOR_FIBERS_H

#include "llvm/Support/Error.h"
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isobath::simulator {

/// Stacks of one size, each above a page that must not be touched.
class FiberStacks {
public:
  FiberStacks() = default;
  ~FiberStacks() { release(); }
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;

  /// Provides `count` stacks of at least `bytes` usable bytes.
  llvm::Error reserve(std::size_t count, std::size_t bytes);

  std::byte *getBottom(std::size_t index) const { return stacks[index]; }
  std::size_t getBytes() const { return bytes; }

private:
  void release();

  std::size_t bytes = 0;
  std::vector<std::byte *> stacks;
};

/// One of several stacks, on which `run` runs when it is first switched to.
class Fiber {
public:
  /// Prepares the stack number `index`. `run(data)` must not return.
  void start(const FiberStacks &stacks, std::size_t index, void (*run)(void *),
             void *data);

  /// Goes on where this fiber switched away; returns when it does so again.
  void resume();

  /// From inside of this fiber: back to where it was resumed.
  void leave();

  /// Whether `address` is on this fiber's stack.
  bool owns(const void *address) const {
    return address >= bottom && address < bottom + bytes;
  }
  /// The bytes from `address`, which it owns, to the end of the stack.
  std::size_t countBytesFrom(const void *address) const {
    return bottom + bytes - static_cast<const std::byte *>(address);
  }

private:
  static void enter(boost::context::detail::transfer_t from);

  boost::context::detail::fcontext_t inside = nullptr, outside = nullptr;
  void (*run)(void *) = nullptr;
  void *data = nullptr;
  std::byte *bottom = nullptr;
  std::size_t bytes = 0;
  // What the address sanitizer keeps for stacks that are switched away from.
  void *fakeStack = nullptr;
  const void *outsideBottom = nullptr;
  std::size_t outsideBytes = 0;
};

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_FIBERS_H
