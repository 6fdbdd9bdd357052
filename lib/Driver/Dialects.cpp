//===- Dialects.cpp - The dialects and passes that Isobath's tools know -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Dialects.h"
#include "isobath/Dialect/Depth/DepthDialect.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Dialect/Row/RowDialect.h"
#include "isobath/Differentiation/Passes.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Frontend/Passes.h"
#include "isobath/Fusion/Passes.h"
#include "isobath/Fusion/RowKernelOpInterface.h"
#include "isobath/Planning/Passes.h"
#include "isobath/Routing/Passes.h"
#include "isobath/Target/Passes.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void isobath::registerDialects(DialectRegistry &registry) {
  registry.insert<depth::DepthDialect, net::NetDialect, row::RowDialect>();
  fusion::registerDepthAdjointRows(registry);
  fusion::registerDepthRows(registry);
  fusion::registerStaticReadRows(registry);
  fusion::registerNetRows(registry);
  reference::registerDepthLoops(registry);
  reference::registerStaticReadLoops(registry);
  reference::registerTwoPhaseLoops(registry);
  reference::registerNetLoops(registry);
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
              memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
              tensor::TensorDialect, vector::VectorDialect>();
  // What the conversion of a GPU's kernels to NVVM takes in.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void isobath::registerPasses() {
  registerFrontendPasses();
  registerDifferentiationPasses();
  registerRoutingPasses();
  registerFusionPasses();
  registerPlanningPasses();
  registerTargetPasses();
  registerPipelines();

  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  registerInlinerPass();
  // One by one: the header that registers all of MLIR's conversions takes
  // longer to read than all else here.
  for (auto create :
       {createArithToLLVMConversionPass, createConvertControlFlowToLLVMPass,
        createConvertIndexToLLVMPass, createConvertMathToLLVMPass,
        createFinalizeMemRefToLLVMConversionPass,
        createReconcileUnrealizedCastsPass, createSCFToControlFlowPass})
    registerPass([create] { return create(); });
  registerPass([] { return createConvertFuncToLLVMPass(); });
}
