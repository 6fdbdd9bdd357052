//===- Jit.cpp - From LLVM's dialect to code in this process ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Jit.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace isobath;
using llvm::Expected;

static Expected<llvm::orc::JITTargetMachineBuilder> describeHost() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (host)
    host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return host;
}

Expected<std::unique_ptr<llvm::Module>>
isobath::translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context) {
  auto host = describeHost();
  if (!host)
    return host.takeError();
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return llvm::createStringError(
        "the compiled program cannot be translated to LLVM IR");
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  if (llvm::Error error = mlir::makeOptimizingTransformer(
          /*optLevel=*/2, /*sizeLevel=*/0, machine->get())(code.get()))
    return error;
  return code;
}

Expected<JitUnit> isobath::compileInProcess(mlir::ModuleOp module) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto code = translateToLLVM(module, *context);
  if (!code)
    return code.takeError();
  auto host = describeHost();
  if (!host)
    return host.takeError();
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*host))
                 .create();
  if (!jit)
    return jit.takeError();
  // exp, memcpy and their like come from this process.
  auto symbols =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          (*jit)->getDataLayout().getGlobalPrefix());
  if (!symbols)
    return symbols.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
  if (llvm::Error error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(
          std::move(*code), std::move(context))))
    return error;
  auto unit = (*jit)->lookup(ISOBATH_UNIT_SYMBOL);
  if (!unit)
    return unit.takeError();
  JitUnit result;
  result.unit = unit->toPtr<const IsobathUnit *>();
  result.owner = std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  return result;
}
