//===- Pipelines.h - The stages that a program passes through -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function appends one stage. Together, in this order, they take the
// module with `@model` that a front end makes to LLVM's dialect; between the
// last two, emitUnit (Target/EmitUnit.h) adds what the runtime loads.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_PIPELINES_H
#define ISOBATH_DRIVER_PIPELINES_H

#include "isobath/Routing/Schedule.h"
#include "isobath/Target/NVPTX/Architecture.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace isobath {

/// From `@model` to the entries that the runtime calls, over tensors.
struct StepOptions {
  /// Names of entries, as `isobath-derive-entries` takes them.
  std::vector<std::string> entries;
};
void buildStepPipeline(mlir::OpPassManager &manager,
                       const StepOptions &options);

/// Makes one route of those over the same sources.
void buildSharingPipeline(mlir::OpPassManager &manager);

/// Batches the routes of entries over tensors.
struct RoutingOptions {
  routing::Schedule forward = routing::Schedule::Auto;
  routing::Schedule backward = routing::Schedule::Auto;
  bool bf16 = false; // sources will be stored in bf16
  routing::Machine machine = {};
};
void buildRoutingPipeline(mlir::OpPassManager &manager,
                          const RoutingOptions &options);

/// Makes entries over tensors those of a bf16 model; see StoreActivations.
void buildBf16Pipeline(mlir::OpPassManager &manager);

/// From entries over tensors to calls of row kernels, products and attention.
/// Unless `fuse`, each operation keeps a kernel of its own.
void buildKernelsPipeline(mlir::OpPassManager &manager, bool fuse = true);

/// From there to launches and library calls of the CPU, with all intermediate
/// buffers placed.
void buildCpuPipeline(mlir::OpPassManager &manager);

/// From row kernels and launches to loops over strips of rows and calls. Before
/// buildLLVMPipeline.
void buildCpuCodePipeline(mlir::OpPassManager &manager);

/// The same for a GPU. With `gap`, as isobath-plan-memory has it.
void buildGpuPipeline(mlir::OpPassManager &manager, int64_t gap = 0);

/// From a GPU's launches to calls. Before buildLLVMPipeline.
void buildGpuLaunchPipeline(mlir::OpPassManager &manager);

/// From row kernels to a `gpu.module` beside them, in the dialects of LLVM and
/// NVVM.
void buildNvptxCodePipeline(mlir::OpPassManager &manager,
                            const nvptx::Architecture &architecture);

/// From entries over tensors to calls of reference kernels, with all
/// intermediate buffers placed.
void buildReferencePipeline(mlir::OpPassManager &manager);

/// From loops and calls to LLVM's dialect.
void buildLLVMPipeline(mlir::OpPassManager &manager);

/// Makes the stages available to `--pass-pipeline` as `isobath-step`,
/// `isobath-routing`, `isobath-bf16`, `isobath-kernels`, `isobath-cpu`,
/// `isobath-cpu-code`, `isobath-gpu`, `isobath-nvptx-code`,
/// `isobath-reference` and `isobath-to-llvm`.
void registerPipelines();

} // namespace isobath

#endif // ISOBATH_DRIVER_PIPELINES_H
