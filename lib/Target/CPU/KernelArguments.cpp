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

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::row;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value KernelArguments::readWord(Value words, unsigned number, Type type) {
  Value address = advance(words, builder.getI64Type(), number);
  return LLVM::LoadOp::create(builder, type, address);
}

/// Sets one row of partial sums to zero, which is the same bits in any type.
void KernelArguments::clear(BlockArgument sum) {
  auto type = cast<SumType>(sum.getType());
  int64_t bytes = type.getArithmeticType().getIntOrFloatBitWidth() / 8;
  Value zero = LLVM::ConstantOp::create(builder, builder.getI8Type(),
                                        builder.getI8IntegerAttr(0));
  Value size;
  if (type.isWidthKnown())
    size = LLVM::ConstantOp::create(
        builder, builder.getI64Type(),
        builder.getI64IntegerAttr(type.getWidth() * bytes));
  else
    size = arith::IndexCastOp::create(builder, builder.getI64Type(),
                                      multiply(getWidth(sum), constant(bytes)));
  LLVM::MemsetOp::create(builder, getAddress(sum, Value(), Value()), zero, size,
                         /*isVolatile=*/false);
}

KernelArguments::KernelArguments(KernelOp kernel, ImplicitLocOpBuilder &builder,
                                 Value words, Value chunk)
    : RowAddresses(builder) {
  unsigned number = 0;
  setWords(kernel, [&](Type type) -> Value {
    if (!type.isIndex())
      return readWord(words, number++, type);
    Value word = readWord(words, number++, builder.getI64Type());
    return arith::IndexCastOp::create(builder, type, word);
  });
  Value part =
      arith::IndexCastOp::create(builder, builder.getIndexType(), chunk);
  for (BlockArgument output : kernel.getOutputs()) {
    if (!isa<SumType>(output.getType()))
      continue;
    setPart(output, part);
    clear(output);
  }
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
