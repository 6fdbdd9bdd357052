//===- RowAddresses.cpp - Where the elements of a row lie --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowAddresses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::rows;
using namespace isobath::row;

unsigned rows::getWordCount(Type type) {
  return llvm::TypeSwitch<Type, unsigned>(type)
      .Case<MatrixType, SharedVectorType>([](auto) { return 1; })
      .Case<SumType>([](SumType type) { return type.isWidthKnown() ? 1 : 2; })
      .Case<ListType>([](auto) { return 2; })
      .Case<ScalarsType>([](auto) { return 3; });
}

Value RowAddresses::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}
Value RowAddresses::multiply(Value left, Value right) {
  return arith::MulIOp::create(builder, left, right);
}
Value RowAddresses::add(Value left, Value right) {
  return arith::AddIOp::create(builder, left, right);
}

Value RowAddresses::advance(Value address, Type elementType, Value elements) {
  Value offset =
      arith::IndexCastOp::create(builder, builder.getI64Type(), elements);
  return LLVM::GEPOp::create(builder, address.getType(), elementType, address,
                             ArrayRef<LLVM::GEPArg>(offset));
}

Value RowAddresses::advance(Value address, Type elementType, int64_t elements) {
  if (elements == 0)
    return address;
  return LLVM::GEPOp::create(
      builder, address.getType(), elementType, address,
      ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(elements)));
}

void RowAddresses::setWords(KernelOp kernel, function_ref<Value(Type)> next) {
  Type index = builder.getIndexType();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    if (isa<ListType>(type))
      counts[argument] = next(index);
    bases[argument] = next(pointer);
    if (isa<ScalarsType>(type)) {
      widths[argument] = next(index);
      planes[argument] = next(index);
    }
    if (auto sum = dyn_cast<SumType>(type); sum && !sum.isWidthKnown())
      widths[argument] = next(index);
  }
}

void RowAddresses::setPart(BlockArgument sum, Value part) {
  auto type = cast<SumType>(sum.getType());
  Value width = type.isWidthKnown() ? constant(type.getWidth()) : getWidth(sum);
  Value &base = bases[sum];
  base = advance(base, type.getArithmeticType(), multiply(part, width));
}

Value RowAddresses::getAddress(Value argument, Value index, Value column) {
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

Value RowAddresses::getScalarAddress(Value argument, Value index, Value plane,
                                     Value row) {
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
