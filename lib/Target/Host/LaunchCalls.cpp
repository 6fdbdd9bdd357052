//===- LaunchCalls.cpp - Launches as calls of the device ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchCalls.h"
#include "DeviceCalls.h"
#include "isobath/runtime/device_calls.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::host;
using namespace isobath::row;

void LaunchWords::addArguments(LaunchOp launch, KernelOp kernel) {
  auto scratch = launch.getScratch();
  auto append = [&](Type type, ValueRange group) {
    if (isa<ListType>(type)) {
      addTable(group);
      return;
    }
    if (auto sum = dyn_cast<SumType>(type)) {
      addAddress(scratch.front());
      if (!sum.isWidthKnown())
        addNumber(cast<MemRefType>(group.front().getType()).getNumElements());
      scratch = scratch.drop_front();
      return;
    }
    addAddress(group.front());
    if (auto scalars = dyn_cast<ScalarsType>(type)) {
      int64_t plane =
          cast<MemRefType>(group.front().getType()).getNumElements() /
          scalars.getPlanes();
      addNumber(plane / launch.getRows());
      addNumber(plane);
    }
  };
  for (auto [position, type] : llvm::enumerate(kernel.getInputTypes()))
    append(type, launch.getInputGroup(position));
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes()))
    append(type, launch.getOutputGroup(position));
}

MemRefType host::getScratchType(SumType sum, int64_t parts, Value total) {
  int64_t width = cast<ShapedType>(total.getType()).getNumElements();
  return MemRefType::get({parts, width}, sum.getArithmeticType());
}

LogicalResult host::checkScratch(LaunchOp launch, KernelOp kernel,
                                 int64_t parts) {
  auto scratch = launch.getScratch();
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes())) {
    auto sum = dyn_cast<SumType>(type);
    if (!sum)
      continue;
    MemRefType expected =
        getScratchType(sum, parts, launch.getOutputGroup(position).front());
    if (scratch.empty() || scratch.front().getType() != expected)
      return launch.emitOpError()
             << "expected a scratch buffer of type " << expected
             << " for the sum that is output " << position;
    scratch = scratch.drop_front();
  }
  return success();
}

/// What time in a kernel counts as: kernels are called after the ops in them.
static IsobathPart getPart(StringRef name) {
  for (StringRef op : {"route", "partial", "merge", "fixed", "scale", "static"})
    if (name.contains(op))
      return ISOBATH_PART_ROUTE;
  if (name.contains("cross_entropy"))
    return ISOBATH_PART_LOSS;
  if (name.contains("adamw") || name.contains("squared_norm"))
    return ISOBATH_PART_OPTIMIZER;
  return ISOBATH_PART_ROWS;
}

//===----------------------------------------------------------------------===//
// Constant data
//===----------------------------------------------------------------------===//

LLVM::GlobalOp LaunchCalls::addText(Location loc, StringRef text) {
  OpBuilder builder(module.getContext());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size() + 1);
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "kernel_name", builder.getStringAttr(text + Twine('\0')));
  symbols.insert(global);
  return global;
}

LLVM::GlobalOp LaunchCalls::addNumbers(Location loc,
                                       ArrayRef<int32_t> numbers) {
  OpBuilder builder(module.getContext());
  auto type = LLVM::LLVMArrayType::get(builder.getI32Type(), numbers.size());
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, "kernel_tables",
                                       builder.getI32TensorAttr(numbers));
  symbols.insert(global);
  return global;
}

/// The constant IsobathLaunch. Launches that differ only in addresses and in
/// the lengths of their tables share one.
LLVM::GlobalOp LaunchCalls::getDescription(Location loc,
                                           const KernelLaunch &launch,
                                           const LaunchWords &words,
                                           StringRef origin) {
  SmallVector<int32_t> tables;
  for (auto [number, word] : llvm::enumerate(words.words))
    if (!word.table.empty())
      tables.push_back(number);
  std::string key;
  llvm::raw_string_ostream(key)
      << launch.kernel << ' ' << launch.rows << ' ' << launch.chunks << ' '
      << launch.blocks << ' ' << launch.threads << ' ' << launch.sharedBytes
      << ' ' << words.words.size() << ' ' << getPart(origin) << ' '
      << llvm::interleaved(tables);
  LLVM::GlobalOp &description = descriptions[key];
  if (description)
    return description;

  ImplicitLocOpBuilder builder(loc, module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      module.getContext(),
      {pointer, pointer, i32, i32, i32, pointer, i64, i64, i32, i32, i64});
  description =
      LLVM::GlobalOp::create(builder, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, "launch", Attribute());
  symbols.insert(description);
  builder.createBlock(&description.getInitializerRegion());
  auto number = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, type,
                                    builder.getIntegerAttr(type, value));
  };
  auto addressOf = [&](LLVM::GlobalOp global) -> Value {
    return LLVM::AddressOfOp::create(builder, global);
  };
  Value null = LLVM::ZeroOp::create(builder, pointer);
  Value function = null;
  if (func::FuncOp code = launch.function) {
    // A pointer as soon as functions are of LLVM's dialect.
    Value constant = func::ConstantOp::create(builder, code.getFunctionType(),
                                              code.getSymName());
    function = UnrealizedConversionCastOp::create(builder, pointer, constant)
                   .getResult(0);
  }
  Value record = LLVM::UndefOp::create(builder, type);
  Value fields[] = {addressOf(addText(loc, launch.kernel)),
                    tables.empty() ? null : addressOf(addNumbers(loc, tables)),
                    number(i32, tables.size()),
                    number(i32, words.words.size()),
                    number(i32, getPart(origin)),
                    function,
                    number(i64, launch.rows),
                    number(i64, launch.chunks),
                    number(i32, launch.blocks),
                    number(i32, launch.threads),
                    number(i64, launch.sharedBytes)};
  for (auto [index, field] : llvm::enumerate(fields))
    record = LLVM::InsertValueOp::create(builder, record, field,
                                         static_cast<int64_t>(index));
  LLVM::ReturnOp::create(builder, record);
  return description;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Room on the stack for the words of any launch of a function: a launch has
/// read them when the call returns.
Value LaunchCalls::getStack(Operation *function, int64_t count) {
  LLVM::AllocaOp &stack = stackOf[function];
  OpBuilder builder(function->getRegion(0));
  if (!stack) {
    Value size = LLVM::ConstantOp::create(builder, function->getLoc(),
                                          builder.getI64IntegerAttr(0));
    stack =
        LLVM::AllocaOp::create(builder, function->getLoc(),
                               LLVM::LLVMPointerType::get(builder.getContext()),
                               builder.getI64Type(), size, /*alignment=*/64);
  }
  auto size = stack.getArraySize().getDefiningOp<LLVM::ConstantOp>();
  int64_t have = cast<IntegerAttr>(size.getValue()).getInt();
  size.setValueAttr(builder.getI64IntegerAttr(std::max(have, count)));
  return stack;
}

void LaunchCalls::build(OpBuilder &builder, Location loc,
                        const KernelLaunch &launch, const LaunchWords &words,
                        StringRef origin) {
  // The words, then the tables.
  int64_t total = words.words.size();
  for (const LaunchWords::Word &word : words.words)
    total += word.table.size();
  auto function = builder.getInsertionBlock()
                      ->getParent()
                      ->getParentOfType<FunctionOpInterface>();
  Value stack = getStack(function, total);
  auto slot = [&](int64_t number) -> Value {
    return LLVM::GEPOp::create(
        builder, loc, stack.getType(), builder.getI64Type(), stack,
        ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(number)));
  };
  auto store = [&](Value value, int64_t number) {
    LLVM::StoreOp::create(builder, loc, value, slot(number));
  };
  int64_t table = words.words.size();
  for (auto [number, word] : llvm::enumerate(words.words)) {
    if (word.memref) {
      store(getAddress(builder, loc, word.memref), number);
    } else if (word.table.empty()) {
      store(LLVM::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(word.number)),
            number);
    } else {
      store(LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                     slot(table)),
            number);
      for (Value memref : word.table)
        store(getAddress(builder, loc, memref), table++);
    }
  }
  LLVM::GlobalOp description = getDescription(loc, launch, words, origin);
  CallBuilder(builder, loc, symbols)
      .value(LLVM::AddressOfOp::create(builder, loc, description))
      .value(stack)
      .call("isobath_launch");
}
