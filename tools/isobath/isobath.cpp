//===- isobath.cpp - The isobath tool -----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line: verbs that need the compiler are here, those that only need
// a compiled program are the runtime's.
//
//===----------------------------------------------------------------------===//

#include "CompilerProgram.h"
#include "Verbs.h"
#include "isobath/runtime/commands.h"
#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  CLI::App application("Compiles, trains and examines depth-routed "
                       "transformers");
  application.set_version_flag("--version", "isobath " ISOBATH_VERSION);
  isobath::CompilerProgram program;
  isobath::addCheckCommand(application, program);
  isobath::runtime::addPrepareCommand(application);
  isobath::runtime::addModelCommands(application, program);
  isobath::addCompileCommand(application, program);
  isobath::addExplainCommand(application, program);
  CLI::App &bench = isobath::runtime::addBenchCommand(application, program);
  isobath::addBenchFunctions(bench, program);
  isobath::addBenchRoute(bench, program);
  isobath::addSimCommand(application);
  return isobath::runtime::runApplication(application, argc, argv);
}
