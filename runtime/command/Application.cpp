//===- Application.cpp - From arguments to an exit status -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every failure ends here, as one line on standard error and a status that
// scripts can tell apart.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/signals.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <new>

namespace isobath::runtime {

/// One line of printable characters that a terminal can show, whatever the
/// message quotes.
static void printError(std::string message) {
  constexpr std::size_t longest = 1500;
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cerr << "error: " << printable(message, longest) << std::endl;
}

/// The parser's messages begin with a capital letter where ours do not.
static std::string usageMessage(const CLI::ParseError &failure) {
  return lowerFirst(failure.what()) + "; --help lists what is expected";
}

/// The parser only says that a verb is missing when one is misspelt.
static std::optional<std::string> unknownVerb(CLI::App &application, int argc,
                                              const char *const *argv) {
  const std::string verb = argc > 1 ? argv[1] : "-";
  if (verb.starts_with("-"))
    return std::nullopt;
  std::string known;
  for (const CLI::App *command :
       application.get_subcommands([](CLI::App *) { return true; })) {
    if (command->get_name() == verb)
      return std::nullopt;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return concat("command: given ", printable(verb), ", expected one of ",
                known);
}

int runApplication(CLI::App &application, int argc, const char *const *argv) {
  installStopHandlers();
  application.require_subcommand(1);
  if (const auto message = unknownVerb(application, argc, argv)) {
    printError(*message);
    return 2;
  }
  try {
    application.parse(argc, argv);
    std::cout.flush();
    if (!std::cout)
      fail("standard output: cannot write all of the result");
    return 0;
  } catch (const CLI::ParseError &failure) {
    if (failure.get_exit_code() == 0) // --help or --version
      return application.exit(failure);
    printError(usageMessage(failure));
    return 2;
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return 1;
  } catch (const std::exception &failure) {
    printError(failure.what());
    return 1;
  }
}

void printJson(const nlohmann::ordered_json &object) {
  std::cout << object.dump(-1, ' ', false,
                           nlohmann::ordered_json::error_handler_t::replace)
            << '\n';
}

void addJsonFlag(CLI::App &command, bool &json) {
  command.add_flag("--json", json,
                   "Print the result as one JSON object on standard output");
}

void addWeightsOption(CLI::App &command, std::string &weights) {
  command.add_option("--weights", weights, "The weights, a safetensors file")
      ->required()
      ->type_name("FILE");
}

void addOverridesOption(CLI::App &command,
                        std::vector<std::string> &overrides) {
  command
      .add_option("--set", overrides,
                  "Replace a setting of the model description; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void addSeedOption(CLI::App &command, std::optional<std::uint64_t> &seed) {
  command
      .add_option("--seed", seed,
                  "Seed of initial values and sample order, instead of "
                  "train.seed of the model")
      ->check(wholeNumber(0))
      ->type_name("N");
}

void addModelCommands(CLI::App &application, ProgramSource &source) {
  addTrainCommand(application, source);
  addEvalCommand(application, source);
  addGradCommand(application, source);
  addRoutesCommand(application, source);
  addInitCommand(application, source);
  addInfoCommand(application, source);
}

} // namespace isobath::runtime
