//===- KernelArguments.cpp - What the code of a kernel receives --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::row;

unsigned cpu::getWordCount(Type type) {
  return llvm::TypeSwitch<Type, unsigned>(type)
      .Case<MatrixType, SharedVectorType, SumType>([](auto) { return 1; })
      .Case<ListType>([](auto) { return 2; })
      .Case<ScalarsType>([](auto) { return 3; });
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value KernelArguments::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}
Value KernelArguments::multiply(Value left, Value right) {
  return arith::MulIOp::create(builder, left, right);
}
Value KernelArguments::add(Value left, Value right) {
  return arith::AddIOp::create(builder, left, right);
}

Value KernelArguments::advance(Value address, Type elementType,
                               Value elements) {
  Value offset =
      arith::IndexCastOp::create(builder, builder.getI64Type(), elements);
  return LLVM::GEPOp::create(builder, address.getType(), elementType, address,
                             ArrayRef<LLVM::GEPArg>(offset));
}

Value KernelArguments::advance(Value address, Type elementType,
                               int64_t elements) {
  if (elements == 0)
    return address;
  return LLVM::GEPOp::create(
      builder, address.getType(), elementType, address,
      ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(elements)));
}

Value KernelArguments::readWord(Value words, unsigned number, Type type) {
  Value address = advance(words, builder.getI64Type(), number);
  return LLVM::LoadOp::create(builder, type, address);
}

/// Sets one row of partial sums to zero, which is the same bits in any type.
void KernelArguments::clear(Value address, SumType type) {
  int64_t bytes =
      type.getWidth() * type.getArithmeticType().getIntOrFloatBitWidth() / 8;
  Value zero = LLVM::ConstantOp::create(builder, builder.getI8Type(),
                                        builder.getI8IntegerAttr(0));
  Value size = LLVM::ConstantOp::create(builder, builder.getI64Type(),
                                        builder.getI64IntegerAttr(bytes));
  LLVM::MemsetOp::create(builder, address, zero, size, /*isVolatile=*/false);
}

KernelArguments::KernelArguments(KernelOp kernel, ImplicitLocOpBuilder &builder,
                                 Value words, Value chunk)
    : builder(builder) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  unsigned number = 0;
  auto readAddress = [&] { return readWord(words, number++, pointer); };
  auto readNumber = [&]() -> Value {
    Value word = readWord(words, number++, builder.getI64Type());
    return arith::IndexCastOp::create(builder, builder.getIndexType(), word);
  };
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    if (isa<ListType>(type))
      counts[argument] = readNumber();
    bases[argument] = readAddress();
    if (isa<ScalarsType>(type)) {
      widths[argument] = readNumber();
      planes[argument] = readNumber();
    }
    if (auto sum = dyn_cast<SumType>(type)) {
      Value index =
          arith::IndexCastOp::create(builder, builder.getIndexType(), chunk);
      Value &base = bases[argument];
      base = advance(base, sum.getArithmeticType(),
                     multiply(index, constant(sum.getWidth())));
      clear(base, sum);
    }
  }
}

Value KernelArguments::getAddress(Value argument, Value index, Value column) {
  Type type = argument.getType(), elementType = getElementType(type);
  Value base = bases.lookup(argument);
  Value row = currentRow;
  if (isa<ListType>(type)) {
    Value slot = advance(base, base.getType(), index);
    base = LLVM::LoadOp::create(builder, base.getType(), slot);
  } else if (isa<SharedVectorType>(type)) {
    row = {};
  } else if (auto sum = dyn_cast<SumType>(type)) {
    row = {};
    elementType = sum.getArithmeticType();
  } else if (index) {
    row = index;
  }
  if (row)
    base = advance(base, elementType,
                   multiply(row, constant(row::getWidth(type))));
  return column ? advance(base, elementType, column) : base;
}

Value KernelArguments::getScalarAddress(Value argument, Value index,
                                        Value plane, Value row) {
  Type type = argument.getType();
  Value base = bases.lookup(argument);
  if (isa<SharedVectorType>(type))
    return advance(base, getElementType(type), index);
  Value position =
      add(multiply(row ? row : currentRow, getWidth(argument)), index);
  if (plane)
    position = add(position, multiply(plane, planes.lookup(argument)));
  return advance(base, getElementType(type), position);
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

Value KernelArguments::getMask(int64_t lanes) {
  SmallVector<bool> mask(stripLanes, false);
  std::fill_n(mask.begin(), lanes, true);
  auto type = VectorType::get({stripLanes}, builder.getI1Type());
  return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, mask));
}

static unsigned getAlignment(Type elementType) {
  return elementType.getIntOrFloatBitWidth() / 8;
}

/// The type in which elements are loaded and stored. LLVM would compute masked
/// vectors of bf16 in f32, and round them by a call.
static Type getMemoryType(Type elementType) {
  if (elementType.isBF16())
    return IntegerType::get(elementType.getContext(), 16);
  return elementType;
}

static Value bitcast(OpBuilder &builder, Location loc, Value value,
                     Type elementType) {
  Type type = elementType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(elementType);
  if (type == value.getType())
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

Value KernelArguments::loadScalar(Value address, Type type) {
  Value value = LLVM::LoadOp::create(builder, getMemoryType(type), address);
  return bitcast(builder, builder.getLoc(), value, type);
}

void KernelArguments::storeScalar(Value value, Value address) {
  LLVM::StoreOp::create(
      builder,
      bitcast(builder, builder.getLoc(), value, getMemoryType(value.getType())),
      address);
}

Strips KernelArguments::load(Value address, const StripGroup &group,
                             Type elementType) {
  auto type = VectorType::get({stripLanes}, getMemoryType(elementType));
  unsigned alignment = getAlignment(elementType);
  address = advance(address, elementType, group.start);
  Strips strips;
  for (auto [number, lanes] : llvm::enumerate(group.lanes)) {
    Value place = advance(address, elementType, number * stripLanes);
    if (lanes == stripLanes) {
      strips.push_back(LLVM::LoadOp::create(builder, type, place, alignment));
      continue;
    }
    Value zeros = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    strips.push_back(LLVM::MaskedLoadOp::create(
        builder, type, place, getMask(lanes), zeros, alignment));
  }
  for (Value &strip : strips)
    strip = bitcast(builder, builder.getLoc(), strip, elementType);
  return strips;
}

void KernelArguments::prefetch(Value address, const StripGroup &group,
                               Type elementType, int64_t width) {
  constexpr int64_t lineBytes = 64;
  constexpr int32_t forReading = 0, intoSecondLevel = 2, data = 1;
  int64_t lineElements = lineBytes / getAlignment(elementType);
  address = advance(address, elementType, group.start);
  int64_t elements = 0;
  for (int64_t lanes : group.lanes)
    elements += lanes;
  for (int64_t element = 0; element < elements; element += lineElements)
    LLVM::Prefetch::create(builder,
                           advance(address, elementType, width + element),
                           forReading, intoSecondLevel, data);
}

void KernelArguments::store(const Strips &values, Value address,
                            const StripGroup &group) {
  Type elementType =
      cast<VectorType>(values.front().getType()).getElementType();
  unsigned alignment = getAlignment(elementType);
  address = advance(address, elementType, group.start);
  for (auto [number, value, lanes] : llvm::enumerate(values, group.lanes)) {
    Value place = advance(address, elementType, number * stripLanes);
    Value bits =
        bitcast(builder, builder.getLoc(), value, getMemoryType(elementType));
    if (lanes == stripLanes)
      LLVM::StoreOp::create(builder, bits, place, alignment);
    else
      LLVM::MaskedStoreOp::create(builder, bits, place, getMask(lanes),
                                  alignment);
  }
}
