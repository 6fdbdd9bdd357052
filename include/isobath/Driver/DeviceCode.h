//===- DeviceCode.h - From a GPU's kernels to its code -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Kernels are functions of a `gpu.module` in the dialects of LLVM and NVVM,
// which is what buildNvptxCodePipeline leaves.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_DEVICECODE_H
#define ISOBATH_DRIVER_DEVICECODE_H

#include "isobath/Target/NVPTX/Architecture.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace isobath {

/// The `gpu.module` of `module`, which loses it.
mlir::OwningOpRef<mlir::gpu::GPUModuleOp> takeKernels(mlir::ModuleOp module);

/// Translates `kernels` to LLVM IR optimised for `architecture`: what the PTX
/// is written from.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateKernels(mlir::gpu::GPUModuleOp kernels, llvm::LLVMContext &context,
                 const nvptx::Architecture &architecture);

/// What translateKernels made as PTX.
llvm::Expected<std::string> writePtx(llvm::Module &code,
                                     const nvptx::Architecture &architecture);

/// The path of ptxas: in the folder bin of what CUDA_ROOT, CUDA_HOME or
/// CUDA_PATH names, or in PATH. The error says so.
llvm::Expected<std::string> findPtxas();

/// Assembles PTX to a cubin for `architecture`.
llvm::Expected<std::string>
assemblePtx(llvm::StringRef ptx, const nvptx::Architecture &architecture);

} // namespace isobath

#endif // ISOBATH_DRIVER_DEVICECODE_H
