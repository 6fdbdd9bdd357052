//===- Link.h - From an object to a training binary -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linking is left to the system's C++ compiler, which knows where its C and C++
// libraries are. What it links, besides the object, are the runtime's archives;
// LLVM and MLIR are no part of the program.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_LINK_H
#define ISOBATH_DRIVER_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace isobath {

struct LinkOptions {
  /// The C++ compiler to run: a path, or a name in PATH.
  std::string linker;
  /// The folder of the runtime's archives.
  std::string archives;
  /// More arguments, as the compiler takes them.
  std::vector<std::string> arguments;
};

/// The first of `candidates`, names of C++ compilers, that PATH has. The error
/// names all of them.
llvm::Expected<std::string>
findLinker(const std::vector<std::string> &candidates);

/// The folder of the runtime's archives that belongs to this program: lib/ next
/// to the folder of the program's file, in a build as in an installation.
llvm::Expected<std::string> findArchives();

/// Links `object`, which compileToObject made, with the runtime. Returns the
/// bytes of the executable.
llvm::Expected<std::string> linkTrainingBinary(llvm::StringRef object,
                                               const LinkOptions &options);

} // namespace isobath

#endif // ISOBATH_DRIVER_LINK_H
