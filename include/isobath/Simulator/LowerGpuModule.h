//===- LowerGpuModule.h - From gpu.module to LLVM's IR for NVPTX ----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels that somebody writes in upstream dialects: gpu, memref, vector,
// arith, math, scf, nvvm, llvm. Upstream passes lower them.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SIMULATOR_LOWERGPUMODULE_H
#define ISOBATH_SIMULATOR_LOWERGPUMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Module.h"

namespace isobath::simulator {

/// What parsing, lowering and translating such modules needs.
void registerGpuDialects(mlir::DialectRegistry &registry);

/// Lowers every gpu.module of a module to LLVM's dialect. Parameters of kernels
/// that are memrefs become bare pointers, so their shapes are static. Locations
/// are kept as debug information.
void buildGpuModulePipeline(mlir::OpPassManager &manager);

/// What the pipeline made, in LLVM's IR for the NVPTX backend, not optimised.
/// Fails with a diagnostic.
mlir::FailureOr<std::unique_ptr<llvm::Module>>
translateGpuModule(mlir::gpu::GPUModuleOp module, llvm::LLVMContext &context);

} // namespace isobath::simulator

#endif // ISOBATH_SIMULATOR_LOWERGPUMODULE_H
