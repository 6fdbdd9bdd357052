//===- DeviceCalls.cpp - Calls of a unit's device -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCalls.h"
#include "isobath/runtime/device_calls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::host;

Value host::getAddress(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  int64_t offset = type.getStridesAndOffset().second;
  if (offset != 0) {
    Value bytes = arith::ConstantIndexOp::create(
        builder, loc, offset * type.getElementTypeBitWidth() / 8);
    address = arith::AddIOp::create(builder, loc, address, bytes);
  }
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    address);
}

//===----------------------------------------------------------------------===//
// CallBuilder
//===----------------------------------------------------------------------===//

CallBuilder::CallBuilder(OpBuilder &builder, Location loc, SymbolTable &symbols)
    : builder(builder), loc(loc), symbols(symbols) {
  arguments.push_back(getDevice());
}

Value CallBuilder::getDevice() {
  auto device = symbols.lookup<LLVM::GlobalOp>(ISOBATH_DEVICE_SYMBOL);
  if (!device) {
    OpBuilder detached(builder.getContext());
    device = LLVM::GlobalOp::create(
        detached, loc, builder.getI8Type(), /*isConstant=*/false,
        LLVM::Linkage::External, ISOBATH_DEVICE_SYMBOL, Attribute());
    symbols.insert(device);
  }
  return LLVM::AddressOfOp::create(builder, loc, device);
}

CallBuilder &CallBuilder::pointer(Value memref) {
  return value(LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      getAddress(builder, loc, memref)));
}

CallBuilder &CallBuilder::constant(int64_t number, unsigned width) {
  return value(LLVM::ConstantOp::create(
      builder, loc, builder.getIntegerType(width),
      builder.getIntegerAttr(builder.getIntegerType(width), number)));
}

int32_t CallBuilder::getTypeCode(MemRefType type) {
  return type.getElementType().isBF16() ? ISOBATH_BF16 : ISOBATH_F32;
}

void CallBuilder::call(StringRef name) {
  auto callee = symbols.lookup<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder detached(builder.getContext());
    callee = LLVM::LLVMFuncOp::create(
        detached, loc, name,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(builder.getContext()),
            llvm::to_vector(ValueRange(arguments).getTypes())));
    symbols.insert(callee);
  }
  LLVM::CallOp::create(builder, loc, callee, arguments);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void host::lowerCopies(ModuleOp module, SymbolTable &symbols) {
  module.walk([&](memref::CopyOp copy) {
    OpBuilder builder(copy);
    auto type = cast<MemRefType>(copy.getSource().getType());
    bool isConstant =
        copy.getSource().getDefiningOp<memref::GetGlobalOp>() != nullptr;
    CallBuilder(builder, copy.getLoc(), symbols)
        .pointer(copy.getTarget())
        .pointer(copy.getSource())
        .size(type.getNumElements() * type.getElementTypeBitWidth() / 8)
        .call(isConstant ? "isobath_upload" : "isobath_copy");
    copy.erase();
  });
}
