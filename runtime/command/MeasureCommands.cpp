//===- MeasureCommands.cpp - The verbs eval, grad and routes --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs that run given weights over given data once.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/evaluate.h"
#include "isobath/runtime/gradients.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/routes.h"
#include "isobath/runtime/run_data.h"
#include "isobath/runtime/tensors.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace isobath::runtime {

namespace {
struct MeasureCommand {
  std::string weights, data;
  std::string output;      // grad only
  std::uint64_t batch = 0; // grad only
  bool json = false;
};
} // namespace

static void addEvaluationDataOption(CLI::App &command, std::string &data) {
  command
      .add_option("--data", data,
                  "A token shard, or a folder: all its valid_*.bin")
      ->required()
      ->type_name("PATH");
}

//===----------------------------------------------------------------------===//
// eval
//===----------------------------------------------------------------------===//

static void runEval(const MeasureCommand &command, ProgramSource &source) {
  const std::shared_ptr<Unit> unit = source.load({.entries = {"loss"}});
  const EvaluationData data =
      openEvaluationData(command.data, unit->manifest());
  Buffers buffers;
  const Evaluator evaluator(*unit, buffers);
  buffers.allocate();
  readTensors(command.weights, unit->manifest(), buffers, weightTensors);
  const Evaluation evaluation = evaluator.evaluate(data);
  if (command.json)
    printJson({{"loss", evaluation.loss},
               {"perplexity", evaluation.perplexity},
               {"tokens", evaluation.tokens}});
  else
    std::cout << "loss " << evaluation.loss << " nats per token, perplexity "
              << evaluation.perplexity << ", " << evaluation.tokens
              << " tokens\n";
}

void addEvalCommand(CLI::App &application, ProgramSource &source) {
  auto options = std::make_shared<MeasureCommand>();
  CLI::App *command = application.add_subcommand(
      "eval", "Measure the loss: every next token of each file, once");
  source.addOptions(*command);
  addWeightsOption(*command, options->weights);
  addEvaluationDataOption(*command, options->data);
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runEval(*options, source); });
}

//===----------------------------------------------------------------------===//
// grad
//===----------------------------------------------------------------------===//

static void runGrad(const MeasureCommand &command, ProgramSource &source) {
  const std::shared_ptr<Unit> unit =
      source.load({.entries = {"gradient"}, .batch = command.batch});
  const GradientSummary summary =
      writeGradients(*unit, command.weights, command.data, command.output);
  if (command.json)
    printJson({{"loss", summary.loss}, {"tokens", summary.tokens}});
  else
    std::cout << "loss " << summary.loss << " nats per token, "
              << summary.tokens << " tokens\n";
}

void addGradCommand(CLI::App &application, ProgramSource &source) {
  auto options = std::make_shared<MeasureCommand>();
  CLI::App *command = application.add_subcommand(
      "grad",
      "Write every parameter's gradient of the mean loss for one batch");
  source.addOptions(*command);
  addWeightsOption(*command, options->weights);
  command
      ->add_option("--data", options->data,
                   "A token shard; sequence b has the inputs b*T to b*T+T-1")
      ->required()
      ->type_name("SHARD");
  command->add_option("--batch", options->batch, "Sequences in the batch")
      ->required()
      ->check(wholeNumber(1, INT32_MAX))
      ->type_name("B");
  command
      ->add_option("-o,--output", options->output,
                   "Where the gradients go, a safetensors file")
      ->required()
      ->type_name("FILE");
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runGrad(*options, source); });
}

//===----------------------------------------------------------------------===//
// routes
//===----------------------------------------------------------------------===//

static void runRoutes(const MeasureCommand &command, ProgramSource &source) {
  const std::shared_ptr<Unit> unit = source.load({.entries = {"routes"}});
  const EvaluationData data =
      openEvaluationData(command.data, unit->manifest());
  Buffers buffers;
  const RoutesReporter reporter(*unit, buffers);
  buffers.allocate();
  readTensors(command.weights, unit->manifest(), buffers, weightTensors);
  const RoutesReport report = reporter.report(data);
  if (command.json)
    printJson(toJson(report));
  else
    printTable(report, std::cout);
}

void addRoutesCommand(CLI::App &application, ProgramSource &source) {
  auto options = std::make_shared<MeasureCommand>();
  CLI::App *command = application.add_subcommand(
      "routes", "Show which depths the routes read, averaged over tokens");
  source.addOptions(*command);
  addWeightsOption(*command, options->weights);
  addEvaluationDataOption(*command, options->data);
  addJsonFlag(*command, options->json);
  command->callback([options, &source] { runRoutes(*options, source); });
}

} // namespace isobath::runtime
