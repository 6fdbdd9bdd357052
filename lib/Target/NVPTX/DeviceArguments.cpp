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

void DeviceArguments::store(const Chunks &values, Value address,
                            const RowGroup &group) {
  Type elementType =
      cast<VectorType>(values.front().getType()).getElementType();
  for (auto [slot, value] : llvm::zip_equal(group.slots, values)) {
    Value place = getPlace(address, slot, elementType);
    unsigned alignment = getAlignment(group, elementType);
    if (!slot.inside) {
      LLVM::StoreOp::create(builder, value, place, alignment);
      continue;
    }
    scf::IfOp::create(builder, slot.inside,
                      [&, value = value](OpBuilder &inner, Location loc) {
                        LLVM::StoreOp::create(inner, loc, value, place,
                                              alignment);
                        scf::YieldOp::create(inner, loc);
                      });
  }
}
