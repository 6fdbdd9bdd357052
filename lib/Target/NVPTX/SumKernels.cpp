//===- SumKernels.cpp - The second stage of sums over rows -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block adds up 32 columns, one for each lane. Of the parts, warp w has the
// numbers w, w + 16, w + 32, …; what the 16 warps have then, lane by lane, the
// first of them adds in order.
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

static constexpr int64_t sumWarps = 16;

SumLaunch nvptx::getSumLaunch(int64_t width) {
  return {static_cast<int64_t>(llvm::divideCeil(width, warpThreads)),
          warpThreads * sumWarps};
}

std::string nvptx::getSumKernelName(SumType type) {
  std::string name = "isobath$sum";
  llvm::raw_string_ostream stream(name);
  if (type.isWidthKnown())
    stream << type.getWidth() << "x";
  stream << type.getArithmeticType() << "$" << type.getElementType();
  return name;
}

namespace {
class SumEmitter {
public:
  SumEmitter(gpu::GPUFuncOp function, SumType type, Value shared,
             ImplicitLocOpBuilder &builder)
      : type(type), shared(shared), b(builder), parts(function.getArgument(0)),
        total(function.getArgument(2)) {
    count = toIndex(function.getArgument(1));
    width = type.isWidthKnown() ? index(type.getWidth())
                                : toIndex(function.getArgument(3));
    Value thread = gpu::ThreadIdOp::create(
        b, gpu::Dimension::x, b.getIndexAttr(warpThreads * sumWarps));
    lane = arith::RemUIOp::create(b, thread, index(warpThreads));
    warp = arith::DivUIOp::create(b, thread, index(warpThreads));
    Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
    column = add(multiply(block, index(warpThreads)), lane);
  }

  void emit();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value toIndex(Value value) {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  }
  Value add(Value left, Value right) {
    return arith::AddIOp::create(b, left, right);
  }
  Value multiply(Value left, Value right) {
    return arith::MulIOp::create(b, left, right);
  }
  Value isLess(Value left, Value right) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, left, right);
  }
  Value getAddress(Value base, Type elementType, Value number) {
    Value offset = arith::IndexCastOp::create(b, b.getI64Type(), number);
    return LLVM::GEPOp::create(b, base.getType(), elementType, base,
                               ArrayRef<LLVM::GEPArg>(offset));
  }
  Value addParts();
  Value addWarps();

  SumType type;
  Value shared; // [sumWarps, 32]
  ImplicitLocOpBuilder &b;
  Value parts, total, count, width, lane, warp, column;
};
} // namespace

/// This warp's parts of this lane's column.
Value SumEmitter::addParts() {
  Type number = type.getArithmeticType();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(number));
  auto loop = scf::ForOp::create(b, warp, count, index(sumWarps), zero);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value place = add(multiply(loop.getInductionVar(), width), column);
  Value part =
      LLVM::LoadOp::create(b, number, getAddress(parts, number, place));
  scf::YieldOp::create(
      b, ValueRange(arith::AddFOp::create(b, loop.getRegionIterArg(0), part)));
  return loop.getResult(0);
}

/// What all warps have of this lane's column.
Value SumEmitter::addWarps() {
  Type number = type.getArithmeticType();
  Value sum;
  for (int64_t other = 0; other < sumWarps; ++other) {
    Value place = add(index(other * warpThreads), lane);
    Value part =
        LLVM::LoadOp::create(b, number, getAddress(shared, number, place));
    sum = sum ? arith::AddFOp::create(b, sum, part) : part;
  }
  return sum;
}

void SumEmitter::emit() {
  Type number = type.getArithmeticType();
  Value isInside = isLess(column, width);
  scf::IfOp::create(b, isInside, [&](OpBuilder &inner, Location loc) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inner.getInsertionBlock());
    Value sum = addParts();
    Value place = add(multiply(warp, index(warpThreads)), lane);
    LLVM::StoreOp::create(b, sum, getAddress(shared, number, place));
    scf::YieldOp::create(b);
  });
  NVVM::Barrier0Op::create(b);
  Value isFirst = isLess(warp, index(1));
  Value isWanted = arith::AndIOp::create(b, isFirst, isInside);
  scf::IfOp::create(b, isWanted, [&](OpBuilder &inner, Location loc) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inner.getInsertionBlock());
    Value sum = addWarps();
    if (type.getElementType() != number)
      sum = arith::TruncFOp::create(b, type.getElementType(), sum);
    LLVM::StoreOp::create(b, sum,
                          getAddress(total, type.getElementType(), column));
    scf::YieldOp::create(b);
  });
}

void nvptx::addSumKernel(gpu::GPUModuleOp module, SumType type) {
  std::string name = getSumKernelName(type);
  if (module.lookupSymbol(name))
    return;
  constexpr unsigned globalSpace = 1, sharedSpace = 3;
  MLIRContext *context = module.getContext();
  auto builder =
      ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
  std::string sharedName = name + "$warps";
  auto array = LLVM::LLVMArrayType::get(type.getArithmeticType(),
                                        sumWarps * warpThreads);
  LLVM::GlobalOp::create(builder, array, /*isConstant=*/false,
                         LLVM::Linkage::Internal, sharedName, Attribute(),
                         /*alignment=*/16, sharedSpace);
  Type pointer = LLVM::LLVMPointerType::get(context, globalSpace);
  SmallVector<Type> types = {pointer, builder.getI64Type(), pointer};
  if (!type.isWidthKnown())
    types.push_back(builder.getI64Type());
  auto function = gpu::GPUFuncOp::create(builder, name,
                                         FunctionType::get(context, types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(warpThreads * sumWarps), 1, 1}));
  builder.setInsertionPointToStart(&function.getBody().front());
  Value shared = LLVM::AddressOfOp::create(
      builder, LLVM::LLVMPointerType::get(context, sharedSpace), sharedName);
  SumEmitter(function, type, shared, builder).emit();
  gpu::ReturnOp::create(builder);
}
