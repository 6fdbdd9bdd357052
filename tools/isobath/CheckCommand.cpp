//===- CheckCommand.cpp - The verb check --------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "isobath/Frontend/CheckReport.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;

namespace {
struct CheckCommand {
  std::vector<std::string> overrides;
  bool json = false;
};
} // namespace

static void runCheck(const CompilerProgram &program,
                     const CheckCommand &command) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.overrides = command.overrides;
  LoadedModel model = program.loadModel(*context, options);
  CheckReport report = makeCheckReport(model);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.json)
    stream << llvm::json::Value(toJson(report)) << '\n';
  else
    printCheckReport(report, stream);
  std::cout << text;
}

void isobath::addCheckCommand(CLI::App &application, CompilerProgram &program) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App *verb = application.add_subcommand(
      "check", "Validate a model and print its sizes and the sources that "
               "every sublayer reads");
  program.addModelArgument(*verb);
  verb->add_option("--set", command->overrides,
                   "Another value for a key of the description")
      ->type_name("KEY=VALUE");
  verb->add_flag("--json", command->json,
                 "Print one JSON object on standard output");
  verb->callback([command, &program] { runCheck(program, *command); });
}
