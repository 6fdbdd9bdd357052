//===- CompilerProgram.h - Programs compiled on the command line ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_COMPILERPROGRAM_H
#define ISOBATH_TOOLS_ISOBATH_COMPILERPROGRAM_H

#include "Lowering.h"
#include "UserPasses.h"
#include "isobath/Driver/Codegen.h"
#include "isobath/runtime/commands.h"

namespace isobath {

/// Where the tool's commands get their programs: the model is compiled in this
/// process for the device that was asked for.
class CompilerProgram : public runtime::ProgramSource {
public:
  /// Adds MODEL, --device, --precision, --schedule, --machine, --no-fusion,
  /// --threads and those of UserPasses.
  void addOptions(CLI::App &command) override;
  std::shared_ptr<runtime::Unit>
  load(const runtime::ProgramRequest &request) override;

  /// Adds MODEL alone, for commands that compile nothing.
  void addModelArgument(CLI::App &command);

  /// Adds the others alone, for commands whose program is not a model.
  void addLoweringOptions(CLI::App &command);

  /// The model of the options, as `options` asks for it. Throws Error.
  LoadedModel loadModel(mlir::MLIRContext &context, LoadOptions options) const;

  /// What the options and the model's settings ask for. Throws Error where the
  /// device cannot do it.
  Lowering getLowering(const LoadedModel &model) const;

  /// The same for functions, in f64 or not, that say nothing themselves.
  Lowering getLowering(bool isF64) const;

  /// Lets the device have the threads of the options.
  void setThreads() const;

private:
  std::unique_ptr<llvm::MemoryBuffer>
  getArchive(LoadedModel &model, const Lowering &lowering,
             const runtime::ProgramRequest &request, CodeTarget &target) const;

  std::string modelPath;
  std::string device;                // empty: chosen by the precision
  std::string precision;             // empty: the model's
  std::vector<std::string> schedule; // direction=how
  std::vector<std::string> machine;  // key=number
  bool noFusion = false;
  int threads = 0; // 0: all processors that there are
  UserPasses passes;
};

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_COMPILERPROGRAM_H
