//===- TrainCommand.cpp - The verb train ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options in, summary out; the run itself is training.h's.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/training.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>

namespace isobath::runtime {

namespace {
struct TrainCommand {
  std::string data, output;
  std::string weights; // empty: initial values
  std::optional<std::uint64_t> steps;
  ProgramRequest request;
  bool resume = false;
  bool json = false;
};
} // namespace

static void printValue(const char *label, const std::optional<double> &value,
                       int digits, const char *unit) {
  std::cout << std::left << std::setw(17) << label;
  if (value)
    std::cout << std::fixed << std::setprecision(digits) << *value << ' '
              << unit << '\n';
  else
    std::cout << "not measured\n";
}

static void printSummary(const TrainSummary &summary,
                         const std::filesystem::path &run) {
  std::cout << (summary.stopped ? "stopped after " : "finished after ")
            << summary.steps << " steps\n";
  printValue("training loss", summary.loss, 4, "nats per token, last batch");
  printValue("validation loss", summary.validationLoss, 4, "nats per token");
  printValue("speed", summary.tokensPerSecond, 0, "tokens/s");
  if (!summary.stopped)
    std::cout << std::setw(17) << "weights"
              << printable(run / "final.safetensors") << '\n';
}

static void runTrain(const TrainCommand &command, ProgramSource &source) {
  TrainOptions options;
  options.data = command.data;
  options.output = command.output;
  if (!command.weights.empty())
    options.weights = command.weights;
  options.steps = command.steps;
  options.resume = command.resume;
  const std::shared_ptr<Unit> unit = source.load(command.request);
  TrainSummary summary;
  {
    Progress progress(std::cerr, standardErrorIsTerminal());
    summary = train(*unit, options, progress);
  }
  if (command.json)
    printJson(toJson(summary));
  else
    printSummary(summary, options.output);
}

void addTrainCommand(CLI::App &application, ProgramSource &source) {
  auto options = std::make_shared<TrainCommand>();
  options->request.entries = {"gradient", "accumulate", "norm", "update",
                              "loss"};
  CLI::App *command = application.add_subcommand(
      "train", "Train a model; SIGINT or SIGTERM saves a checkpoint and stops");
  source.addOptions(*command);
  command
      ->add_option("--data", options->data,
                   "Folder with train_*.bin and valid_*.bin")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("-o,--output", options->output,
                   "Folder of the run: model, metrics.jsonl, checkpoints, "
                   "final.safetensors")
      ->required()
      ->type_name("RUN");
  command
      ->add_option("--weights", options->weights,
                   "Start a new run from these weights, with a fresh optimiser")
      ->type_name("FILE");
  command
      ->add_option("--steps", options->steps,
                   "Stop after step N; the learning rate's schedule keeps the "
                   "length train.steps")
      ->check(wholeNumber(1))
      ->type_name("N");
  addSeedOption(*command, options->request.seed);
  command->add_flag("--resume", options->resume,
                    "Continue the run in RUN from its last checkpoint, or "
                    "start it if there is none");
  addOverridesOption(*command, options->request.overrides);
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runTrain(*options, source); });
}

} // namespace isobath::runtime
