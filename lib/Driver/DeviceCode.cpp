//===- DeviceCode.cpp - From a GPU's kernels to its code ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/DeviceCode.h"
#include "ExternalTool.h"
#include "isobath/Support/Optimize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace isobath;
using llvm::Expected;

mlir::OwningOpRef<mlir::gpu::GPUModuleOp>
isobath::takeKernels(mlir::ModuleOp module) {
  auto kernels = *module.getOps<mlir::gpu::GPUModuleOp>().begin();
  kernels->remove();
  return kernels;
}

static Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const nvptx::Architecture &architecture) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, architecture.name, architecture.getFeatures(), {},
      /*RM=*/std::nullopt, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

Expected<std::unique_ptr<llvm::Module>>
isobath::translateKernels(mlir::gpu::GPUModuleOp kernels,
                          llvm::LLVMContext &context,
                          const nvptx::Architecture &architecture) {
  auto machine = createMachine(architecture);
  if (!machine)
    return machine.takeError();
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(kernels, context, kernels.getName());
  if (!code)
    return llvm::createStringError(
        "the kernels cannot be translated to LLVM IR");
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  optimize(*code, **machine);
  return code;
}

Expected<std::string>
isobath::writePtx(llvm::Module &code, const nvptx::Architecture &architecture) {
  auto machine = createMachine(architecture);
  if (!machine)
    return machine.takeError();
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot write PTX");
  passes.run(code);
  return std::string(text.begin(), text.end());
}

Expected<std::string> isobath::findPtxas() {
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"}) {
    const char *root = std::getenv(variable);
    if (!root)
      continue;
    std::string path = inFolder(inFolder(root, "bin"), "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path;
  }
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  return llvm::createStringError(
      "ptxas: given none, expected a CUDA toolkit in CUDA_ROOT, CUDA_HOME or "
      "CUDA_PATH, or ptxas in PATH; --emit=ptx does without");
}

Expected<std::string>
isobath::assemblePtx(llvm::StringRef ptx,
                     const nvptx::Architecture &architecture) {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  std::string source = folder->file("kernels.ptx");
  std::string cubin = folder->file("kernels.cubin");
  if (llvm::Error error = writeFile(source, ptx))
    return error;
  if (llvm::Error error = runTool(
          "ptxas", *folder,
          {*ptxas, "-arch=" + architecture.name, "-O3", source, "-o", cubin}))
    return error;
  return readFile(cubin);
}
