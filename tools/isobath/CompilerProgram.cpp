//===- CompilerProgram.cpp - Programs compiled on the command line --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerProgram.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Driver/UnitCache.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <CLI/CLI.hpp>

using namespace isobath;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
/// One direction of a schedule.
struct DirectionSchedule {
  bool isForward;
  routing::Schedule schedule;
};
} // namespace

static std::optional<DirectionSchedule> parseSchedule(llvm::StringRef text) {
  auto [direction, how] = text.split('=');
  auto schedule = llvm::StringSwitch<std::optional<routing::Schedule>>(how)
                      .Case("each", routing::Schedule::Each)
                      .Case("batched", routing::Schedule::Batched)
                      .Case("auto", routing::Schedule::Auto)
                      .Default(std::nullopt);
  if (!schedule || (direction != "forward" && direction != "backward"))
    return std::nullopt;
  return DirectionSchedule{direction == "forward", *schedule};
}

/// Sets one field of `machine`; whether that was possible.
static bool setMachine(routing::Machine &machine, llvm::StringRef text) {
  auto [key, number] = text.split('=');
  if (key == "routes")
    return llvm::to_integer(number, machine.mostRoutes, 10) &&
           machine.mostRoutes >= 1 && machine.mostRoutes <= 64;
  double cost;
  if (!llvm::to_float(number, cost) || !(cost >= 0 && cost <= 1e6) ||
      (key != "read" && key != "write"))
    return false;
  (key == "read" ? machine.readCost : machine.writeCost) = cost;
  return true;
}

void CompilerProgram::addModelArgument(CLI::App &command) {
  command
      .add_option("MODEL", modelPath,
                  "The model: a description (.yaml) or a module (.mlir)")
      ->required()
      ->type_name("");
}

void CompilerProgram::addOptions(CLI::App &command) {
  addModelArgument(command);
  addLoweringOptions(command);
}

void CompilerProgram::addLoweringOptions(CLI::App &command) {
  command
      .add_option(
          "--device", device,
          "cpu: fused vector kernels and library products, the default "
          "but for f64; reference: plain loops, slow, the oracle of all "
          "others; simulated: kernels of a GPU, one fiber for each of its "
          "threads, which finds their errors and is slower still")
      ->check(CLI::IsMember({"cpu", "reference", "simulated"}))
      ->type_name("DEVICE");
  command
      .add_option("--precision", precision,
                  "f32; bf16: activations are stored in bf16, arithmetic and "
                  "parameters are f32; f64, by the reference only. The default "
                  "is train.precision, and f64 for a module of f64")
      ->check(CLI::IsMember({"f32", "f64", "bf16"}))
      ->type_name("TYPE");
  command
      .add_option("--schedule", schedule,
                  "How routes over the same sources run: forward=HOW, "
                  "backward=HOW or both, with each: one by one; batched: those "
                  "of a block together; auto: whichever costs less, "
                  "the default but for the reference, which runs each")
      ->delimiter(',')
      ->check([](const std::string &text) {
        return parseSchedule(text) ? std::string()
                                   : "given " + text +
                                         ", expected forward= or backward= "
                                         "each, batched or auto";
      })
      ->type_name("DIRECTION=HOW");
  command
      .add_option(
          "--machine", machine,
          "What --schedule auto decides by: read=COST and write=COST "
          "of a byte, and routes=N, which one kernel serves at most; 1, "
          "2 and 8 unless given")
      ->delimiter(',')
      ->check([](const std::string &text) {
        routing::Machine ignored;
        return setMachine(ignored, text)
                   ? std::string()
                   : "given " + text +
                         ", expected read= or write= a number from 0 to 1e6, "
                         "or routes= 1 to 64";
      })
      ->type_name("KEY=NUMBER");
  command.add_flag("--no-fusion", noFusion,
                   "Keep a kernel for every operation, to see what fusion is "
                   "worth; the reference never fuses");
  command
      .add_option("--threads", threads,
                  "Threads of the device, at most as many as there are "
                  "processors unless given; the reference uses one")
      ->check(runtime::wholeNumber(1, 4096))
      ->type_name("N");
  passes.addOptions(command);
}

Lowering CompilerProgram::getLowering(bool isF64) const {
  Lowering lowering;
  if (device == "reference" || (device.empty() && isF64))
    lowering.device = DeviceKind::Reference;
  else if (device == "simulated")
    lowering.device = DeviceKind::Simulated;
  if (lowering.device != DeviceKind::Reference && isF64)
    throw runtime::Error("--device: given " + getName(lowering.device).str() +
                         " for a program in f64, expected "
                         "reference, or for a model --precision f32 or bf16");
  if (precision == "f64" && !isF64)
    throw runtime::Error("--precision: given f64 for functions of other types, "
                         "expected f32 or bf16");
  // The reference does what the program says, step by step.
  if (lowering.device == DeviceKind::Reference)
    lowering.forward = lowering.backward = routing::Schedule::Each;
  for (const std::string &text : schedule) {
    DirectionSchedule parsed = *parseSchedule(text);
    (parsed.isForward ? lowering.forward : lowering.backward) = parsed.schedule;
  }
  for (const std::string &text : machine)
    setMachine(lowering.machine, text);
  lowering.bf16 = precision == "bf16";
  lowering.fuse = !noFusion;
  lowering.stepPasses = passes.after("step");
  return lowering;
}

Lowering CompilerProgram::getLowering(const LoadedModel &model) const {
  bool isF64 = getElementType(model) == "f64";
  Lowering lowering = getLowering(isF64);
  if (precision.empty() && !isF64 && model.train.precision == Precision::bf16)
    lowering.bf16 = true;
  return lowering;
}

LoadedModel CompilerProgram::loadModel(mlir::MLIRContext &context,
                                       LoadOptions options) const {
  if (!precision.empty())
    options.elementType =
        precision == "f64" ? ElementType::f64 : ElementType::f32;
  std::vector<std::string> pipelines = passes.after("model");
  if (pipelines.empty())
    return valueOrThrow(isobath::loadModel(context, modelPath, options));
  // The passes see the model as it was written. What they make is a model as
  // any other, whose text stands for it in caches, manifests and run folders.
  LoadOptions asWritten;
  asWritten.overrides = std::exchange(options.overrides, {});
  asWritten.seed = std::exchange(options.seed, std::nullopt);
  LoadedModel written =
      valueOrThrow(isobath::loadModel(context, modelPath, asWritten));
  for (const std::string &pipeline : pipelines)
    runPipeline(written, [&](mlir::OpPassManager &manager) {
      addPasses(manager, pipeline);
    });
  std::string text;
  llvm::raw_string_ostream(text) << *written.module;
  return valueOrThrow(
      loadModelText(context, text, modelPath + " after --passes", options));
}

/// Compiles `model`, whose code the result is.
static std::string compile(LoadedModel &model, const Lowering &lowering,
                           const std::vector<std::string> &entries,
                           CodeTarget &target) {
  llvm::json::Object manifest = describe(model, lowering);
  lowerToStep(model, entries);
  lowerToRouted(model, lowering);
  lowerToUnit(model, lowering, std::move(manifest));
  return valueOrThrow(compileToArchive(*model.module, target));
}

/// For the key of the cache.
static std::string getScheduleName(routing::Schedule schedule) {
  switch (schedule) {
  case routing::Schedule::Each:
    return "each";
  case routing::Schedule::Batched:
    return "batched";
  case routing::Schedule::Auto:
    return "auto";
  }
  llvm_unreachable("a schedule is one of three");
}

/// The archive of `model`: from the cache, or compiled and put there. What the
/// code depends on is the model's text, which has the settings in it, and the
/// options.
std::unique_ptr<llvm::MemoryBuffer>
CompilerProgram::getArchive(LoadedModel &model, const Lowering &lowering,
                            const runtime::ProgramRequest &request,
                            CodeTarget &target) const {
  std::vector<std::string> entries =
      request.everyEntry ? getAllEntries() : request.entries;
  UnitCache cache;
  std::vector<std::string> parts = {
      model.name,
      model.sourceFormat,
      model.sourceText,
      getElementType(model),
      getName(lowering.device).str(),
      lowering.bf16 ? "bf16" : "",
      lowering.fuse ? "fused" : "",
      runtime::concat(lowering.machine.readCost, " ",
                      lowering.machine.writeCost, " ",
                      lowering.machine.mostRoutes),
      getScheduleName(lowering.forward),
      getScheduleName(lowering.backward),
      std::to_string(request.batch.value_or(0)),
      llvm::join(entries, ","),
      target.machine.getCPU(),
      target.machine.getFeatures().getString()};
  llvm::append_range(parts, lowering.stepPasses);
  if (!lowering.stepPasses.empty())
    llvm::append_range(parts, passes.readPlugins());
  std::string key = UnitCache::getKey(parts);
  if (std::unique_ptr<llvm::MemoryBuffer> archive = cache.find(key))
    return archive;
  std::string archive = compile(model, lowering, entries, target);
  cache.store(key, archive);
  return llvm::MemoryBuffer::getMemBufferCopy(archive, model.name);
}

void CompilerProgram::setThreads() const {
  if (threads > 0)
    runtime::setThreads(threads);
}

std::shared_ptr<runtime::Unit>
CompilerProgram::load(const runtime::ProgramRequest &request) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.batch = request.batch.value_or(0);
  options.overrides = request.overrides;
  options.seed = request.seed;
  LoadedModel model = loadModel(*context, options);
  CodeTarget target = valueOrThrow(describeTarget(nativeCpu));
  Lowering lowering = getLowering(model);
  setThreads();
  return loadUnit(getArchive(model, lowering, request, target),
                  createDevice(lowering.device));
}
