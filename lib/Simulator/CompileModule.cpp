//===- CompileModule.cpp - Kernels as code in this process ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileModule.h"
#include "RuntimeFunctions.h"
#include "isobath/Support/Optimize.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace isobath::simulator;
using llvm::Expected;

static void initializeTargets() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    return true;
  }();
  (void)initialized;
}

llvm::Error isobath::simulator::optimizeForNvptx(llvm::Module &module,
                                                 llvm::StringRef chip) {
  initializeTargets();
  std::string error;
  llvm::Triple triple = module.getTargetTriple();
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return makeError(error);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip, "", {}, {}));
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(chip))
    return makeError("given the chip " + chip + ", expected one as sm_90");
  module.setDataLayout(machine->createDataLayout());
  optimize(module, *machine);
  return llvm::Error::success();
}

static Expected<llvm::orc::JITTargetMachineBuilder> describeHost() {
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  // The instructions that these have for bf16 take subnormals for zeros, which
  // a GPU does not.
  for (llvm::StringRef feature : {"avx512bf16", "avxneconvert"})
    if (llvm::is_contained(host->getFeatures().getFeatures(),
                           ("+" + feature).str()))
      host->getFeatures().AddFeature(feature, false);
  return host;
}

static llvm::Error defineFunctions(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  for (auto [name, function] : getRuntimeFunctions())
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = jit.getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  // exp2f, memcpy and their like come from this process.
  auto exported =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit.getDataLayout().getGlobalPrefix());
  if (!exported)
    return exported.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*exported));
  return llvm::Error::success();
}

static llvm::Error lookUp(SimulatedModule &module) {
  for (const auto &entry : module.description.kernels) {
    auto address = module.jit->lookup(entry.getValue().entry);
    if (!address)
      return address.takeError();
    module.kernels[entry.getKey()] = {&module, entry.getKey().str(),
                                      entry.getValue(),
                                      address->toPtr<KernelEntry>()};
  }
  for (const RewrittenGlobal &variable : module.description.globals) {
    auto address = module.jit->lookup(variable.symbol);
    if (!address)
      return address.takeError();
    module.globals.push_back(address->toPtr<std::byte *>());
  }
  return llvm::Error::success();
}

Expected<std::unique_ptr<SimulatedModule>>
isobath::simulator::compileModule(const llvm::Module &given) {
  initializeTargets();
  auto host = describeHost();
  if (!host)
    return host.takeError();
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();
  // A copy in a context that the JIT owns.
  llvm::SmallVector<char> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(given, stream);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto copy = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef({bitcode.data(), bitcode.size()},
                            given.getModuleIdentifier()),
      *context);
  if (!copy)
    return copy.takeError();
  auto result = std::make_unique<SimulatedModule>();
  auto description = rewriteModule(**copy, **machine);
  if (!description)
    return description.takeError();
  result->description = std::move(*description);
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = false; // the threads are what is parallel
  options.SLPVectorization = false;
  optimize(**copy, **machine, options);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*host))
                 .create();
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);
  if (llvm::Error error = defineFunctions(*result->jit))
    return error;
  if (llvm::Error error = result->jit->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(*copy), std::move(context))))
    return error;
  if (llvm::Error error = lookUp(*result))
    return error;
  return result;
}
