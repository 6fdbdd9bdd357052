//===- CheckModule.cpp - What the simulator refuses -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that the simulator would run in another way than a GPU is worse than
// one that it does not run. So everything that is not known is an error, also
// what the host's backend could compile.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace isobath::simulator;

Error isobath::simulator::makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// `@function: `, with FILE:LINE:COLUMN in front if that is known.
static std::string describePlace(const Instruction &instruction) {
  std::string place;
  if (const DebugLoc &location = instruction.getDebugLoc())
    place = (location->getFilename() + ":" + Twine(location.getLine()) + ":" +
             Twine(location.getCol()) + ": ")
                .str();
  return place + "@" + instruction.getFunction()->getName().str() + ": ";
}

static Error makeErrorAt(const Instruction &instruction, const Twine &message) {
  return makeError(describePlace(instruction) + message);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Intrinsics that the NVPTX backend has instructions for only where the result
/// may be an approximation.
static bool needsApproximation(Intrinsic::ID id) {
  return is_contained(
      {Intrinsic::sin, Intrinsic::cos, Intrinsic::tanh, Intrinsic::log2}, id);
}

static bool isKnownGenericIntrinsic(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::abs:
  case Intrinsic::assume:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::canonicalize:
  case Intrinsic::ceil:
  case Intrinsic::copysign:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::dbg_assign:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_label:
  case Intrinsic::dbg_value:
  case Intrinsic::exp2:
  case Intrinsic::expect:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::is_fpclass:
  case Intrinsic::lifetime_end:
  case Intrinsic::lifetime_start:
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::maximum:
  case Intrinsic::maximumnum:
  case Intrinsic::maxnum:
  case Intrinsic::memcpy:
  case Intrinsic::memmove:
  case Intrinsic::memset:
  case Intrinsic::minimum:
  case Intrinsic::minimumnum:
  case Intrinsic::minnum:
  case Intrinsic::nearbyint:
  case Intrinsic::ptrmask:
  case Intrinsic::rint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::sadd_sat:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::scmp:
  case Intrinsic::sideeffect:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::sqrt:
  case Intrinsic::sshl_sat:
  case Intrinsic::ssub_sat:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::stackrestore:
  case Intrinsic::stacksave:
  case Intrinsic::trap:
  case Intrinsic::trunc:
  case Intrinsic::uadd_sat:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ucmp:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::ushl_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_reduce_add:
  case Intrinsic::vector_reduce_and:
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_mul:
  case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_smax:
  case Intrinsic::vector_reduce_smin:
  case Intrinsic::vector_reduce_umax:
  case Intrinsic::vector_reduce_umin:
  case Intrinsic::vector_reduce_xor:
    return true;
  default:
    return false;
  }
}

static Error checkIntrinsic(const CallInst &call, const Function &callee) {
  StringRef name = callee.getName();
  if (needsApproximation(callee.getIntrinsicID())) {
    auto *operation = dyn_cast<FPMathOperator>(&call);
    if (operation && operation->hasApproxFunc() &&
        call.getType()->getScalarType()->isFloatTy())
      return Error::success();
    return makeErrorAt(call, "given " + name +
                                 ", which NVPTX only has in f32 and with the "
                                 "flag afn");
  }
  bool known = name.starts_with("llvm.nvvm.")
                   ? isKnownIntrinsic(call)
                   : isKnownGenericIntrinsic(callee.getIntrinsicID());
  if (!known)
    return makeErrorAt(call, "given " + name +
                                 ", which the simulated device does not know");
  if (auto *masked = dyn_cast<VectorType>(callee.getIntrinsicID() ==
                                                  Intrinsic::masked_store
                                              ? call.getArgOperand(0)->getType()
                                              : call.getType());
      masked && name.starts_with("llvm.masked.") &&
      masked->getElementCount().getKnownMinValue() > 64)
    return makeErrorAt(call,
                       "given " + name + ", expected at most 64 elements");
  return Error::success();
}

static Error checkCall(const CallBase &call) {
  if (isa<InlineAsm>(call.getCalledOperand()))
    return makeErrorAt(
        call, "given inline assembly \"" +
                  cast<InlineAsm>(call.getCalledOperand())->getAsmString() +
                  "\", which the simulated device does not run");
  auto *direct = dyn_cast<CallInst>(&call);
  const Function *callee = call.getCalledFunction();
  if (!direct || !callee)
    return makeErrorAt(call, "given a call of a function that is not known "
                             "before the kernel runs");
  if (callee->getName().starts_with("llvm."))
    return checkIntrinsic(*direct, *callee);
  if (callee->isDeclaration() && !findLibdeviceFunction(callee->getName()))
    return makeErrorAt(call, "given a call of @" + callee->getName() +
                                 ", which is defined nowhere");
  return Error::success();
}

/// Whether the host would take a pointer of that type for another one.
static bool isUnknownSpace(const Type *type) {
  auto *pointer = dyn_cast<PointerType>(type->getScalarType());
  return pointer && !is_contained({0, 1, 3, 4, 5}, pointer->getAddressSpace());
}

static Error checkType(const Instruction &instruction, const Type *type) {
  if (type->isScalableTy())
    return makeErrorAt(instruction, "given a vector without a fixed length, "
                                    "which no NVIDIA GPU has");
  if (isUnknownSpace(type))
    return makeErrorAt(instruction, "given address space " +
                                        Twine(type->getPointerAddressSpace()) +
                                        ", expected 0, 1, 3, 4 or 5");
  return Error::success();
}

static Error checkVariableOfStack(const AllocaInst &variable) {
  constexpr std::uint64_t maxAlignment = 4096;
  const DataLayout &layout = variable.getModule()->getDataLayout();
  if (!variable.isStaticAlloca() || !variable.getAllocationSize(layout))
    return makeErrorAt(variable, "given a variable on the stack whose size is "
                                 "not known");
  if (variable.getAlign().value() > maxAlignment)
    return makeErrorAt(variable, "given a variable on the stack aligned to " +
                                     Twine(variable.getAlign().value()) +
                                     " bytes, expected at most " +
                                     Twine(maxAlignment));
  return Error::success();
}

static Error checkInstruction(const Instruction &instruction) {
  if (Error error = checkType(instruction, instruction.getType()))
    return error;
  for (const Value *operand : instruction.operands())
    if (Error error = checkType(instruction, operand->getType()))
      return error;
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return checkCall(*call);
  if (auto *variable = dyn_cast<AllocaInst>(&instruction)) {
    if (Error error = checkType(instruction, variable->getAllocatedType()))
      return error;
    return checkVariableOfStack(*variable);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Functions, variables
//===----------------------------------------------------------------------===//

static Error checkParameters(const Function &function) {
  for (const Argument &argument : function.args()) {
    if (argument.hasByValAttr())
      return makeError("@" + function.getName() + ": given parameter " +
                       Twine(argument.getArgNo()) +
                       " by value, expected numbers and pointers");
    Type *type = argument.getType();
    if (type->isPointerTy() && type->getPointerAddressSpace() > 1)
      return makeError("@" + function.getName() + ": given parameter " +
                       Twine(argument.getArgNo()) + " in address space " +
                       Twine(type->getPointerAddressSpace()) +
                       ", expected 0 or 1");
    if (!type->isPointerTy() && !type->isFloatingPointTy() &&
        !(type->isIntegerTy() && type->getIntegerBitWidth() <= 64)) {
      std::string text;
      raw_string_ostream(text) << *type;
      return makeError("@" + function.getName() + ": given parameter " +
                       Twine(argument.getArgNo()) + " of type " + text +
                       ", expected numbers and pointers");
    }
  }
  return Error::success();
}

static Error checkRecursion(const Module &module) {
  CallGraph graph(const_cast<Module &>(module));
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (const CallGraphNode *node : *scc)
        if (const Function *function = node->getFunction())
          return makeError("@" + function->getName() +
                           ": given a recursive function, which has no bound "
                           "on its stack");
  return Error::success();
}

static Error checkVariable(const GlobalVariable &variable) {
  constexpr unsigned shared = 3;
  if (variable.isDeclaration() && variable.getAddressSpace() != shared)
    return makeError("@" + variable.getName() +
                     ": given a variable that is defined nowhere");
  if (variable.isThreadLocal())
    return makeError("@" + variable.getName() +
                     ": given a thread-local variable");
  if (variable.getAddressSpace() != shared)
    return Error::success();
  // The address differs from block to block.
  SmallVector<const User *> users(variable.users());
  while (!users.empty()) {
    const User *user = users.pop_back_val();
    if (isa<GlobalValue>(user))
      return makeError("@" + variable.getName() +
                       ": given a use of its address in the value of @" +
                       user->getName() + ", expected uses in functions");
    if (isa<Constant>(user))
      users.append(user->user_begin(), user->user_end());
  }
  return Error::success();
}

Error isobath::simulator::checkModule(const Module &module) {
  if (!module.getTargetTriple().isNVPTX() ||
      !module.getTargetTriple().isArch64Bit())
    return makeError("given a module for " + module.getTargetTriple().str() +
                     ", expected nvptx64-nvidia-cuda");
  if (!module.getModuleInlineAsm().empty())
    return makeError("given inline assembly outside of functions, which the "
                     "simulated device does not run");
  for (const GlobalVariable &variable : module.globals())
    if (Error error = checkVariable(variable))
      return error;
  if (!module.alias_empty() || !module.ifunc_empty())
    return makeError("given an alias, expected functions and variables");
  for (const Function &function : module) {
    // Calls are changed, other uses could not be.
    for (const Use &use : function.uses())
      if (auto *call = dyn_cast<CallInst>(use.getUser());
          !call || !call->isCallee(&use))
        return makeError("@" + function.getName() +
                         ": given a use of its address, expected calls");
    if (function.getCallingConv() == CallingConv::PTX_Kernel &&
        !function.isDeclaration())
      if (Error error = checkParameters(function))
        return error;
    for (const Instruction &instruction : instructions(function))
      if (Error error = checkInstruction(instruction))
        return error;
  }
  return checkRecursion(module);
}

static std::uint64_t
countLocalBytes(const Function &function,
                DenseMap<const Function *, std::uint64_t> &known) {
  if (auto found = known.find(&function); found != known.end())
    return found->second;
  std::uint64_t own = 0, called = 0;
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (const Instruction &instruction : instructions(function)) {
    if (auto *variable = dyn_cast<AllocaInst>(&instruction))
      // With what aligning it may skip.
      own += variable->getAllocationSize(layout)->getFixedValue() +
             variable->getAlign().value();
    else if (auto *call = dyn_cast<CallInst>(&instruction))
      if (const Function *callee = call->getCalledFunction();
          callee && !callee->isDeclaration())
        called = std::max(called, countLocalBytes(*callee, known));
  }
  return known[&function] = own + called;
}

std::uint64_t isobath::simulator::countLocalBytes(const Function &function) {
  DenseMap<const Function *, std::uint64_t> known;
  return ::countLocalBytes(function, known);
}
