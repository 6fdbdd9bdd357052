//===- Verbs.h - The verbs that need the compiler -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_VERBS_H
#define ISOBATH_TOOLS_ISOBATH_VERBS_H

#include "CompilerProgram.h"

namespace isobath {

/// Adds the verbs; `program` outlives the application.
void addCheckCommand(CLI::App &application, CompilerProgram &program);
void addCompileCommand(CLI::App &application, CompilerProgram &program);
void addExplainCommand(CLI::App &application, CompilerProgram &program);
void addSimCommand(CLI::App &application);
/// Adds to the verb `bench` a FILE of functions and the verb `route`.
void addBenchFunctions(CLI::App &bench, CompilerProgram &program);
void addBenchRoute(CLI::App &bench, CompilerProgram &program);

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_VERBS_H
