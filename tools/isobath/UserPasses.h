//===- UserPasses.h - Passes that a user adds to the compiler's -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options --load-pass-plugin and --passes. Passes after the stage `model`
// change what the model is, and everything else follows from it, its derivative
// included; those after `step` see the entries, and must leave what these
// compute alone.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_USERPASSES_H
#define ISOBATH_TOOLS_ISOBATH_USERPASSES_H

#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace isobath {

class UserPasses {
public:
  void addOptions(CLI::App &command);

  /// The pipelines to run after `stage`, as text. Loads the plugins, if there
  /// are any; throws Error.
  std::vector<std::string> after(llvm::StringRef stage) const;

  /// The contents of the plugins, which decide what passes do. Throws Error.
  std::vector<std::string> readPlugins() const;

private:
  std::vector<std::string> plugins;
  std::vector<std::string> passes; // stage=pipeline
};

/// Adds the passes of a pipeline, such as `func.func(cse)`. Throws Error.
void addPasses(mlir::OpPassManager &manager, llvm::StringRef pipeline);

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_USERPASSES_H
