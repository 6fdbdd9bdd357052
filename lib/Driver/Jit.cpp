//===- Jit.cpp - From LLVM's dialect to code in this process ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Jit.h"
#include "isobath/Driver/Codegen.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace isobath;
using llvm::Expected;

Expected<JitUnit> isobath::compileInProcess(mlir::ModuleOp module) {
  auto target = describeTarget(nativeCpu);
  if (!target)
    return target.takeError();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto code = translateToLLVM(module, *context, *target);
  if (!code)
    return code.takeError();
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(target->machine))
                 .create();
  if (!jit)
    return jit.takeError();
  // exp, memcpy and their like come from this process.
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!symbols)
    return symbols.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(*code), std::move(context))))
    return error;
  auto unit = (*jit)->lookup(ISOBATH_UNIT_SYMBOL);
  if (!unit)
    return unit.takeError();
  JitUnit result;
  result.unit = unit->toPtr<const IsobathUnit *>();
  result.owner = std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  return result;
}
