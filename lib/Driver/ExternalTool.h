//===- ExternalTool.h - Other programs that make files -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_DRIVER_EXTERNALTOOL_H
#define ISOBATH_LIB_DRIVER_EXTERNALTOOL_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <string>

namespace isobath {

/// The path of `name` in `folder`.
std::string inFolder(llvm::StringRef folder, llvm::StringRef name);

llvm::Expected<std::string> readFile(llvm::StringRef path);
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef contents);

/// A folder that is removed with everything in it.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ~TemporaryFolder();

  std::string file(llvm::StringRef name) const { return inFolder(path, name); }

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}

  std::string path;
};

/// Runs `command`, the first word of which is a path; `kind` begins the one
/// line that says why it failed. What it prints is left in "messages".
llvm::Error runTool(llvm::StringRef kind, const TemporaryFolder &folder,
                    llvm::ArrayRef<std::string> command);

} // namespace isobath

#endif // ISOBATH_LIB_DRIVER_EXTERNALTOOL_H
