//===- Lowering.h - From a model to code in this process ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_LOWERING_H
#define ISOBATH_TOOLS_ISOBATH_LOWERING_H

#include "isobath/Driver/Jit.h"
#include "isobath/Frontend/LoadModel.h"
#include "isobath/Routing/Schedule.h"
#include "isobath/runtime/device.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/unit.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace isobath {

/// The entries of a program that can do everything a training run needs.
std::vector<std::string> getAllEntries();

/// `--device`.
enum class DeviceKind { Cpu, Reference, Simulated };

/// Its name there.
llvm::StringRef getName(DeviceKind device);

/// How a model becomes code.
struct Lowering {
  DeviceKind device = DeviceKind::Cpu;
  bool bf16 = false; // activations are stored in bf16
  bool fuse = true;  // row kernels
  routing::Schedule forward = routing::Schedule::Auto;  // of routes
  routing::Schedule backward = routing::Schedule::Auto; // of their adjoints
  routing::Machine machine = {};       // what decides where it is Auto
  std::vector<std::string> stepPasses; // a user's, in front of lowerToRouted's
};

/// Runs the passes that `build` adds on the module of `model`. Throws Error.
void runPipeline(LoadedModel &model,
                 llvm::function_ref<void(mlir::OpPassManager &)> build);

/// The value, or its error thrown as an Error.
template <typename Value> Value valueOrThrow(llvm::Expected<Value> value) {
  if (!value)
    throw runtime::Error(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// Lowers the module of `model`, which is changed, to entries over tensors.
/// Throws Error.
void lowerToStep(LoadedModel &model, const std::vector<std::string> &entries);

/// Batches the routes of what lowerToStep made, after the user's passes. Throws
/// Error.
void lowerToRouted(LoadedModel &model, const Lowering &lowering);

/// Lowers what lowerToRouted made to calls of fused kernels. Throws Error.
void lowerToKernels(LoadedModel &model, const Lowering &lowering);

/// Lowers what lowerToRouted made to a schedule with all buffers placed. Throws
/// Error.
void lowerToPlanned(LoadedModel &model, const Lowering &lowering);

/// The last step of lowerToPlanned but for the reference: lowers what
/// lowerToKernels made. Throws Error.
void planKernels(LoadedModel &model, const Lowering &lowering);

/// Lowers what lowerToRouted made to LLVM's dialect, with the unit that the
/// runtime loads. `manifest` is that of `describe`, taken before lowerToStep.
/// Throws Error.
void lowerToUnit(LoadedModel &model, const Lowering &lowering,
                 llvm::json::Object manifest);

/// The last step of lowerToUnit: lowers what lowerToPlanned made. Throws Error.
void emitPlanned(LoadedModel &model, const Lowering &lowering,
                 llvm::json::Object manifest);

/// Compiles what lowerToUnit made for this processor, to an archive. Throws
/// Error.
std::string compileHere(LoadedModel &model);

/// A device for one unit.
std::shared_ptr<runtime::Device> createDevice(DeviceKind kind);

/// What is in an archive for this processor, to be run on `device`, which
/// outlives it. Throws Error.
JitUnit loadJit(std::unique_ptr<llvm::MemoryBuffer> archive,
                runtime::Device &device);

/// The same for the unit of a program.
std::shared_ptr<runtime::Unit>
loadUnit(std::unique_ptr<llvm::MemoryBuffer> archive,
         std::shared_ptr<runtime::Device> device);

/// Runs `work`, which reports what is wrong as diagnostics, and throws the
/// first of them as an Error if it fails.
void runOrThrow(mlir::MLIRContext *context,
                llvm::function_ref<mlir::LogicalResult()> work);

/// The manifest of `model` so far: describeModel's, with device and source.
/// Throws Error.
llvm::json::Object describe(const LoadedModel &model, const Lowering &lowering);

/// A context that knows all dialects.
std::unique_ptr<mlir::MLIRContext> createContext();

/// The element type of a model: `f32` or `f64`.
std::string getElementType(const LoadedModel &model);

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_LOWERING_H
