//===- LowerIntrinsics.cpp - What threads do together ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table from the names of llvm.nvvm intrinsics to what replaces their calls:
// special registers become loads from the thread's state, barriers, operations
// of warps and asynchronous copies become calls of the simulator. Those that
// compute a number are in MathRules.cpp.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace isobath::simulator;

namespace {
/// What replaces a call: `builder` stands in front of it. The value may be null
/// if the call has no result.
using Rule = std::function<Value *(IRBuilder<> &, CallInst &, SiteNumbering &)>;
using Rules = StringMap<Rule>;
} // namespace

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static Rule readField(std::size_t offset) {
  return [offset](IRBuilder<> &builder, CallInst &call, SiteNumbering &) {
    Value *field = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                      getThread(call), offset);
    LoadInst *load = builder.CreateLoad(call.getType(), field);
    load->setMetadata(LLVMContext::MD_invariant_load,
                      MDNode::get(builder.getContext(), {}));
    return load;
  };
}

static void addRegisters(Rules &rules) {
  auto add = [&](const Twine &name, std::size_t offset) {
    rules[("read.ptx.sreg." + name).str()] = readField(offset);
  };
  for (unsigned i = 0; i < 3; ++i) {
    StringRef axis = StringRef("xyz").substr(i, 1);
    auto at = [i](std::size_t offset) { return offset + i * 4; };
    add("tid." + axis, at(offsetof(ThreadState, threadId)));
    add("ntid." + axis, at(offsetof(ThreadState, blockSize)));
    add("ctaid." + axis, at(offsetof(ThreadState, blockId)));
    add("nctaid." + axis, at(offsetof(ThreadState, gridSize)));
  }
  add("laneid", offsetof(ThreadState, lane));
  add("warpid", offsetof(ThreadState, warp));
  add("nwarpid", offsetof(ThreadState, warps));
  add("smid", offsetof(ThreadState, zero));
  add("nsmid", offsetof(ThreadState, one));
  add("gridid", offsetof(ThreadState, zero));
  add("lanemask.eq", offsetof(ThreadState, laneMaskEqual));
  add("lanemask.lt", offsetof(ThreadState, laneMaskLess));
  add("lanemask.le", offsetof(ThreadState, laneMaskLessEqual));
  add("lanemask.gt", offsetof(ThreadState, laneMaskGreater));
  add("lanemask.ge", offsetof(ThreadState, laneMaskGreaterEqual));
  add("total_smem_size", offsetof(ThreadState, sharedBytes));
  add("dynamic_smem_size", offsetof(ThreadState, dynamicSharedBytes));
  rules["read.ptx.sreg.warpsize"] = [](IRBuilder<> &builder, CallInst &,
                                       SiteNumbering &) {
    return builder.getInt32(warpSize);
  };
}

//===----------------------------------------------------------------------===//
// Operations of warps
//===----------------------------------------------------------------------===//

/// The array that operands and results of a function's warp operations share.
static AllocaInst *getWords(Function &function) {
  static constexpr char name[] = "isobath.warp.words";
  for (Instruction &instruction : function.getEntryBlock())
    if (instruction.getName() == name)
      return cast<AllocaInst>(&instruction);
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  return builder.CreateAlloca(
      ArrayType::get(builder.getInt32Ty(), maxWarpWords), nullptr, name);
}

static Value *getWordAddress(IRBuilder<> &builder, AllocaInst *words,
                             unsigned index) {
  return builder.CreateConstInBoundsGEP2_32(words->getAllocatedType(), words, 0,
                                            index);
}

/// Stores `value` from word `index` on and returns the index after it.
static unsigned storeWords(IRBuilder<> &builder, AllocaInst *words,
                           unsigned index, Value *value) {
  if (value->getType()->isPointerTy())
    value = builder.CreatePtrToInt(
        builder.CreateAddrSpaceCast(value, builder.getPtrTy()),
        builder.getInt64Ty());
  if (value->getType()->isIntegerTy(1))
    value = builder.CreateZExt(value, builder.getInt32Ty());
  builder.CreateAlignedStore(value, getWordAddress(builder, words, index),
                             Align(4));
  return index + value->getType()->getPrimitiveSizeInBits() / 32;
}

static Value *loadWord(IRBuilder<> &builder, AllocaInst *words, unsigned index,
                       Type *type) {
  Value *address = getWordAddress(builder, words, index);
  if (!type->isIntegerTy(1))
    return builder.CreateAlignedLoad(type, address, Align(4));
  Value *word = builder.CreateLoad(builder.getInt32Ty(), address);
  return builder.CreateICmpNE(word, builder.getInt32(0));
}

/// The operation on `operands` in the lanes of `mask`, with the results that
/// the call has.
static Value *emitWarpOperation(IRBuilder<> &builder, CallInst &call,
                                SiteNumbering &sites, WarpOperation operation,
                                Value *mask, ArrayRef<Value *> operands) {
  AllocaInst *words = getWords(*call.getFunction());
  unsigned index = 0;
  for (Value *operand : operands)
    index = storeWords(builder, words, index, operand);
  Site &site = sites.add(call);
  site.bytes = site.pieceBytes = site.alignment = 16; // of ldmatrix
  CallInst *done = callRuntime(
      builder, functions::warpOperation, builder.getVoidTy(),
      {getThread(call), sites.getNumber(builder.getContext()),
       builder.getInt32(static_cast<std::uint32_t>(operation)), mask, words});
  markConvergent(*done);
  Type *type = call.getType();
  if (type->isVoidTy())
    return nullptr;
  auto *structure = dyn_cast<StructType>(type);
  if (!structure)
    return loadWord(builder, words, 0, type);
  Value *result = PoisonValue::get(type);
  for (unsigned i = 0; i < structure->getNumElements(); ++i)
    result = builder.CreateInsertValue(
        result, loadWord(builder, words, i, structure->getElementType(i)), i);
  return result;
}

/// Operands of the call in another order: the mask's index, then the others.
static Rule makeWarpRule(WarpOperation operation, unsigned maskIndex,
                         SmallVector<unsigned, 3> operandIndices) {
  return [=](IRBuilder<> &builder, CallInst &call, SiteNumbering &sites) {
    SmallVector<Value *> operands;
    for (unsigned index : operandIndices)
      operands.push_back(call.getArgOperand(index));
    if (operation == WarpOperation::MatchAny ||
        operation == WarpOperation::MatchAll)
      operands[0] = builder.CreateZExt(operands[0], builder.getInt64Ty());
    return emitWarpOperation(builder, call, sites, operation,
                             call.getArgOperand(maskIndex), operands);
  };
}

/// Matrix operations are those of the whole warp.
static Rule makeMatrixRule(WarpOperation operation) {
  return [=](IRBuilder<> &builder, CallInst &call, SiteNumbering &sites) {
    return emitWarpOperation(builder, call, sites, operation,
                             builder.getInt32(~0u),
                             SmallVector<Value *>(call.args()));
  };
}

static void addWarpOperations(Rules &rules) {
  using enum WarpOperation;
  for (auto [mode, operation] : {std::pair{"up", ShuffleUp},
                                 {"down", ShuffleDown},
                                 {"bfly", ShuffleButterfly},
                                 {"idx", ShuffleIndex}})
    for (StringRef type : {"i32", "f32", "i32p", "f32p"})
      rules[("shfl.sync." + Twine(mode) + "." + type).str()] =
          makeWarpRule(operation, 0, {1, 2, 3});
  for (auto [mode, operation] : {std::pair{"all", VoteAll},
                                 {"any", VoteAny},
                                 {"uni", VoteUniform},
                                 {"ballot", VoteBallot}})
    rules[("vote." + Twine(mode) + ".sync").str()] =
        makeWarpRule(operation, 0, {1});
  for (StringRef type : {"i32", "i64"}) {
    rules[("match.any.sync." + type).str()] = makeWarpRule(MatchAny, 0, {1});
    rules[("match.all.sync." + type + "p").str()] =
        makeWarpRule(MatchAll, 0, {1});
  }
  rules["elect.sync"] = makeWarpRule(Elect, 0, {});
  for (auto [name, operation] : {std::pair{"add", ReduceAdd},
                                 {"min", ReduceMin},
                                 {"max", ReduceMax},
                                 {"umin", ReduceUnsignedMin},
                                 {"umax", ReduceUnsignedMax},
                                 {"and", ReduceAnd},
                                 {"or", ReduceOr},
                                 {"xor", ReduceXor}})
    rules[("redux.sync." + Twine(name)).str()] =
        makeWarpRule(operation, 1, {0});
  rules["bar.warp.sync"] = makeWarpRule(Synchronize, 0, {});
  rules["activemask"] = makeMatrixRule(ActiveMask);
  for (auto [name, operation] : {std::pair{"x1", LoadMatrix1},
                                 {"x2", LoadMatrix2},
                                 {"x4", LoadMatrix4},
                                 {"x1.trans", LoadMatrixTransposed1},
                                 {"x2.trans", LoadMatrixTransposed2},
                                 {"x4.trans", LoadMatrixTransposed4}})
    rules[("ldmatrix.sync.aligned.m8n8." + Twine(name) + ".b16").str()] =
        makeMatrixRule(operation);
  rules["mma.m16n8k16.row.col.bf16"] = makeMatrixRule(MultiplyBf16);
  rules["mma.m16n8k16.row.col.f32.f32"] = makeMatrixRule(MultiplyF16);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static Rule makeBarrierRule(BarrierKind kind, bool aligned, bool counted) {
  return [=](IRBuilder<> &builder, CallInst &call,
             SiteNumbering &sites) -> Value * {
    unsigned next = 1;
    Value *count = counted ? call.getArgOperand(next++) : builder.getInt32(0);
    Value *predicate =
        next < call.arg_size()
            ? builder.CreateZExt(call.getArgOperand(next), builder.getInt32Ty())
            : builder.getInt32(0);
    sites.add(call).aligned = aligned;
    CallInst *result = callRuntime(
        builder, functions::barrier, builder.getInt32Ty(),
        {getThread(call), sites.getNumber(builder.getContext()),
         call.getArgOperand(0), count,
         builder.getInt32(static_cast<std::uint32_t>(kind)), predicate});
    markConvergent(*result);
    if (call.getType()->isVoidTy())
      return nullptr;
    if (call.getType()->isIntegerTy(1))
      return builder.CreateICmpNE(result, builder.getInt32(0));
    return result;
  };
}

static void addBarriers(Rules &rules) {
  using enum BarrierKind;
  for (auto [name, kind] : {std::pair{"sync", Sync},
                            {"arrive", Arrive},
                            {"red.popc", CountPredicates},
                            {"red.and", AllPredicates},
                            {"red.or", AnyPredicate}})
    for (bool aligned : {false, true})
      for (bool counted : {false, true})
        if (counted || kind != Arrive)
          rules[("barrier.cta." + Twine(name) + (aligned ? ".aligned" : "") +
                 (counted ? ".count" : ".all"))
                    .str()] = makeBarrierRule(kind, aligned, counted);
  // Threads run one at a time, so that memory is always in order.
  for (StringRef fence : {"membar.cta", "membar.gl", "membar.sys"})
    rules[fence] = [](IRBuilder<> &, CallInst &, SiteNumbering &) -> Value * {
      return nullptr;
    };
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Rule makeCopyRule(unsigned bytes) {
  return [=](IRBuilder<> &builder, CallInst &call,
             SiteNumbering &sites) -> Value * {
    Value *size = builder.getInt32(bytes);
    Value *read = call.arg_size() > 2 ? call.getArgOperand(2) : size;
    // The site of the store, then that of the load.
    for (AccessKind kind : {AccessKind::Store, AccessKind::Load}) {
      Site &site = sites.add(call);
      site.kind = kind;
      site.bytes = site.pieceBytes = site.alignment = bytes;
    }
    auto generic = [&](unsigned index) {
      return builder.CreateAddrSpaceCast(call.getArgOperand(index),
                                         builder.getPtrTy());
    };
    callRuntime(builder, functions::asyncCopy, builder.getVoidTy(),
                {getThread(call), generic(0), generic(1), size, read,
                 sites.getNumber(builder.getContext())});
    return nullptr;
  };
}

static Rule makeWaitRule(bool all) {
  return [=](IRBuilder<> &builder, CallInst &call, SiteNumbering &) -> Value * {
    // Waiting for all includes copies that belong to no group yet.
    if (all)
      callRuntime(builder, functions::asyncCommit, builder.getVoidTy(),
                  {getThread(call)});
    callRuntime(
        builder, functions::asyncWait, builder.getVoidTy(),
        {getThread(call), all ? builder.getInt32(0) : call.getArgOperand(0)});
    return nullptr;
  };
}

static void addMemory(Rules &rules) {
  for (unsigned bytes : {4, 8, 16})
    for (StringRef suffix : {"", ".s"})
      rules[("cp.async.ca.shared.global." + Twine(bytes) + suffix).str()] =
          makeCopyRule(bytes);
  rules["cp.async.cg.shared.global.16"] = makeCopyRule(16);
  rules["cp.async.cg.shared.global.16.s"] = makeCopyRule(16);
  rules["cp.async.commit.group"] = [](IRBuilder<> &builder, CallInst &call,
                                      SiteNumbering &) -> Value * {
    callRuntime(builder, functions::asyncCommit, builder.getVoidTy(),
                {getThread(call)});
    return nullptr;
  };
  rules["cp.async.wait.group"] = makeWaitRule(false);
  rules["cp.async.wait.all"] = makeWaitRule(true);
  for (auto [name, space] : {std::pair{"isspacep.global", MemorySpace::Global},
                             {"isspacep.shared", MemorySpace::Shared},
                             {"isspacep.local", MemorySpace::Local}})
    rules[name] = [space](IRBuilder<> &builder, CallInst &call,
                          SiteNumbering &) -> Value * {
      Value *found = callRuntime(
          builder, functions::memorySpace, builder.getInt32Ty(),
          {getThread(call), call.getArgOperand(0)}, /*watches=*/true);
      return builder.CreateICmpEQ(
          found, builder.getInt32(static_cast<std::uint32_t>(space)));
    };
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Rules &getRules() {
  static const Rules rules = [] {
    Rules rules;
    addRegisters(rules);
    addWarpOperations(rules);
    addBarriers(rules);
    addMemory(rules);
    return rules;
  }();
  return rules;
}

StringRef isobath::simulator::getNvvmName(const Function &function) {
  StringRef name = function.getName();
  if (!name.consume_front("llvm.nvvm."))
    return {};
  if (Intrinsic::ID id = function.getIntrinsicID();
      id != Intrinsic::not_intrinsic && Intrinsic::isOverloaded(id))
    name = Intrinsic::getBaseName(id).drop_front(strlen("llvm.nvvm."));
  return name;
}

bool isobath::simulator::isKnownIntrinsic(const CallInst &call) {
  StringRef name = getNvvmName(*call.getCalledFunction());
  return getRules().contains(name) || getMathRules().contains(name);
}

void isobath::simulator::lowerIntrinsics(Module &module, SiteNumbering &sites) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call || !call->getCalledFunction())
        continue;
      IRBuilder<> builder(call);
      Value *result;
      if (call->getIntrinsicID() == Intrinsic::trap) {
        sites.add(*call);
        callRuntime(builder, functions::trap, builder.getVoidTy(),
                    {getThread(*call), sites.getNumber(builder.getContext())});
        result = nullptr;
      } else if (StringRef name = getNvvmName(*call->getCalledFunction());
                 name.empty()) {
        continue;
      } else if (auto rule = getRules().find(name); rule != getRules().end()) {
        result = rule->second(builder, *call, sites);
      } else {
        result = getMathRules().find(name)->second(builder, *call);
      }
      if (result)
        call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
}
