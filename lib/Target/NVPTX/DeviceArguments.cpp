//===- DeviceArguments.cpp - What a GPU's kernel receives --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

/// The memory that all threads of the GPU share.
static constexpr unsigned globalSpace = 1;

FunctionType DeviceArguments::getFunctionType(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, globalSpace);
  Type number = IntegerType::get(context, 64);
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getArguments()) {
    if (isa<ListType>(argument.getType()))
      types.push_back(number);
    types.push_back(pointer);
    if (isa<ScalarsType>(argument.getType()))
      types.append(2, number);
    if (auto sum = dyn_cast<SumType>(argument.getType());
        sum && !sum.isWidthKnown())
      types.push_back(number);
  }
  types.push_back(number);
  return FunctionType::get(context, types, {});
}

void DeviceArguments::addAttributes(KernelOp kernel, gpu::GPUFuncOp function) {
  auto unit = UnitAttr::get(kernel.getContext());
  unsigned word = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    unsigned address = word + isa<ListType>(type);
    if (isa<ListType, SharedVectorType>(type)) {
      function.setArgAttr(address, LLVM::LLVMDialect::getNoAliasAttrName(),
                          unit);
      function.setArgAttr(address, LLVM::LLVMDialect::getReadonlyAttrName(),
                          unit);
    }
    word += rows::getWordCount(type);
  }
}

DeviceArguments::DeviceArguments(KernelOp kernel, gpu::GPUFuncOp function,
                                 ImplicitLocOpBuilder &builder)
    : RowAddresses(builder) {
  unsigned number = 0;
  auto next = [&](Type type) -> Value {
    Value word = function.getArgument(number++);
    if (!type.isIndex())
      return word;
    return arith::IndexCastOp::create(builder, type, word);
  };
  setWords(kernel, next);
  rowCount = next(builder.getIndexType());
}

Value DeviceArguments::getPlace(Value address, const Slot &slot,
                                Type elementType) {
  return advance(advance(address, elementType, slot.column), elementType,
                 slot.offset);
}

/// Of a chunk, in bytes. Rows start at multiples of their chunk.
static unsigned getAlignment(const RowGroup &group, Type elementType) {
  return std::min<int64_t>(16, group.chunk *
                                   elementType.getIntOrFloatBitWidth() / 8);
}

Chunks DeviceArguments::load(Value address, const RowGroup &group,
                             Type elementType) {
  auto type = VectorType::get({group.chunk}, elementType);
  Chunks chunks;
  for (const Slot &slot : group.slots)
    chunks.push_back(LLVM::LoadOp::create(builder, type,
                                          getPlace(address, slot, elementType),
                                          getAlignment(group, elementType)));
  return chunks;
}

/// Builds what `visit` does with each chunk, for threads that are not beyond
/// the end: where these write, no other thread may even read.
void DeviceArguments::forEachInside(
    const Chunks &values, Value address, const RowGroup &group,
    function_ref<void(Value value, Value place)> visit) {
  Type elementType =
      cast<VectorType>(values.front().getType()).getElementType();
  for (auto [slot, value] : llvm::zip_equal(group.slots, values)) {
    Value place = getPlace(address, slot, elementType);
    OpBuilder::InsertionGuard guard(builder);
    if (slot.inside) {
      auto branch = scf::IfOp::create(builder, slot.inside);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    visit(value, place);
  }
}

void DeviceArguments::store(const Chunks &values, Value address,
                            const RowGroup &group) {
  forEachInside(values, address, group, [&](Value value, Value place) {
    LLVM::StoreOp::create(
        builder, value, place,
        getAlignment(group, getElementTypeOrSelf(value.getType())));
  });
}

void DeviceArguments::addTo(const Chunks &values, Value address,
                            const RowGroup &group) {
  forEachInside(values, address, group, [&](Value value, Value place) {
    unsigned alignment =
        getAlignment(group, getElementTypeOrSelf(value.getType()));
    Value sum =
        LLVM::LoadOp::create(builder, value.getType(), place, alignment);
    LLVM::StoreOp::create(builder, arith::AddFOp::create(builder, sum, value),
                          place, alignment);
  });
}
