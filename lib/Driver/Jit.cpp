//===- Jit.cpp - From LLVM's dialect to code in this process ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Jit.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace isobath;
using llvm::Expected;

Expected<JitUnit>
isobath::loadArchive(std::unique_ptr<llvm::MemoryBuffer> archive,
                     llvm::ArrayRef<JitSymbol> symbols) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  llvm::orc::SymbolMap defined;
  for (const JitSymbol &symbol : symbols)
    defined[(*jit)->mangleAndIntern(symbol.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(symbol.address),
        llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = (*jit)->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(defined))))
    return error;
  // exp, memcpy and their like come from this process.
  auto exported =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          (*jit)->getDataLayout().getGlobalPrefix());
  if (!exported)
    return exported.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*exported));
  if (llvm::Error error = (*jit)->linkStaticLibraryInto(
          (*jit)->getMainJITDylib(), std::move(archive)))
    return error;
  auto unit = (*jit)->lookup(ISOBATH_UNIT_SYMBOL);
  if (!unit)
    return unit.takeError();
  JitUnit result;
  result.unit = unit->toPtr<const IsobathUnit *>();
  result.owner = std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  return result;
}
