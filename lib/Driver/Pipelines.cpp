//===- Pipelines.cpp - The stages that a program passes through ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Pipelines.h"
#include "isobath/Differentiation/Passes.h"
#include "isobath/Fusion/Passes.h"
#include "isobath/Planning/Passes.h"
#include "isobath/Routing/Passes.h"
#include "isobath/Target/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace isobath;

static void tidy(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void isobath::buildSharingPipeline(OpPassManager &manager) {
  tidy(manager); // for equal queries to be one value
  manager.addPass(createShareRoutes());
  manager.addPass(createSumUniformReads());
  tidy(manager);
}

void isobath::buildStepPipeline(OpPassManager &manager,
                                const StepOptions &options) {
  // `routes` comes first: it asks for the distribution of every group at every
  // site, also where the read is the identity or that of another group. Then
  // the model's routes are shared, and only then the others are derived: the
  // adjoints of one route are fewer than those of two, which nothing could
  // join, as there is a norm between each mix and the place where their
  // gradients meet.
  DeriveEntriesOptions report, others;
  report.keepModel = true;
  for (const std::string &name : options.entries)
    (name == "routes" ? report : others).entries.push_back(name);
  if (!report.entries.empty())
    manager.addPass(createDeriveEntries(report));
  buildSharingPipeline(manager);
  manager.addPass(createDeriveEntries(others));
  tidy(manager);
}

void isobath::buildRoutingPipeline(OpPassManager &manager,
                                   const RoutingOptions &options) {
  int64_t sourceBytes = options.bf16 ? 2 : 4;
  // Adjoints first: what the statistics of a batched route are is computed in
  // front of each of them, and of fewer once they are joined.
  auto setMachine = [&](auto &pass) {
    pass.readCost = options.machine.readCost;
    pass.writeCost = options.machine.writeCost;
    pass.mostRoutes = options.machine.mostRoutes;
  };
  BatchAdjointsOptions adjoints;
  setMachine(adjoints);
  adjoints.schedule = options.backward;
  adjoints.sourceBytes = sourceBytes;
  manager.addPass(createBatchAdjoints(adjoints));
  BatchRoutesOptions routes;
  setMachine(routes);
  routes.schedule = options.forward;
  routes.sourceBytes = sourceBytes;
  manager.addPass(createBatchRoutes(routes));
  manager.addPass(createCSEPass()); // of statistics for two adjoints
}

void isobath::buildBf16Pipeline(OpPassManager &manager) {
  manager.addPass(createStoreActivations());
  tidy(manager);
}

void isobath::buildKernelsPipeline(OpPassManager &manager, bool fuse) {
  manager.addPass(createChunkHead());
  manager.addPass(createLowerToRows());
  if (fuse)
    manager.addPass(createFuseRows());
}

void isobath::buildCpuPipeline(OpPassManager &manager) {
  manager.addPass(createLowerToCpu());
  manager.addPass(createPlanMemory());
}

void isobath::buildCpuCodePipeline(OpPassManager &manager) {
  manager.addPass(createLowerRowsToCpu());
}

void isobath::buildGpuPipeline(OpPassManager &manager, int64_t gap) {
  manager.addPass(createLowerToGpu());
  PlanMemoryOptions options;
  options.gap = gap;
  manager.addPass(createPlanMemory(options));
}

void isobath::buildGpuLaunchPipeline(OpPassManager &manager) {
  manager.addPass(createLowerLaunchesToGpu());
}

/// The kernels of a GPU as functions of LLVM's dialect.
static void lowerDeviceCode(OpPassManager &module) {
  OpPassManager &manager = module.nest<gpu::GPUModuleOp>();
  manager.addPass(createSCFToControlFlowPass());
  // Takes in what the other conversions do, for the dialects that
  // registerDialects says.
  manager.addPass(createConvertGpuOpsToNVVMOps());
  manager.addPass(createReconcileUnrealizedCastsPass());
  tidy(manager);
}

void isobath::buildNvptxCodePipeline(OpPassManager &manager,
                                     const nvptx::Architecture &architecture) {
  manager.addPass(
      createLowerRowsToNvptx({architecture.name, architecture.ptx.str()}));
  lowerDeviceCode(manager);
}

void isobath::buildReferencePipeline(OpPassManager &manager) {
  manager.addPass(createLowerToReference());
  manager.addPass(createPlanMemory());
}

void isobath::buildLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  // Kernels take bare pointers: all shapes are static. Last, because it turns
  // what the other conversions left as casts at calls into pointers.
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createReconcileUnrealizedCastsPass());
  // Takes apart descriptors that only served to carry a pointer to a call. The
  // functions of entries are not optimised later, and this halves them.
  manager.addPass(createCanonicalizerPass());
}

namespace {
struct StepPipelineOptions : PassPipelineOptions<StepPipelineOptions> {
  ListOption<std::string> entries{*this, "entries",
                                  llvm::cl::desc("The entries to derive")};
};
} // namespace

/// The schedules by name.
static llvm::cl::ValuesClass getSchedules() {
  using routing::Schedule;
  return llvm::cl::values(
      clEnumValN(Schedule::Each, "each", "Each route by itself"),
      clEnumValN(Schedule::Batched, "batched", "A block's routes together"),
      clEnumValN(Schedule::Auto, "auto", "Whichever costs less"));
}

namespace {
struct RoutingPipelineOptions : PassPipelineOptions<RoutingPipelineOptions> {
  Option<routing::Schedule> forward{
      *this, "forward", llvm::cl::desc("How routes are run"),
      llvm::cl::init(routing::Schedule::Auto), getSchedules()};
  Option<routing::Schedule> backward{
      *this, "backward", llvm::cl::desc("How the adjoints of routes are run"),
      llvm::cl::init(routing::Schedule::Auto), getSchedules()};
  Option<bool> bf16{*this, "bf16",
                    llvm::cl::desc("Sources will be stored in bf16"),
                    llvm::cl::init(false)};
};
} // namespace

namespace {
struct NvptxPipelineOptions : PassPipelineOptions<NvptxPipelineOptions> {
  Option<std::string> architecture{*this, "architecture",
                                   llvm::cl::desc("sm_80, sm_90, …"),
                                   llvm::cl::init("sm_80")};
  Option<std::string> ptx{*this, "ptx", llvm::cl::desc("7.8, 8.6, …")};
};
} // namespace

void isobath::registerPipelines() {
  PassPipelineRegistration<StepPipelineOptions>(
      "isobath-step", "Derive the entries of a program",
      [](OpPassManager &manager, const StepPipelineOptions &options) {
        StepOptions step;
        step.entries.assign(options.entries.begin(), options.entries.end());
        buildStepPipeline(manager, step);
      });
  PassPipelineRegistration<RoutingPipelineOptions>(
      "isobath-routing", "Batch the routes of entries",
      [](OpPassManager &manager, const RoutingPipelineOptions &options) {
        buildRoutingPipeline(
            manager, {options.forward, options.backward, options.bf16, {}});
      });
  PassPipelineRegistration<>("isobath-bf16",
                             "Store the activations of entries in bf16",
                             buildBf16Pipeline);
  PassPipelineRegistration<>(
      "isobath-kernels", "Turn entries into calls of fused row kernels",
      [](OpPassManager &manager) { buildKernelsPipeline(manager); });
  PassPipelineRegistration<>("isobath-cpu",
                             "Lower calls of row kernels to the CPU target",
                             buildCpuPipeline);
  PassPipelineRegistration<>(
      "isobath-gpu", "Lower calls of row kernels to a GPU's schedule",
      [](OpPassManager &manager) { buildGpuPipeline(manager); });
  PassPipelineRegistration<>("isobath-cpu-code",
                             "Lower row kernels to loops over strips",
                             buildCpuCodePipeline);
  PassPipelineRegistration<NvptxPipelineOptions>(
      "isobath-nvptx-code", "Make code for NVIDIA GPUs of row kernels",
      [](OpPassManager &manager, const NvptxPipelineOptions &options) {
        manager.addPass(
            createLowerRowsToNvptx({options.architecture, options.ptx}));
        lowerDeviceCode(manager);
      });
  PassPipelineRegistration<>("isobath-reference",
                             "Lower entries to the reference target",
                             buildReferencePipeline);
  PassPipelineRegistration<>("isobath-to-llvm", "Lower to LLVM's dialect",
                             buildLLVMPipeline);
}
