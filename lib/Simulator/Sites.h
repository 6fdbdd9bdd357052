//===- Sites.h - Places in a kernel's code --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every instruction that the simulator watches has a site, which it hands over
// by number. Sites are made before the host's optimiser sees the code, so that
// they are places of what goes to the NVPTX backend.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_SITES_H
#define ISOBATH_LIB_SIMULATOR_SITES_H

#include <cstdint>
#include <string>
#include <vector>

namespace isobath::simulator {

/// What an access does with memory.
enum class AccessKind : std::uint8_t { Load, Store, Atomic };

struct Site {
  std::string location; ///< see Finding::location
  // Of accesses:
  AccessKind kind = AccessKind::Load;
  std::uint32_t bytes = 0; ///< of one thread; 0: the call says
  /// The backend splits the access of a thread into instructions of this many
  /// bytes: a power of two that is at most 16 and the alignment that the IR
  /// promises. Of a vector some of whose elements are accessed, an element.
  std::uint32_t pieceBytes = 0;
  /// What addresses must be multiples of.
  std::uint32_t alignment = 1;
  /// Of barriers: all threads of a warp must come to the same one.
  bool aligned = false;

  bool reads() const { return kind != AccessKind::Store; }
  bool writes() const { return kind != AccessKind::Load; }
};

using SiteTable = std::vector<Site>;

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_SITES_H
