//===- ExplainCommand.cpp - The verb explain ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountKernels.h"
#include "MeasureRoutes.h"
#include "Verbs.h"
#include "isobath/Driver/ExplainReport.h"
#include "isobath/Routing/SiteLocations.h"
#include "isobath/runtime/buffers.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/trainer.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

using namespace isobath;

namespace {
struct ExplainCommand {
  std::vector<std::string> overrides;
  bool measure = false;
  bool json = false;
};

/// Adds up the time that work takes.
class Stopwatch {
public:
  void time(llvm::function_ref<void()> work) {
    auto start = std::chrono::steady_clock::now();
    work();
    total += std::chrono::steady_clock::now() - start;
  }
  double milliseconds() const { return total.count(); }

private:
  std::chrono::duration<double, std::milli> total{0};
};
} // namespace

/// What a training step of `unit` plans; an evaluation may add to that.
static int64_t countPlannedBytes(const runtime::Unit &unit) {
  runtime::Buffers buffers;
  runtime::Trainer trainer(unit, buffers);
  return buffers.plannedBytes();
}

/// Compiles the training step of `model` and notes each stage in `report`.
static std::shared_ptr<runtime::Unit>
explain(LoadedModel &model, const Lowering &lowering, ExplainReport &report) {
  Stopwatch watch;
  mlir::ModuleOp module = *model.module;
  locateSites(module);
  llvm::json::Object manifest = describe(model, lowering);
  watch.time([&] {
    lowerToStep(model, {"gradient", "accumulate", "norm", "update"});
  });
  int64_t sourceBytes = lowering.bf16 ? 2 : 4;
  addRoutes(report, module, sourceBytes);
  watch.time([&] { lowerToRouted(model, lowering); });
  addSchedules(report, module, sourceBytes);
  watch.time([&] { lowerToKernels(model, lowering); });
  runOrThrow(module.getContext(), [&] { return addKernels(report, module); });
  if (lowering.device == DeviceKind::Simulated)
    addDeviceKernels(report, module);
  watch.time([&] { planKernels(model, lowering); });
  addArena(report, module);
  std::string archive;
  watch.time([&] {
    emitPlanned(model, lowering, std::move(manifest));
    archive = compileHere(model);
  });
  report.compileMilliseconds = watch.milliseconds();
  auto unit =
      loadUnit(llvm::MemoryBuffer::getMemBufferCopy(archive, model.name),
               createDevice(lowering.device));
  report.plannedBytes = countPlannedBytes(*unit);
  return unit;
}

static void runExplain(const CompilerProgram &program,
                       const ExplainCommand &command) {
  ExplainReport report; // outlives the context, whose remarks it collects
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.overrides = command.overrides;
  LoadedModel model = program.loadModel(*context, options);
  Lowering lowering = program.getLowering(model);
  if (lowering.device == DeviceKind::Reference)
    throw runtime::Error("--device: given reference, which has no kernels "
                         "whose bytes could be counted, expected cpu, in f32 "
                         "or bf16");
  if (lowering.device == DeviceKind::Simulated && command.measure)
    throw runtime::Error(
        "--measure: given for the simulated device, whose time "
        "says nothing, expected --device cpu");
  report = beginExplainReport(makeCheckReport(model));
  collectRemarks(*context, report);
  std::shared_ptr<runtime::Unit> unit = explain(model, lowering, report);
  program.setThreads();
  if (lowering.device == DeviceKind::Simulated)
    countKernels(*unit, report);
  else if (command.measure)
    report.measurement = measureRoutes(*unit, report);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.json)
    stream << llvm::json::Value(toJson(report)) << '\n';
  else
    printExplainReport(report, stream);
  std::cout << text;
}

void isobath::addExplainCommand(CLI::App &application,
                                CompilerProgram &program) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App *verb = application.add_subcommand(
      "explain", "Compile the training step of a model and say what was "
                 "shared, batched and fused, why, and what each site's routes "
                 "cost in bytes");
  program.addOptions(*verb);
  verb->add_option("--set", command->overrides,
                   "Another value for a key of the description")
      ->type_name("KEY=VALUE");
  verb->add_flag("--measure", command->measure,
                 "Run steps too, and show how long the kernels that hold "
                 "routes take, and how long their bytes would");
  verb->add_flag("--json", command->json,
                 "Print one JSON object on standard output");
  verb->callback([command, &program] { runExplain(program, *command); });
}
