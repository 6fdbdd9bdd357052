//===- Lowering.cpp - From a model to code in this process ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "UserPasses.h"
#include "isobath/Dialect/Row/RowOps.h"
#include "isobath/Driver/Codegen.h"
#include "isobath/Driver/DeviceCode.h"
#include "isobath/Driver/Dialects.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Simulator/SimulatedRuntimeDevice.h"
#include "isobath/Target/EmitUnit.h"
#include "isobath/runtime/cpu_library.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Bitcode/BitcodeWriter.h"

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

void isobath::runOrThrow(mlir::MLIRContext *context,
                         llvm::function_ref<mlir::LogicalResult()> work) {
  std::string first;
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            first.empty()) {
          if (auto place = diagnostic.getLocation()
                               ->findInstanceOf<mlir::FileLineColLoc>())
            first =
                runtime::concat(place.getFilename().str(), ":", place.getLine(),
                                ":", place.getColumn(), ": ");
          first += diagnostic.str();
        }
        return mlir::success();
      });
  if (mlir::failed(work()))
    throw runtime::Error(first.empty() ? "the model cannot be compiled"
                                       : first);
}

void isobath::runPipeline(
    LoadedModel &model, llvm::function_ref<void(mlir::OpPassManager &)> build) {
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

std::string isobath::getElementType(const LoadedModel &model) {
  auto function =
      llvm::cast<mlir::func::FuncOp>(model.module.get().lookupSymbol("model"));
  mlir::Type type = mlir::getElementTypeOrSelf(function.getResultTypes()[0]);
  return type.isF64() ? "f64" : "f32";
}

llvm::StringRef isobath::getName(DeviceKind device) {
  switch (device) {
  case DeviceKind::Cpu:
    return "cpu";
  case DeviceKind::Reference:
    return "reference";
  case DeviceKind::Simulated:
    return "simulated";
  }
  llvm_unreachable("a device is one of three");
}

llvm::json::Object isobath::describe(const LoadedModel &model,
                                     const Lowering &lowering) {
  llvm::json::Object manifest;
  runOrThrow(model.module.get()->getContext(), [&] {
    auto described = describeModel(model.module.get());
    if (mlir::succeeded(described))
      manifest = std::move(*described);
    return described;
  });
  manifest["name"] = model.name;
  if (llvm::json::Object *train = manifest.getObject("train"))
    (*train)["precision"] = lowering.bf16 ? "bf16" : getElementType(model);
  bool isReference = lowering.device == DeviceKind::Reference;
  std::string how =
      isReference ? "plain loops, nothing fused"
                  : std::string(lowering.fuse ? "fused row kernels"
                                              : "row kernels, none fused") +
                        ", products and attention of a library";
  if (lowering.bf16)
    how += ", activations in bf16";
  for (auto [direction, schedule] :
       {std::make_pair("routes", lowering.forward),
        std::make_pair("adjoints of routes", lowering.backward)})
    if (schedule == routing::Schedule::Batched)
      how += std::string(", ") + direction + " batched";
    else if (schedule == routing::Schedule::Each && !isReference)
      how += std::string(", ") + direction + " one by one";
  for (const std::string &pipeline : lowering.stepPasses)
    how += ", after " + pipeline;
  manifest["device"] = getName(lowering.device);
  manifest["lowering"] = how;
  manifest["source"] = llvm::json::Object{{"format", model.sourceFormat},
                                          {"text", model.sourceText}};
  return manifest;
}

void isobath::lowerToRouted(LoadedModel &model, const Lowering &lowering) {
  for (const std::string &pipeline : lowering.stepPasses)
    runPipeline(model, [&](mlir::OpPassManager &manager) {
      addPasses(manager, pipeline);
    });
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    buildRoutingPipeline(manager, {lowering.forward, lowering.backward,
                                   lowering.bf16, lowering.machine});
  });
}

void isobath::lowerToKernels(LoadedModel &model, const Lowering &lowering) {
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    if (lowering.bf16)
      buildBf16Pipeline(manager);
    buildKernelsPipeline(manager, lowering.fuse);
  });
}

void isobath::planKernels(LoadedModel &model, const Lowering &lowering) {
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    if (lowering.device == DeviceKind::Simulated)
      buildGpuPipeline(manager, simulator::bufferGap);
    else
      buildCpuPipeline(manager);
  });
}

void isobath::lowerToPlanned(LoadedModel &model, const Lowering &lowering) {
  if (lowering.device != DeviceKind::Reference) {
    lowerToKernels(model, lowering);
    planKernels(model, lowering);
    return;
  }
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    if (lowering.bf16)
      buildBf16Pipeline(manager);
    buildReferencePipeline(manager);
  });
}

void isobath::lowerToUnit(LoadedModel &model, const Lowering &lowering,
                          llvm::json::Object manifest) {
  lowerToPlanned(model, lowering);
  emitPlanned(model, lowering, std::move(manifest));
}

/// The row kernels of `model` as the bitcode that the simulated device loads.
static std::string compileForSimulation(const LoadedModel &model) {
  auto architecture =
      nvptx::Architecture::get(simulator::simulatedArchitecture).value();
  LoadedModel kernels;
  kernels.module = model.module.get().clone();
  for (auto entry : llvm::make_early_inc_range(
           kernels.module->getOps<mlir::FunctionOpInterface>()))
    if (!llvm::isa<row::KernelOp>(*entry))
      entry.erase();
  runPipeline(kernels, [&](mlir::OpPassManager &manager) {
    buildNvptxCodePipeline(manager, architecture);
  });
  auto module = takeKernels(*kernels.module);
  llvm::LLVMContext context;
  auto code = valueOrThrow(translateKernels(*module, context, architecture));
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*code, stream);
  return bitcode;
}

void isobath::emitPlanned(LoadedModel &model, const Lowering &lowering,
                          llvm::json::Object manifest) {
  std::string deviceCode;
  if (lowering.device == DeviceKind::Simulated) {
    deviceCode = compileForSimulation(model);
    runPipeline(model, buildGpuLaunchPipeline);
  } else if (lowering.device == DeviceKind::Cpu) {
    runPipeline(model, buildCpuCodePipeline);
  }
  runOrThrow(model.module->getContext(), [&] {
    return emitUnit(*model.module, std::move(manifest), deviceCode);
  });
  runPipeline(model, buildLLVMPipeline);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::string isobath::compileHere(LoadedModel &model) {
  CodeTarget target = valueOrThrow(describeTarget(nativeCpu));
  return valueOrThrow(compileToArchive(*model.module, target));
}

std::shared_ptr<runtime::Device> isobath::createDevice(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return std::make_shared<runtime::CpuDevice>();
  case DeviceKind::Reference:
    return std::make_shared<runtime::Device>();
  case DeviceKind::Simulated:
    return std::make_shared<simulator::SimulatedRuntimeDevice>();
  }
  llvm_unreachable("a device is one of three");
}

JitUnit isobath::loadJit(std::unique_ptr<llvm::MemoryBuffer> archive,
                         runtime::Device &device) {
  llvm::SmallVector<JitSymbol> symbols = {{ISOBATH_DEVICE_SYMBOL, &device}};
  for (const runtime::DeviceSymbol &symbol : runtime::deviceSymbols())
    symbols.push_back({symbol.name, symbol.address});
  return valueOrThrow(loadArchive(std::move(archive), symbols));
}

std::shared_ptr<runtime::Unit>
isobath::loadUnit(std::unique_ptr<llvm::MemoryBuffer> archive,
                  std::shared_ptr<runtime::Device> device) {
  JitUnit compiled = loadJit(std::move(archive), *device);
  return std::make_shared<runtime::Unit>(
      compiled.unit, std::move(compiled.owner), std::move(device));
}
