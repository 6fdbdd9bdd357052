//===- InstrumentAccesses.cpp - Calls where memory is used ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The call comes before the access, so that what would touch memory of the
// simulator itself does not happen. Variables on a thread's own stack are not
// watched. Loops have a call as well: one that never ends is noticed there.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace isobath::simulator;

/// No instruction accesses more at once.
static constexpr std::uint64_t maxPieceBytes = 16;

namespace {
/// Adds the calls for the accesses of one instruction.
class Instrumenter : public InstVisitor<Instrumenter> {
public:
  Instrumenter(SiteNumbering &sites, const DataLayout &layout)
      : sites(sites), layout(layout) {}

  void visitLoadInst(LoadInst &load) {
    Align align = watch(load, load.getPointerOperand(), AccessKind::Load,
                        load.getType(), load.getAlign());
    load.setAlignment(align);
  }

  void visitStoreInst(StoreInst &store) {
    Align align = watch(store, store.getPointerOperand(), AccessKind::Store,
                        store.getValueOperand()->getType(), store.getAlign());
    store.setAlignment(align);
  }

  void visitAtomicRMWInst(AtomicRMWInst &atomic) {
    watch(atomic, atomic.getPointerOperand(), AccessKind::Atomic,
          atomic.getType(), atomic.getAlign());
  }

  void visitAtomicCmpXchgInst(AtomicCmpXchgInst &atomic) {
    watch(atomic, atomic.getPointerOperand(), AccessKind::Atomic,
          atomic.getNewValOperand()->getType(), atomic.getAlign());
  }

  void visitIntrinsicInst(IntrinsicInst &call) {
    if (call.getIntrinsicID() == Intrinsic::masked_load)
      watchMasked(call, AccessKind::Load, 0, 1, call.getType());
    else if (call.getIntrinsicID() == Intrinsic::masked_store)
      watchMasked(call, AccessKind::Store, 1, 2,
                  call.getArgOperand(0)->getType());
  }

  void visitMemSetInst(MemSetInst &fill) {
    watchRange(fill, fill.getRawDest(), AccessKind::Store,
               fill.getDestAlign().valueOrOne());
  }

  void visitMemTransferInst(MemTransferInst &copy) {
    watchRange(copy, copy.getRawSource(), AccessKind::Load,
               copy.getSourceAlign().valueOrOne());
    watchRange(copy, copy.getRawDest(), AccessKind::Store,
               copy.getDestAlign().valueOrOne());
  }

private:
  static bool isOwn(const Value *pointer) {
    constexpr unsigned localSpace = 5;
    return pointer->getType()->getPointerAddressSpace() == localSpace ||
           isa<AllocaInst>(getUnderlyingObject(pointer));
  }

  static Value *toGeneric(IRBuilder<> &builder, Value *pointer) {
    return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
  }

  /// Returns the alignment that is checked: the host's code must not rely on
  /// more.
  Align watch(Instruction &instruction, Value *pointer, AccessKind kind,
              Type *type, Align align) {
    if (isOwn(pointer))
      return align;
    std::uint64_t bytes = layout.getTypeStoreSize(type);
    Site &site = sites.add(instruction);
    site.kind = kind;
    site.bytes = bytes;
    site.pieceBytes = std::min(
        {maxPieceBytes, std::uint64_t(align.value()), PowerOf2Ceil(bytes)});
    site.alignment = site.pieceBytes;
    IRBuilder<> builder(&instruction);
    callRuntime(builder, functions::access, builder.getVoidTy(),
                {getThread(instruction), toGeneric(builder, pointer),
                 sites.getNumber(builder.getContext())},
                /*watches=*/true);
    return Align(site.pieceBytes);
  }

  void watchMasked(IntrinsicInst &call, AccessKind kind, unsigned pointerIndex,
                   unsigned maskIndex, Type *type) {
    Value *pointer = call.getArgOperand(pointerIndex);
    if (isOwn(pointer))
      return;
    auto *vector = cast<FixedVectorType>(type);
    std::uint64_t elementBytes =
        layout.getTypeStoreSize(vector->getElementType());
    Site &site = sites.add(call);
    site.kind = kind;
    site.bytes = elementBytes * vector->getNumElements();
    // The backend makes a branch of every element.
    site.pieceBytes = elementBytes;
    site.alignment = std::min(
        elementBytes,
        std::uint64_t(call.getParamAlign(pointerIndex).valueOrOne().value()));
    IRBuilder<> builder(&call);
    Value *bits =
        builder.CreateBitCast(call.getArgOperand(maskIndex),
                              builder.getIntNTy(vector->getNumElements()));
    callRuntime(builder, functions::maskedAccess, builder.getVoidTy(),
                {getThread(call), toGeneric(builder, pointer),
                 builder.CreateZExt(bits, builder.getInt64Ty()),
                 sites.getNumber(builder.getContext())},
                /*watches=*/true);
    call.removeParamAttr(pointerIndex, Attribute::Alignment);
    call.addParamAttr(
        pointerIndex,
        Attribute::getWithAlignment(call.getContext(), Align(site.alignment)));
  }

  void watchRange(MemIntrinsic &call, Value *pointer, AccessKind kind,
                  Align align) {
    if (isOwn(pointer))
      return;
    Site &site = sites.add(call);
    site.kind = kind;
    site.pieceBytes = std::min(maxPieceBytes, std::uint64_t(align.value()));
    site.alignment = site.pieceBytes;
    IRBuilder<> builder(&call);
    callRuntime(builder, functions::rangeAccess, builder.getVoidTy(),
                {getThread(call), toGeneric(builder, pointer),
                 builder.CreateZExt(call.getLength(), builder.getInt64Ty()),
                 sites.getNumber(builder.getContext())},
                /*watches=*/true);
  }

  SiteNumbering &sites;
  const DataLayout &layout;
};
} // namespace

static void watchLoops(Function &function, SiteNumbering &sites) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    BasicBlock *header = loop->getHeader();
    sites.add(*header->getTerminator());
    IRBuilder<> builder(&*header->getFirstInsertionPt());
    callRuntime(builder, functions::iteration, builder.getVoidTy(),
                {function.getArg(0), sites.getNumber(builder.getContext())});
  }
}

void isobath::simulator::instrumentAccesses(Module &module,
                                            SiteNumbering &sites) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    watchLoops(function, sites);
    Instrumenter instrumenter(sites, module.getDataLayout());
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      instrumenter.visit(instruction);
  }
}
