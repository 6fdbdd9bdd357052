//===- InstrumentAccesses.cpp - Calls where memory is used ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The call comes before the access, so that what would touch memory of the
// simulator itself does not happen. Variables on a thread's own stack are
// watched for their bounds alone. Loops have a call as well: one that never
// ends is noticed there.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

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
    load.setMetadata(LLVMContext::MD_align, nullptr);
  }

  void visitStoreInst(StoreInst &store) {
    Align align = watch(store, store.getPointerOperand(), AccessKind::Store,
                        store.getValueOperand()->getType(), store.getAlign());
    store.setAlignment(align);
  }

  void visitAtomicRMWInst(AtomicRMWInst &atomic) {
    atomic.setAlignment(watch(atomic, atomic.getPointerOperand(),
                              AccessKind::Atomic, atomic.getType(),
                              atomic.getAlign()));
  }

  void visitAtomicCmpXchgInst(AtomicCmpXchgInst &atomic) {
    atomic.setAlignment(
        watch(atomic, atomic.getPointerOperand(), AccessKind::Atomic,
              atomic.getNewValOperand()->getType(), atomic.getAlign()));
  }

  void visitIntrinsicInst(IntrinsicInst &call) {
    if (call.getIntrinsicID() == Intrinsic::masked_load)
      watchMasked(call, AccessKind::Load, 0, 1, call.getType());
    else if (call.getIntrinsicID() == Intrinsic::masked_store)
      watchMasked(call, AccessKind::Store, 1, 2,
                  call.getArgOperand(0)->getType());
    else if (call.getIntrinsicID() == Intrinsic::assume)
      // Nothing has checked it.
      call.eraseFromParent();
  }

  void visitBinaryOperator(BinaryOperator &operation) {
    if (operation.isIntDivRem())
      watchDivision(operation);
  }

  void visitMemSetInst(MemSetInst &fill) {
    fill.setDestAlignment(watchRange(fill, fill.getRawDest(), AccessKind::Store,
                                     fill.getDestAlign().valueOrOne()));
  }

  void visitMemTransferInst(MemTransferInst &copy) {
    copy.setSourceAlignment(watchRange(copy, copy.getRawSource(),
                                       AccessKind::Load,
                                       copy.getSourceAlign().valueOrOne()));
    copy.setDestAlignment(watchRange(copy, copy.getRawDest(), AccessKind::Store,
                                     copy.getDestAlign().valueOrOne()));
  }

private:
  /// The variable of the stack that `pointer` was computed from, if known.
  static AllocaInst *getVariable(Value *pointer) {
    return dyn_cast<AllocaInst>(getUnderlyingObject(pointer, /*MaxLookup=*/0));
  }

  /// Whether `bytes` bytes at `pointer` certainly lie in `variable`.
  bool isInside(Value *pointer, AllocaInst &variable, Value *bytes) const {
    APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    auto *count = dyn_cast<ConstantInt>(bytes);
    return count &&
           pointer->stripAndAccumulateConstantOffsets(
               layout, offset, /*AllowNonInbounds=*/true) == &variable &&
           offset.isNonNegative() &&
           offset.getZExtValue() <= getBytes(variable) &&
           count->getZExtValue() <= getBytes(variable) - offset.getZExtValue();
  }

  std::uint64_t getBytes(const AllocaInst &variable) const {
    return variable.getAllocationSize(layout)->getFixedValue();
  }

  void watchLocal(Instruction &instruction, Value *pointer,
                  AllocaInst &variable, AccessKind kind, Value *bytes) {
    if (isInside(pointer, variable, bytes))
      return;
    sites.add(instruction).kind = kind;
    IRBuilder<> builder(&instruction);
    callRuntime(builder, functions::localAccess, builder.getVoidTy(),
                {getThread(instruction), toGeneric(builder, pointer),
                 toGeneric(builder, &variable),
                 builder.getInt64(getBytes(variable)), bytes,
                 sites.getNumber(builder.getContext())},
                /*watches=*/true);
  }

  /// The quotient must be defined in every element.
  void watchDivision(BinaryOperator &operation) {
    using namespace PatternMatch;
    Value *numerator = operation.getOperand(0);
    Value *divisor = operation.getOperand(1);
    bool isSigned = operation.getOpcode() == Instruction::SDiv ||
                    operation.getOpcode() == Instruction::SRem;
    const APInt *constant;
    if (match(divisor, m_APInt(constant)) && !constant->isZero() &&
        !(isSigned && constant->isAllOnes()))
      return;
    sites.add(operation);
    IRBuilder<> builder(&operation);
    Type *type = operation.getType();
    Value *undefined = builder.CreateIsNull(divisor);
    if (isSigned) {
      Value *least = ConstantInt::get(
          type, APInt::getSignedMinValue(type->getScalarSizeInBits()));
      Value *overflows = builder.CreateAnd(
          builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)),
          builder.CreateICmpEQ(numerator, least));
      undefined = builder.CreateOr(undefined, overflows);
    }
    if (type->isVectorTy())
      undefined = builder.CreateOrReduce(undefined);
    callRuntime(builder, functions::division, builder.getVoidTy(),
                {getThread(operation),
                 builder.CreateZExt(undefined, builder.getInt32Ty()),
                 sites.getNumber(builder.getContext())},
                /*watches=*/true);
  }

  static Value *toGeneric(IRBuilder<> &builder, Value *pointer) {
    return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
  }

  /// Returns the alignment that is checked: the host's code must not rely on
  /// more.
  Align watch(Instruction &instruction, Value *pointer, AccessKind kind,
              Type *type, Align align) {
    std::uint64_t bytes = layout.getTypeStoreSize(type);
    if (bytes == 0)
      return align;
    if (AllocaInst *variable = getVariable(pointer)) {
      watchLocal(
          instruction, pointer, *variable, kind,
          ConstantInt::get(Type::getInt64Ty(instruction.getContext()), bytes));
      return align;
    }
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

  /// Returns the alignment that is checked.
  Align watchRange(MemIntrinsic &call, Value *pointer, AccessKind kind,
                   Align align) {
    if (AllocaInst *variable = getVariable(pointer)) {
      IRBuilder<> builder(&call);
      watchLocal(call, pointer, *variable, kind,
                 builder.CreateZExt(call.getLength(), builder.getInt64Ty()));
      return align;
    }
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
    return Align(site.pieceBytes);
  }

  SiteNumbering &sites;
  const DataLayout &layout;
};
} // namespace

static void watchLoops(Function &function, SiteNumbering &sites) {
  // Every cycle has an edge back in a depth-first search, also one that is
  // entered at several places.
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  SetVector<BasicBlock *> headers;
  for (auto [from, to] : edges)
    headers.insert(const_cast<BasicBlock *>(to));
  for (BasicBlock *header : headers) {
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
