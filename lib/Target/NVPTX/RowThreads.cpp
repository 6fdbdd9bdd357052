//===- RowThreads.cpp - The threads that work on a row -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;

/// Where the shared memory of a block lies.
static constexpr unsigned sharedSpace = 3;

Value nvptx::combine(ImplicitLocOpBuilder &builder, vector::CombiningKind kind,
                     Value left, Value right) {
  if (kind == vector::CombiningKind::ADD)
    return arith::AddFOp::create(builder, left, right);
  return arith::MaximumFOp::create(builder, left, right);
}

static std::string getExchangeName(gpu::GPUFuncOp function) {
  return (function.getName() + "$exchange").str();
}

RowThreads::RowThreads(gpu::GPUFuncOp function, const RowLayout &layout,
                       ImplicitLocOpBuilder &builder)
    : function(function), layout(layout), builder(builder) {
  Value id = gpu::ThreadIdOp::create(
      builder, gpu::Dimension::x,
      builder.getIndexAttr(layout.getThreadsPerBlock()));
  Value size = arith::ConstantIndexOp::create(builder, warpThreads);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value lane = arith::RemUIOp::create(builder, id, size);
  warpInBlock = arith::DivUIOp::create(builder, id, size);
  bool isWarp = layout.getThreads() == warpThreads;
  thread = isWarp ? lane : id;
  rowInBlock = isWarp ? warpInBlock : zero;
  auto isZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value,
                                 zero);
  };
  first = isZero(thread);
  firstOfWarp = isZero(lane);
  if (isWarp)
    return;
  exchange = LLVM::AddressOfOp::create(
      builder, LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace),
      getExchangeName(function));
}

void RowThreads::addSharedMemory() {
  if (!exchange)
    return;
  if (exchangeBytes == 0) {
    exchange.getDefiningOp()->erase();
    return;
  }
  OpBuilder before(function);
  auto type = LLVM::LLVMArrayType::get(before.getI8Type(), exchangeBytes);
  LLVM::GlobalOp::create(before, function.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::Internal, getExchangeName(function),
                         Attribute(), /*alignment=*/16, sharedSpace);
}

void RowThreads::synchronize() {
  if (layout.getThreads() == warpThreads)
    synchronizeWarp();
  else
    NVVM::Barrier0Op::create(builder);
}

static Value createI32(ImplicitLocOpBuilder &builder, int32_t value) {
  return arith::ConstantIntOp::create(builder, value, 32);
}

/// All threads of a warp.
static Value createFullMask(ImplicitLocOpBuilder &builder) {
  return createI32(builder, -1);
}

void RowThreads::synchronizeWarp() {
  NVVM::SyncWarpOp::create(builder, createFullMask(builder));
}

/// The value of the lane whose number differs in the bit `distance`.
Value RowThreads::shuffle(Value value, int64_t distance) {
  constexpr int32_t lastLane = 31;
  auto exchangeWord = [&](Value word) -> Value {
    return NVVM::ShflOp::create(
        builder, word.getType(), createFullMask(builder), word,
        createI32(builder, distance), createI32(builder, lastLane),
        NVVM::ShflKind::bfly, UnitAttr());
  };
  Type type = value.getType();
  if (type.isF32())
    return exchangeWord(value);
  // f64 in two halves.
  auto halves = VectorType::get({2}, builder.getI32Type());
  Value words = LLVM::BitcastOp::create(builder, halves, value);
  Value result = words;
  for (int64_t half : {0, 1})
    result = vector::InsertOp::create(
        builder, exchangeWord(vector::ExtractOp::create(builder, words, half)),
        result, half);
  return LLVM::BitcastOp::create(builder, type, result);
}

Value RowThreads::combineLanes(const ThreadValue &value) {
  Value result = value.value;
  for (int64_t distance = warpThreads / 2; distance > 0; distance /= 2)
    result = combine(builder, value.kind, result, shuffle(result, distance));
  return result;
}

static Value advance(ImplicitLocOpBuilder &builder, Value address, Type type,
                     LLVM::GEPArg elements) {
  return LLVM::GEPOp::create(builder, address.getType(), type, address,
                             ArrayRef<LLVM::GEPArg>(elements));
}

/// Of the numbers of all warps, which begin at `place`.
Value RowThreads::combineWarps(const ThreadValue &value, Value place) {
  Type type = value.value.getType();
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  int64_t warps = layout.getWarps();
  int64_t lanes = std::min<int64_t>(warps, 16 / bytes);
  auto vectorType = VectorType::get({lanes}, type);
  SmallVector<Value> numbers;
  for (int64_t warp = 0; warp < warps; warp += lanes) {
    Value some = LLVM::LoadOp::create(
        builder, vectorType,
        advance(builder, place, type, static_cast<int32_t>(warp)),
        static_cast<unsigned>(lanes * bytes));
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers.push_back(vector::ExtractOp::create(builder, some, lane));
  }
  while (numbers.size() > 1) {
    for (size_t i = 0; i < numbers.size() / 2; ++i)
      numbers[i] =
          combine(builder, value.kind, numbers[2 * i], numbers[2 * i + 1]);
    numbers.resize(numbers.size() / 2);
  }
  return numbers.front();
}

SmallVector<Value> RowThreads::combineAll(ArrayRef<ThreadValue> values,
                                          bool repeats) {
  SmallVector<Value> results;
  for (const ThreadValue &value : values)
    results.push_back(combineLanes(value));
  if (layout.getThreads() == warpThreads)
    return results;

  SmallVector<Value> places;
  for (const ThreadValue &value : values) {
    places.push_back(advance(builder, exchange, builder.getI8Type(),
                             static_cast<int32_t>(exchangeBytes)));
    // A multiple of 16, as there are two warps or more.
    int64_t bytes = value.value.getType().getIntOrFloatBitWidth() / 8;
    exchangeBytes += std::max<int64_t>(16, layout.getWarps() * bytes);
  }
  if (repeats)
    synchronize(); // until the last numbers are read everywhere
  Value warp =
      arith::IndexCastOp::create(builder, builder.getI64Type(), warpInBlock);
  scf::IfOp::create(builder, firstOfWarp, [&](OpBuilder &inner, Location loc) {
    ImplicitLocOpBuilder b(loc, inner);
    for (auto [result, place] : llvm::zip_equal(results, places))
      LLVM::StoreOp::create(b, result,
                            advance(b, place, result.getType(), warp));
    scf::YieldOp::create(b);
  });
  synchronize();
  for (auto [value, place, result] : llvm::zip_equal(values, places, results))
    result = combineWarps(value, place);
  return results;
}
