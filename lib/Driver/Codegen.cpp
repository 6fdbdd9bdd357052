//===- Codegen.cpp - From LLVM's dialect to machine code ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Codegen.h"
#include "isobath/Support/Optimize.h"
#include "isobath/runtime/abi.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/SplitModule.h"
#include <optional>

using namespace isobath;
using llvm::Expected;

static void initializeTargets() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  (void)initialized;
}

static Expected<CodeTarget> describeNativeTarget() {
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  CodeTarget target{std::move(*machine), {}};
  for (llvm::StringRef feature : target.machine.getFeatures().getFeatures())
    if (feature.consume_front("+"))
      target.features.push_back(feature.str());
  return target;
}

/// Armv8-A with Neon, which every 64-bit Arm processor runs. Processors with
/// more are not offered, since the runtime has no way to look for it.
static CodeTarget describeAArch64() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  if (!triple.isAArch64())
    triple = llvm::Triple("aarch64-unknown-linux-gnu");
  CodeTarget target{llvm::orc::JITTargetMachineBuilder(triple), {}};
  target.machine.setCPU("generic");
  return target;
}

static Expected<CodeTarget> describeX86(llvm::StringRef cpu) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  if (!triple.isX86())
    triple = llvm::Triple("x86_64-unknown-linux-gnu");
  if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None)
    return llvm::createStringError(
        "cpu: given '" + cpu +
        "', expected native, aarch64, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 "
        "or an x86 processor that LLVM knows (haswell, znver4, …)");
  CodeTarget target{llvm::orc::JITTargetMachineBuilder(triple), {}};
  target.machine.setCPU(cpu.str());
  llvm::SmallVector<llvm::StringRef> features;
  llvm::X86::getFeaturesForCPU(cpu, features);
  for (llvm::StringRef feature : features)
    target.features.push_back(feature.str());
  return target;
}

static Expected<CodeTarget> describeNamedTarget(llvm::StringRef cpu) {
  if (cpu == "aarch64")
    return describeAArch64();
  return describeX86(cpu);
}

bool CodeTarget::isOfHost() const {
  return machine.getTargetTriple().getArch() ==
         llvm::Triple(llvm::sys::getProcessTriple()).getArch();
}

Expected<CodeTarget> isobath::describeTarget(llvm::StringRef cpu) {
  initializeTargets();
  auto target =
      cpu == nativeCpu ? describeNativeTarget() : describeNamedTarget(cpu);
  if (target)
    target->machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default)
        .setRelocationModel(llvm::Reloc::PIC_)
        .setCodeModel(llvm::CodeModel::Small);
  return target;
}

/// Translates for `machine`.
static Expected<std::unique_ptr<llvm::Module>>
translateFor(llvm::TargetMachine &machine, mlir::ModuleOp module,
             llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return llvm::createStringError(
        "the compiled program cannot be translated to LLVM IR");
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  return code;
}

Expected<std::unique_ptr<llvm::Module>>
isobath::translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                         CodeTarget &target) {
  auto machine = target.machine.createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto code = translateFor(**machine, module, context);
  if (code)
    optimize(**code, **machine);
  return code;
}

/// The object of `code`, which is optimised.
static Expected<std::string> emitObject(llvm::Module &code,
                                        llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("LLVM cannot write objects for " +
                                   machine.getTargetTriple().str());
  passes.run(code);
  return std::string(object.begin(), object.end());
}

Expected<std::string> isobath::compileToObject(mlir::ModuleOp module,
                                               CodeTarget &target) {
  auto machine = target.machine.createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto code = translateFor(**machine, module, context);
  if (!code)
    return code.takeError();
  optimize(**code, **machine);
  // Kernels of several units in one program must not clash. After the
  // optimiser, which so sees the same module as for a JIT.
  llvm::internalizeModule(**code, [](const llvm::GlobalValue &value) {
    return value.getName() == ISOBATH_UNIT_SYMBOL;
  });
  return emitObject(**code, **machine);
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

/// Parts of a program, as bitcode: contexts are not for several threads, so
/// each part is read into one of its own.
static std::vector<std::string> splitIntoBitcode(llvm::Module &code,
                                                 unsigned parts) {
  std::vector<std::string> bitcode;
  auto add = [&](std::unique_ptr<llvm::Module> part) {
    llvm::raw_string_ostream stream(bitcode.emplace_back());
    llvm::WriteBitcodeToFile(*part, stream);
  };
  llvm::SplitModule(code, parts, add);
  return bitcode;
}

static Expected<std::string> compileBitcode(llvm::StringRef bitcode,
                                            CodeTarget &target) {
  auto machine = target.machine.createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto code = llvm::parseBitcodeFile({bitcode, "part"}, context);
  if (!code)
    return code.takeError();
  optimize(**code, **machine);
  return emitObject(**code, **machine);
}

Expected<std::string> isobath::compileToArchive(mlir::ModuleOp module,
                                                CodeTarget &target) {
  auto machine = target.machine.createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto code = translateFor(**machine, module, context);
  if (!code)
    return code.takeError();
  // More than most machines have processors, so that they end together; and not
  // by the number of those, lest it changed the code.
  constexpr unsigned parts = 12;
  std::vector<std::string> bitcode = splitIntoBitcode(**code, parts);
  std::vector<std::optional<Expected<std::string>>> objects(bitcode.size());
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
    for (size_t i = 0; i < bitcode.size(); ++i)
      pool.async([&, i, own = target]() mutable {
        objects[i].emplace(compileBitcode(bitcode[i], own));
      });
  }
  llvm::Error error = llvm::Error::success();
  std::vector<llvm::NewArchiveMember> members;
  for (std::optional<Expected<std::string>> &object : objects) {
    if (*object)
      members.emplace_back(llvm::MemoryBufferRef(**object, "part"));
    else
      error = llvm::joinErrors(std::move(error), object->takeError());
  }
  if (error)
    return error;
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return (*archive)->getBuffer().str();
}
