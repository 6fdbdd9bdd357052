//===- KeyCollector.h - The visitor that lists the keys of a section ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_KEYCOLLECTOR_H
#define ISOBATH_LIB_FRONTEND_KEYCOLLECTOR_H

#include "isobath/Frontend/ModelSchema.h"
#include <vector>

namespace isobath {

/// A visitor of ModelSchema.h that looks at keys only.
struct KeyCollector {
  std::vector<llvm::StringRef> keys;

  template <typename... Rest> void integer(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
  template <typename... Rest> void number(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
  template <typename... Rest> void boolean(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
  template <typename... Rest> void choice(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
  template <typename... Rest> void pair(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
  template <typename... Rest> void routes(llvm::StringRef key, Rest &&...) {
    keys.push_back(key);
  }
};

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_KEYCOLLECTOR_H
