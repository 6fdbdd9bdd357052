//===- CompileCommand.cpp - The verb compile ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "isobath/Driver/Jit.h"
#include "isobath/Target/EmitUnit.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;

namespace {
struct CompileCommand {
  std::string stage;
  std::string output;
  std::vector<std::string> overrides;
};
} // namespace

/// The program at the stage that was asked for, as text.
static std::string emitStage(const CompilerProgram &program,
                             const CompileCommand &command) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.overrides = command.overrides;
  LoadedModel model = program.loadModel(*context, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.stage == "model") {
    model.module->print(stream);
    return text;
  }
  llvm::json::Object manifest = describe(model);
  lowerToStep(model, getAllEntries());
  if (command.stage == "step") {
    model.module->print(stream);
    return text;
  }
  lowerToUnit(model, std::move(manifest));
  llvm::LLVMContext llvmContext;
  auto code = translateToLLVM(*model.module, llvmContext);
  if (!code)
    throw runtime::Error(llvm::toString(code.takeError()));
  (*code)->print(stream, nullptr);
  return text;
}

void isobath::addCompileCommand(CLI::App &application,
                                CompilerProgram &program) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *verb = application.add_subcommand(
      "compile", "Write a model at one of the compiler's stages");
  program.addOptions(*verb);
  verb->add_option("--emit", command->stage,
                   "model: what the model is; step: with derivatives and "
                   "updates; llvm: LLVM IR of the whole unit")
      ->required()
      ->check(CLI::IsMember({"model", "step", "llvm"}))
      ->type_name("STAGE");
  verb->add_option("--set", command->overrides,
                   "Another value for a key of the description")
      ->type_name("KEY=VALUE");
  verb->add_option("-o,--output", command->output,
                   "File to write; - for standard output")
      ->required()
      ->type_name("FILE");
  verb->callback([command, &program] {
    std::string text = emitStage(program, *command);
    if (command->output == "-")
      std::cout << text;
    else
      runtime::writeFile(command->output, text);
  });
}
