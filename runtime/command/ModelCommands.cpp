//===- ModelCommands.cpp - The verbs init and info ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs that look at a program without running it.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/progress.h"
#include "isobath/runtime/tensors.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace isobath::runtime {

//===----------------------------------------------------------------------===//
// init
//===----------------------------------------------------------------------===//

namespace {
struct InitCommand {
  std::optional<std::uint64_t> seed;
  std::string output;
  bool json = false;
};
} // namespace

static void runInit(const InitCommand &command, ProgramSource &source) {
  const std::shared_ptr<Unit> unit = source.load({.seed = command.seed});
  const Manifest &manifest = unit->manifest();
  Buffers buffers;
  buffers.reserve("parameters",
                  manifest.elements * bytesOf(manifest.elementType));
  buffers.allocate();
  initialiseParameters(manifest, manifest.train.seed, buffers);
  writeTensors(command.output, manifest, buffers, weightTensors);
  if (command.json)
    printJson({{"parameters", manifest.parameterCount()},
               {"seed", manifest.train.seed}});
  else
    std::cout << manifest.parameterCount() << " parameters of seed "
              << manifest.train.seed << " in " << printable(command.output)
              << '\n';
}

void addInitCommand(CLI::App &application, ProgramSource &source) {
  auto options = std::make_shared<InitCommand>();
  CLI::App *command = application.add_subcommand(
      "init", "Write the weights that train starts from");
  source.addOptions(*command);
  addSeedOption(*command, options->seed);
  command
      ->add_option("-o,--output", options->output,
                   "Where the weights go, a safetensors file")
      ->required()
      ->check(fileName())
      ->type_name("FILE");
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runInit(*options, source); });
}

//===----------------------------------------------------------------------===//
// info
//===----------------------------------------------------------------------===//

/// The bytes that one entry's buffers take.
static std::uint64_t plannedBytes(const Unit &unit, const std::string &entry) {
  Buffers buffers;
  buffers.plan(unit.entry(entry));
  return buffers.plannedBytes();
}

static nlohmann::ordered_json describeUnit(const Unit &unit) {
  using nlohmann::ordered_json;
  const Manifest &manifest = unit.manifest();
  ordered_json entries = ordered_json::array();
  for (const EntrySignature &entry : manifest.entries)
    entries.push_back({{"name", entry.name},
                       {"batch", entry.batch ? ordered_json(entry.batch)
                                             : ordered_json(nullptr)},
                       {"planned_bytes", plannedBytes(unit, entry.name)}});
  return {{"name", manifest.name},
          {"device", manifest.device},
          {"lowering", manifest.lowering},
          {"element_type", nameOf(manifest.elementType)},
          {"vocabulary", manifest.vocabulary},
          {"context", manifest.context},
          {"parameters", manifest.parameterCount()},
          {"entries", entries},
          {"train", toJson(manifest.train)}};
}

static void printInfo(const Unit &unit) {
  const Manifest &manifest = unit.manifest();
  std::cout << "model       " << printable(manifest.name) << '\n'
            << "device      " << printable(manifest.device) << " ("
            << printable(manifest.lowering) << ")\n"
            << "parameters  " << manifest.parameterCount() << " in "
            << nameOf(manifest.elementType) << '\n'
            << "vocabulary  " << manifest.vocabulary << '\n'
            << "context     " << manifest.context << '\n';
  for (const EntrySignature &entry : manifest.entries) {
    std::cout << "entry       " << printable(entry.name) << ": ";
    if (entry.batch)
      std::cout << "batch " << entry.batch << ", ";
    std::cout << formatBytes(plannedBytes(unit, entry.name)) << '\n';
  }
  const nlohmann::ordered_json settings = toJson(manifest.train);
  for (const auto &[key, value] : settings.items())
    std::cout << "train       " << key << ": " << value.dump() << '\n';
}

void addInfoCommand(CLI::App &application, ProgramSource &source) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = application.add_subcommand(
      "info", "Show what a program holds: model, entries, settings");
  source.addOptions(*command);
  addJsonFlag(*command, *json);
  command->callback([json, &source] {
    const std::shared_ptr<Unit> unit = source.load({.everyEntry = true});
    if (*json)
      printJson(describeUnit(*unit));
    else
      printInfo(*unit);
  });
}

} // namespace isobath::runtime
