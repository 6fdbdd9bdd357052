//===- SharedVariables.cpp - Variables of shared memory -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every block has its own instance of them, in one buffer that its threads'
// states point to. Variables that no kernel uses both of may lie in one place,
// so that a kernel needs as many bytes as on a GPU. Dynamic shared memory,
// whose variables have no size, begins where the static one of the kernel ends.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace isobath::simulator;

static bool isDynamic(const GlobalVariable &variable) {
  return variable.isDeclaration() ||
         variable.getParent()->getDataLayout().getTypeAllocSize(
             variable.getValueType()) == 0;
}

/// Where a use needs its operand: for phis in the block that it comes from.
static Instruction *getInsertionPoint(Use &use) {
  auto *user = cast<Instruction>(use.getUser());
  if (auto *phi = dyn_cast<PHINode>(user))
    return phi->getIncomingBlock(use)->getTerminator();
  return user;
}

/// Makes `variable` the field `base` of the ThreadState plus `offset`.
static void replaceVariable(GlobalVariable &variable, std::size_t base,
                            std::uint64_t offset) {
  // One computation for each function, where it dominates every use.
  DenseMap<Function *, Value *> addresses;
  for (Use &use : make_early_inc_range(variable.uses())) {
    Function *function = getInsertionPoint(use)->getFunction();
    Value *&address = addresses[function];
    if (!address) {
      Instruction *first = &*function->getEntryBlock().getFirstInsertionPt();
      IRBuilder<> builder(first);
      Value *field = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), getThread(*first), base);
      Value *start = builder.CreateLoad(builder.getPtrTy(), field);
      address =
          builder.CreateAddrSpaceCast(builder.CreateConstInBoundsGEP1_64(
                                          builder.getInt8Ty(), start, offset),
                                      variable.getType());
    }
    use.set(address);
  }
}

namespace {
using Kernels = SmallPtrSet<const Function *, 4>;

/// Which kernels come to a function.
class Callers {
public:
  explicit Callers(ArrayRef<const Function *> kernels) {
    for (const Function *kernel : kernels)
      visit(*kernel, kernel);
  }
  const Kernels &of(const Function &function) { return known[&function]; }

private:
  void visit(const Function &function, const Function *kernel) {
    if (!known[&function].insert(kernel).second)
      return;
    for (const Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (const Function *callee = call->getCalledFunction())
          visit(*callee, kernel);
  }

  DenseMap<const Function *, Kernels> known;
};

/// Gives places to variables, and keeps the ends of what kernels use.
class Layout {
public:
  explicit Layout(Callers &callers) : callers(callers) {}

  std::uint64_t place(const GlobalVariable &variable, std::uint64_t bytes,
                      Align alignment) {
    Kernels users;
    for (const User *user : variable.users())
      users.insert_range(callers.of(*cast<Instruction>(user)->getFunction()));
    std::uint64_t offset = 0;
    for (const Function *kernel : users)
      offset = std::max(offset, ends[kernel]);
    offset = alignTo(offset, alignment);
    for (const Function *kernel : users)
      ends[kernel] = offset + bytes;
    return offset;
  }
  std::uint64_t getEnd(const Function *kernel) { return ends[kernel]; }

private:
  Callers &callers;
  DenseMap<const Function *, std::uint64_t> ends;
};
} // namespace

void isobath::simulator::placeSharedVariables(
    Module &module, StringMap<RewrittenKernel> &kernels) {
  constexpr unsigned sharedSpace = 3;
  const DataLayout &layout = module.getDataLayout();
  SmallVector<GlobalVariable *> variables;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == sharedSpace)
      variables.push_back(&variable);
  SmallVector<const Function *> functions;
  for (const auto &kernel : kernels)
    functions.push_back(module.getFunction(kernel.getKey()));
  Callers callers(functions);
  Layout places(callers);
  for (GlobalVariable *variable : variables) {
    convertUsersOfConstantsToInstructions({variable});
    if (isDynamic(*variable)) {
      replaceVariable(*variable, offsetof(ThreadState, dynamicShared), 0);
      continue;
    }
    Align alignment = variable->getAlign().value_or(
        layout.getABITypeAlign(variable->getValueType()));
    std::uint64_t offset = places.place(
        *variable, layout.getTypeAllocSize(variable->getValueType()),
        alignment);
    replaceVariable(*variable, offsetof(ThreadState, shared), offset);
  }
  for (GlobalVariable *variable : variables)
    variable->eraseFromParent();
  for (auto &kernel : kernels)
    kernel.getValue().staticSharedBytes =
        places.getEnd(module.getFunction(kernel.getKey()));
}
