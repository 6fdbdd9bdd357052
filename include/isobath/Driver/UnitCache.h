//===- UnitCache.h - Compiled units kept between commands ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of archives, each named by a hash of all that decides what is in
// it. Any number of processes may use it at once: files appear whole, by a
// rename, and are never changed. It is pruned by age and size. Whatever goes
// wrong with it costs time, never a result.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_UNITCACHE_H
#define ISOBATH_DRIVER_UNITCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace isobath {

class UnitCache {
public:
  /// The folder is $ISOBATH_CACHE_DIR, else `isobath` in $XDG_CACHE_HOME or in
  /// ~/.cache. An empty ISOBATH_CACHE_DIR turns the cache off.
  UnitCache();

  /// The name of what is compiled from `parts`, which are all that decides it;
  /// this build of the compiler is part of it unasked.
  static std::string getKey(llvm::ArrayRef<std::string> parts);

  /// The archive stored under `key`, or null if there is none that is intact.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key) const;

  /// Stores `archive` under `key`, unless that fails.
  void store(llvm::StringRef key, llvm::StringRef archive) const;

private:
  std::string folder; // empty: no cache
};

} // namespace isobath

#endif // ISOBATH_DRIVER_UNITCACHE_H
