//===- CompilerProgram.cpp - Programs compiled from a model on the command line
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerProgram.h"
#include "isobath/Driver/Dialects.h"
#include "isobath/Driver/Jit.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Driver/UnitCache.h"
#include "isobath/Target/EmitUnit.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;

std::vector<std::string> isobath::getAllEntries() {
  return {"gradient", "accumulate", "norm",  "update",
          "loss",     "logits",     "routes"};
}

std::unique_ptr<mlir::MLIRContext> isobath::createContext() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry);
  context->loadAllAvailableDialects();
  return context;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Runs `work`, which reports what is wrong as diagnostics, and throws the
/// first of them as an Error if it fails.
static void runOrThrow(mlir::MLIRContext *context,
                       llvm::function_ref<mlir::LogicalResult()> work) {
  std::string first;
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            first.empty())
          first = diagnostic.str();
        return mlir::success();
      });
  if (mlir::failed(work()))
    throw runtime::Error(first.empty() ? "the model cannot be compiled"
                                       : first);
}

static void runPipeline(LoadedModel &model,
                        llvm::function_ref<void(mlir::OpPassManager &)> build) {
  mlir::MLIRContext *context = model.module->getContext();
  runOrThrow(context, [&] {
    mlir::PassManager manager(context);
    build(manager);
    return manager.run(*model.module);
  });
}

void isobath::lowerToStep(LoadedModel &model,
                          const std::vector<std::string> &entries) {
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    buildStepPipeline(manager, {entries});
  });
}

llvm::json::Object isobath::describe(const LoadedModel &model) {
  llvm::json::Object manifest;
  runOrThrow(model.module.get()->getContext(), [&] {
    auto described = describeModel(model.module.get());
    if (mlir::succeeded(described))
      manifest = std::move(*described);
    return described;
  });
  manifest["name"] = model.name;
  manifest["device"] = "reference";
  manifest["lowering"] = "plain loops, nothing fused";
  manifest["source"] = llvm::json::Object{{"format", model.sourceFormat},
                                          {"text", model.sourceText}};
  return manifest;
}

void isobath::lowerToUnit(LoadedModel &model, llvm::json::Object manifest) {
  runPipeline(model, buildReferencePipeline);
  runOrThrow(model.module->getContext(),
             [&] { return emitUnit(*model.module, std::move(manifest)); });
  runPipeline(model, buildLLVMPipeline);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

void CompilerProgram::addModelArgument(CLI::App &command) {
  command
      .add_option("MODEL", modelPath,
                  "The model: a description (.yaml) or a module (.mlir)")
      ->required()
      ->type_name("");
}

void CompilerProgram::addOptions(CLI::App &command) {
  addModelArgument(command);
  command
      .add_option("--device", device,
                  "reference: plain loops, slow, the oracle of all others")
      ->check(CLI::IsMember({"reference"}))
      ->type_name("DEVICE");
  command
      .add_option("--precision", precision,
                  "Type of parameters and arithmetic: f32 or f64; the default "
                  "is f32, and for a module the type that it has")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->type_name("TYPE");
  command
      .add_option("--threads", threads,
                  "Threads of the device; the reference uses one, whatever is "
                  "given")
      ->check(runtime::wholeNumber(1, 4096))
      ->type_name("N");
}

LoadedModel CompilerProgram::loadModel(mlir::MLIRContext &context,
                                       LoadOptions options) const {
  if (!precision.empty())
    options.elementType =
        precision == "f64" ? ElementType::f64 : ElementType::f32;
  llvm::Expected<LoadedModel> model =
      isobath::loadModel(context, modelPath, options);
  if (!model)
    throw runtime::Error(llvm::toString(model.takeError()));
  return std::move(*model);
}

/// Compiles `model`, whose code the result is.
static std::string compile(LoadedModel &model,
                           const std::vector<std::string> &entries,
                           CodeTarget &target) {
  llvm::json::Object manifest = describe(model);
  lowerToStep(model, entries);
  lowerToUnit(model, std::move(manifest));
  llvm::Expected<std::string> object = compileToObject(*model.module, target);
  if (!object)
    throw runtime::Error(llvm::toString(object.takeError()));
  return std::move(*object);
}

/// The object of `model`: from the cache, or compiled and put there. What the
/// code depends on is the model's text, which has the settings in it, and the
/// options.
std::unique_ptr<llvm::MemoryBuffer>
CompilerProgram::getObject(LoadedModel &model,
                           const runtime::ProgramRequest &request,
                           CodeTarget &target) const {
  std::vector<std::string> entries =
      request.everyEntry ? getAllEntries() : request.entries;
  UnitCache cache;
  std::string key = UnitCache::getKey(
      {model.name, model.sourceFormat, model.sourceText, device, precision,
       std::to_string(request.batch.value_or(0)), llvm::join(entries, ","),
       target.machine.getCPU(), target.machine.getFeatures().getString()});
  if (std::unique_ptr<llvm::MemoryBuffer> object = cache.find(key))
    return object;
  std::string object = compile(model, entries, target);
  cache.store(key, object);
  return llvm::MemoryBuffer::getMemBufferCopy(object, model.name);
}

std::shared_ptr<runtime::Unit>
CompilerProgram::load(const runtime::ProgramRequest &request) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.batch = request.batch.value_or(0);
  options.overrides = request.overrides;
  options.seed = request.seed;
  LoadedModel model = loadModel(*context, options);
  llvm::Expected<CodeTarget> target = describeTarget(nativeCpu);
  if (!target)
    throw runtime::Error(llvm::toString(target.takeError()));
  if (model.train.precision == Precision::bf16)
    std::cerr << "note: the reference device computes in "
              << (precision.empty() ? "f32" : precision)
              << " what train.precision asks for in bf16\n";
  llvm::Expected<JitUnit> compiled =
      loadObject(getObject(model, request, *target));
  if (!compiled)
    throw runtime::Error(llvm::toString(compiled.takeError()));
  return std::make_shared<runtime::Unit>(compiled->unit,
                                         std::move(compiled->owner));
}
