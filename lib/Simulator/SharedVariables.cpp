//===- SharedVariables.cpp - Variables of shared memory -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every block has its own instance of them, in one buffer that its threads'
// states point to. The variables of dynamic shared memory, which have no size,
// all begin where the static ones end.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace isobath::simulator;

/// What the device aligns dynamic shared memory to, and no kernel asks for more
/// than.
static constexpr std::uint64_t dynamicAlignment = 128;

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

static void replaceVariable(GlobalVariable &variable, std::uint64_t offset) {
  convertUsersOfConstantsToInstructions({&variable});
  // One computation for each function, where it dominates every use.
  DenseMap<Function *, Value *> addresses;
  for (Use &use : make_early_inc_range(variable.uses())) {
    Function *function = getInsertionPoint(use)->getFunction();
    Value *&address = addresses[function];
    if (!address) {
      Instruction *first = &*function->getEntryBlock().getFirstInsertionPt();
      IRBuilder<> builder(first);
      Value *field = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), getThread(*first),
          offsetof(ThreadState, shared));
      Value *base = builder.CreateLoad(builder.getPtrTy(), field);
      address = builder.CreateAddrSpaceCast(
          builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset),
          variable.getType());
    }
    use.set(address);
  }
}

std::uint64_t isobath::simulator::placeSharedVariables(Module &module) {
  constexpr unsigned sharedSpace = 3;
  const DataLayout &layout = module.getDataLayout();
  SmallVector<GlobalVariable *> fixed, dynamic;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == sharedSpace)
      (isDynamic(variable) ? dynamic : fixed).push_back(&variable);
  std::uint64_t bytes = 0;
  for (GlobalVariable *variable : fixed) {
    Align alignment = variable->getAlign().value_or(
        layout.getABITypeAlign(variable->getValueType()));
    bytes = alignTo(bytes, alignment);
    replaceVariable(*variable, bytes);
    bytes += layout.getTypeAllocSize(variable->getValueType());
  }
  if (!dynamic.empty())
    bytes = alignTo(bytes, dynamicAlignment);
  for (GlobalVariable *variable : dynamic)
    replaceVariable(*variable, bytes);
  for (GlobalVariable *variable : concat<GlobalVariable *>(fixed, dynamic))
    variable->eraseFromParent();
  return bytes;
}
