//===- Verbs.h - One function for each verb -------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of this folder share. Each function adds a verb with its
// options; the verb runs while the command line is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_COMMAND_VERBS_H
#define ISOBATH_RUNTIME_COMMAND_VERBS_H

#include "isobath/runtime/commands.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

namespace isobath::runtime {

void addTrainCommand(CLI::App &application, ProgramSource &source);
void addEvalCommand(CLI::App &application, ProgramSource &source);
void addGradCommand(CLI::App &application, ProgramSource &source);
void addRoutesCommand(CLI::App &application, ProgramSource &source);
void addInitCommand(CLI::App &application, ProgramSource &source);
void addInfoCommand(CLI::App &application, ProgramSource &source);

/// Options that several verbs have, with the same text everywhere.
void addJsonFlag(CLI::App &command, bool &json);
void addWeightsOption(CLI::App &command, std::string &weights);
void addOverridesOption(CLI::App &command, std::vector<std::string> &overrides);
void addSeedOption(CLI::App &command, std::optional<std::uint64_t> &seed);

/// Prints the object on one line of standard output.
void printJson(const nlohmann::ordered_json &object);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_COMMAND_VERBS_H
