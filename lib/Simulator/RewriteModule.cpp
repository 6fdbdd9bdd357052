//===- RewriteModule.cpp - From NVPTX's IR to the host's ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code itself stays: pointers are pointers on both machines, whatever their
// address space (but for variables of shared memory, which each block has), and
// arithmetic is the same.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;
using namespace isobath::simulator;

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Whether an instruction may get a site. Others are not worth their text.
static bool mayHaveSite(const Instruction &instruction) {
  return instruction.mayReadOrWriteMemory() || instruction.isTerminator() ||
         instruction.isIntDivRem();
}

static std::string describeLocation(const Instruction &instruction,
                                    ModuleSlotTracker &slots) {
  if (const DebugLoc &location = instruction.getDebugLoc();
      location && location->getLine() != 0)
    return (location->getFilename() + ":" + Twine(location->getLine()) + ":" +
            Twine(location->getColumn()))
        .str();
  std::string text;
  raw_string_ostream stream(text);
  instruction.print(stream, slots);
  // Metadata says nothing to a reader.
  StringRef shown = StringRef(text).trim();
  shown = shown.substr(0, shown.find(", !"));
  return "@" + instruction.getFunction()->getName().str() + ": " + shown.str();
}

SiteNumbering::SiteNumbering(SiteTable &table, const Module &module)
    : table(table) {
  ModuleSlotTracker slots(&module);
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    slots.incorporateFunction(function);
    for (const Instruction &instruction : instructions(function))
      if (mayHaveSite(instruction))
        locations[&instruction] = describeLocation(instruction, slots);
  }
}

Site &SiteNumbering::add(const Instruction &instruction) {
  Site &site = table.emplace_back();
  site.location = locations.lookup(&instruction);
  return site;
}

ConstantInt *SiteNumbering::getNumber(LLVMContext &context) const {
  return ConstantInt::get(Type::getInt32Ty(context), table.size() - 1);
}

//===----------------------------------------------------------------------===//
// Calls of the simulator
//===----------------------------------------------------------------------===//

Value *isobath::simulator::getThread(const Instruction &instruction) {
  return const_cast<Function *>(instruction.getFunction())->getArg(0);
}

CallInst *isobath::simulator::callRuntime(IRBuilder<> &builder, StringRef name,
                                          Type *result,
                                          ArrayRef<Value *> arguments,
                                          bool watches) {
  SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  Module &module = *builder.GetInsertBlock()->getModule();
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(result, types, /*isVarArg=*/false));
  CallInst *call = builder.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  if (watches)
    call->setOnlyAccessesInaccessibleMemory();
  return call;
}

void isobath::simulator::markConvergent(CallInst &call) {
  call.setConvergent();
  call.addFnAttr(Attribute::NoMerge);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Moves the body of `function` to one that takes the thread first.
static Function *addThreadArgument(Function &function) {
  FunctionType *type = function.getFunctionType();
  SmallVector<Type *> types = {PointerType::get(function.getContext(), 0)};
  types.append(type->param_begin(), type->param_end());
  Function *changed = Function::Create(
      FunctionType::get(type->getReturnType(), types, /*isVarArg=*/false),
      GlobalValue::InternalLinkage, "", function.getParent());
  changed->takeName(&function);
  changed->splice(changed->end(), &function);
  // What the middle end found out about effects is no longer true.
  changed->setDoesNotThrow();
  changed->setConvergent();
  for (Argument &argument : function.args()) {
    Argument *moved = changed->getArg(argument.getArgNo() + 1);
    argument.replaceAllUsesWith(moved);
    moved->takeName(&argument);
  }
  return changed;
}

static void addThreadToCall(CallInst &call, Function &callee) {
  SmallVector<Value *> arguments = {getThread(call)};
  arguments.append(call.arg_begin(), call.arg_end());
  IRBuilder<> builder(&call);
  CallInst *changed = builder.CreateCall(&callee, arguments);
  changed->setConvergent();
  changed->takeName(&call);
  call.replaceAllUsesWith(changed);
  call.eraseFromParent();
}

void isobath::simulator::addThreadArguments(Module &module) {
  SmallVector<Function *> defined;
  for (Function &function : module)
    if (!function.isDeclaration())
      defined.push_back(&function);
  SmallVector<std::pair<Function *, Function *>> changed;
  for (Function *function : defined)
    changed.push_back({function, addThreadArgument(*function)});
  for (auto [old, function] : changed)
    for (User *user : make_early_inc_range(old->users()))
      addThreadToCall(*cast<CallInst>(user), *function);
  for (auto [old, function] : changed)
    old->eraseFromParent();
}

/// void(thread, arguments), which unpacks the arguments of `kernel`.
static void addEntry(Function &kernel, StringRef name) {
  LLVMContext &context = kernel.getContext();
  IRBuilder<> builder(context);
  Type *pointer = builder.getPtrTy();
  Function *entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false),
      GlobalValue::ExternalLinkage, name, kernel.getParent());
  builder.SetInsertPoint(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments = {entry->getArg(0)};
  for (Argument &argument : drop_begin(kernel.args())) {
    Value *slot = builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(1),
                                                     argument.getArgNo() - 1);
    arguments.push_back(builder.CreateLoad(argument.getType(),
                                           builder.CreateLoad(pointer, slot)));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
}

/// The numbers of an attribute such as "128,1,1".
static SmallVector<std::uint32_t> readSizes(const Function &function,
                                            StringRef attribute) {
  SmallVector<std::uint32_t> sizes;
  for (StringRef part :
       split(function.getFnAttribute(attribute).getValueAsString(), ',')) {
    std::uint32_t size;
    if (!part.trim().getAsInteger(10, size))
      sizes.push_back(size);
  }
  return sizes;
}

static RewrittenKernel describeKernel(const Function &function) {
  RewrittenKernel kernel;
  kernel.entry = ("isobath_entry_" + function.getName()).str();
  kernel.parameters = function.arg_size();
  kernel.localBytes = countLocalBytes(function);
  if (auto sizes = readSizes(function, "nvvm.maxntid"); !sizes.empty()) {
    kernel.maxThreads = 1;
    for (std::uint32_t size : sizes)
      kernel.maxThreads *= size;
  }
  auto required = readSizes(function, "nvvm.reqntid");
  required.resize(3, required.empty() ? 0 : 1);
  copy(required, kernel.requiredBlock);
  return kernel;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static void exportGlobals(Module &module, std::vector<RewrittenGlobal> &found) {
  for (GlobalVariable &variable : module.globals()) {
    variable.setName("isobath_global_" + variable.getName());
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setVisibility(GlobalValue::DefaultVisibility);
    found.push_back(
        {variable.getName().str(),
         module.getDataLayout().getTypeAllocSize(variable.getValueType()),
         variable.isConstant()});
  }
}

/// Names of functions must not be those that the host's code calls, such as
/// memcpy.
static void renameFunctions(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasInternalLinkage())
      continue;
    function.setName("isobath_function_" + function.getName());
    // A stack that overflows stops at the page below it.
    function.addFnAttr("probe-stack", "inline-asm");
  }
}

static void retarget(Module &module, TargetMachine &host) {
  StripDebugInfo(module);
  module.setTargetTriple(host.getTargetTriple());
  module.setDataLayout(host.createDataLayout());
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}

/// Removes llvm.used and the like, which are for linkers.
static void eraseSpecialVariables(Module &module) {
  for (GlobalVariable &variable : make_early_inc_range(module.globals()))
    if (variable.getName().starts_with("llvm."))
      variable.eraseFromParent();
}

Expected<RewrittenModule>
isobath::simulator::rewriteModule(Module &module, TargetMachine &host) {
  eraseSpecialVariables(module);
  if (Error error = checkModule(module))
    return error;
  RewrittenModule result;
  for (const Function &function : module) {
    if (function.getCallingConv() == CallingConv::PTX_Kernel &&
        !function.isDeclaration())
      result.kernels[function.getName()] = describeKernel(function);
    if (findLibdeviceFunction(function.getName()) && !function.use_empty())
      result.libdeviceFunctions.push_back(function.getName().str());
  }
  SiteNumbering sites(result.sites, module);
  addThreadArguments(module);
  instrumentAccesses(module, sites);
  lowerIntrinsics(module, sites);
  placeSharedVariables(module, result.kernels);
  exportGlobals(module, result.globals);
  for (const auto &kernel : result.kernels)
    addEntry(*module.getFunction(kernel.getKey()), kernel.getValue().entry);
  renameFunctions(module);
  retarget(module, host);
  std::string text;
  raw_string_ostream stream(text);
  if (verifyModule(module, &stream))
    return makeError("the rewritten module is broken: " + text);
  return result;
}
