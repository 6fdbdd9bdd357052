//===- LoopBuilder.cpp - Loops and arithmetic, written as one writes them ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Target/Reference/LoopBuilder.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace isobath::reference;

template <typename OpTy, typename... Args>
static Value create(LoopBuilder &loops, const Args &...args) {
  return OpTy::create(loops.getBuilder(), loops.getLoc(), args...);
}

//===----------------------------------------------------------------------===//
// Positions and numbers
//===----------------------------------------------------------------------===//

Index Index::operator+(Index other) const {
  return {*loops, create<arith::AddIOp>(*loops, value, other.value)};
}
Index Index::operator+(int64_t other) const {
  return *this + loops->index(other);
}
Index Index::operator*(int64_t factor) const {
  return {*loops,
          create<arith::MulIOp>(*loops, value, loops->index(factor).get())};
}
Index Index::operator/(int64_t divisor) const {
  return {*loops,
          create<arith::DivUIOp>(*loops, value, loops->index(divisor).get())};
}
Index Index::operator%(int64_t divisor) const {
  return {*loops,
          create<arith::RemUIOp>(*loops, value, loops->index(divisor).get())};
}

Scalar Scalar::operator+(Scalar other) const {
  return {*loops, create<arith::AddFOp>(*loops, value, other.value)};
}
Scalar Scalar::operator-(Scalar other) const {
  return {*loops, create<arith::SubFOp>(*loops, value, other.value)};
}
Scalar Scalar::operator*(Scalar other) const {
  return {*loops, create<arith::MulFOp>(*loops, value, other.value)};
}
Scalar Scalar::operator/(Scalar other) const {
  return {*loops, create<arith::DivFOp>(*loops, value, other.value)};
}
Scalar Scalar::operator-() const {
  return {*loops, create<arith::NegFOp>(*loops, value)};
}

Scalar LoopBuilder::constant(double value) {
  return {*this, arith::ConstantOp::create(
                     builder, loc, builder.getFloatAttr(arithmetic, value))};
}
Index LoopBuilder::index(int64_t value) {
  return {*this, arith::ConstantIndexOp::create(builder, loc, value)};
}
Scalar LoopBuilder::toScalar(Index index) {
  Value integer =
      create<arith::IndexCastOp>(*this, builder.getI64Type(), index.get());
  return {*this, create<arith::SIToFPOp>(*this, arithmetic, integer)};
}
Index LoopBuilder::toIndex(Value id) {
  return {*this, create<arith::IndexCastOp>(*this, builder.getIndexType(), id)};
}

Scalar LoopBuilder::exp(Scalar x) {
  return {*this, create<math::ExpOp>(*this, x.get())};
}
Scalar LoopBuilder::log(Scalar x) {
  return {*this, create<math::LogOp>(*this, x.get())};
}
Scalar LoopBuilder::sqrt(Scalar x) {
  return {*this, create<math::SqrtOp>(*this, x.get())};
}
Scalar LoopBuilder::sine(Scalar x) {
  return {*this, create<math::SinOp>(*this, x.get())};
}
Scalar LoopBuilder::cosine(Scalar x) {
  return {*this, create<math::CosOp>(*this, x.get())};
}
Scalar LoopBuilder::rsqrt(Scalar x) { return constant(1.0) / sqrt(x); }
Scalar LoopBuilder::sigmoid(Scalar x) {
  return constant(1.0) / (constant(1.0) + exp(-x));
}
Scalar LoopBuilder::larger(Scalar x, Scalar y) {
  return {*this, create<arith::MaximumFOp>(*this, x.get(), y.get())};
}
Scalar LoopBuilder::select(Value condition, Scalar ifTrue, Scalar ifFalse) {
  return {*this, create<arith::SelectOp>(*this, condition, ifTrue.get(),
                                         ifFalse.get())};
}

Value LoopBuilder::isNotNegative(Value id) {
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(id.getType()));
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::sge, id, zero);
}
Value LoopBuilder::isEqual(Index left, Index right) {
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::eq, left.get(),
                               right.get());
}
Value LoopBuilder::isLess(Index left, int64_t right) {
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::ult, left.get(),
                               index(right).get());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static SmallVector<Value> toValues(ArrayRef<Index> position) {
  return llvm::map_to_vector(position,
                             [](const Index &index) { return index.get(); });
}

/// `value` rounded or extended to `type`.
// Numbers in bf16 are 16 bits here and nothing else: wherever LLVM meets the
// type it may call a function to round, which not every library has.

/// The upper half of an f32 rounded to the nearest bf16, to the even one of
/// two.
static Value roundToBf16(LoopBuilder &loops, Value value) {
  OpBuilder &builder = loops.getBuilder();
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t number) {
    return create<arith::ConstantOp>(loops, builder.getI32IntegerAttr(number));
  };
  Value bits = create<arith::BitcastOp>(loops, i32, value);
  Value high = create<arith::ShRUIOp>(loops, bits, constant(16));
  Value odd = create<arith::AndIOp>(loops, high, constant(1));
  Value half = create<arith::AddIOp>(loops, odd, constant(0x7fff));
  Value rounded = create<arith::AddIOp>(loops, bits, half);
  // A NaN must not become infinite when its lower bits are cut off.
  Value quiet = create<arith::OrIOp>(loops, bits, constant(0x400000));
  Value isNan =
      create<arith::CmpFOp>(loops, arith::CmpFPredicate::UNO, value, value);
  Value chosen = create<arith::SelectOp>(loops, isNan, quiet, rounded);
  Value upper = create<arith::ShRUIOp>(loops, chosen, constant(16));
  return create<arith::TruncIOp>(loops, builder.getI16Type(), upper);
}

/// The f32 whose upper half `half` is.
static Value extendBf16(LoopBuilder &loops, Value half) {
  OpBuilder &builder = loops.getBuilder();
  Value wide = create<arith::ExtUIOp>(loops, builder.getI32Type(), half);
  Value shift = create<arith::ConstantOp>(loops, builder.getI32IntegerAttr(16));
  Value bits = create<arith::ShLIOp>(loops, wide, shift);
  return create<arith::BitcastOp>(loops, builder.getF32Type(), bits);
}

/// A buffer of bf16 as one of 16-bit integers; the two are the same to LLVM.
static Value asBits(LoopBuilder &loops, Value memref) {
  auto type = llvm::cast<MemRefType>(memref.getType());
  Type bits = MemRefType::get(type.getShape(), loops.getBuilder().getI16Type());
  return UnrealizedConversionCastOp::create(loops.getBuilder(), loops.getLoc(),
                                            bits, memref)
      .getResult(0);
}

static Value convertFloat(LoopBuilder &loops, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return create<arith::ExtFOp>(loops, type, value);
  if (from > to)
    return create<arith::TruncFOp>(loops, type, value);
  return value;
}

Scalar LoopBuilder::convert(Scalar other) {
  return {*this, convertFloat(*this, other.get(), arithmetic)};
}

Scalar Buffer::load(ArrayRef<Index> position) const {
  if (getType().getElementType().isBF16()) {
    Value half = create<memref::LoadOp>(*loops, asBits(*loops, memref),
                                        toValues(position));
    return loops->convert({*loops, extendBf16(*loops, half)});
  }
  Value element = create<memref::LoadOp>(*loops, memref, toValues(position));
  return loops->convert({*loops, element});
}

void Buffer::store(ArrayRef<Index> position, Scalar value) const {
  Value buffer = memref;
  Value element = value.get();
  if (getType().getElementType().isBF16()) {
    Type f32 = loops->getBuilder().getF32Type();
    element = roundToBf16(*loops, convertFloat(*loops, element, f32));
    buffer = asBits(*loops, memref);
  } else {
    element = convertFloat(*loops, element, getType().getElementType());
  }
  memref::StoreOp::create(loops->getBuilder(), loops->getLoc(), element, buffer,
                          toValues(position));
}

void Buffer::add(ArrayRef<Index> position, Scalar value) const {
  store(position, load(position) + value);
}

void Buffer::copy(ArrayRef<Index> position, Buffer from,
                  ArrayRef<Index> fromPosition) const {
  Value element = from.loadId(fromPosition);
  memref::StoreOp::create(loops->getBuilder(), loops->getLoc(), element, memref,
                          toValues(position));
}

Value Buffer::loadId(ArrayRef<Index> position) const {
  return create<memref::LoadOp>(*loops, memref, toValues(position));
}

// A memref is a bare pointer at a kernel's boundary and a descriptor inside.
// The table holds pointers: descriptors are constants but for them, and a table
// of descriptors would make the code of a kernel grow with the list.

static Type getDescriptorType(LoopBuilder &loops, MemRefType type) {
  return LLVMTypeConverter(loops.getBuilder().getContext()).convertType(type);
}

static Value cast(LoopBuilder &loops, Type type, Value value) {
  return UnrealizedConversionCastOp::create(loops.getBuilder(), loops.getLoc(),
                                            type, value)
      .getResult(0);
}

static Value getSlot(LoopBuilder &loops, Value table, LLVM::GEPArg index) {
  auto pointer = LLVM::LLVMPointerType::get(loops.getBuilder().getContext());
  return create<LLVM::GEPOp>(loops, pointer, pointer, table,
                             ArrayRef<LLVM::GEPArg>(index));
}

BufferList::BufferList(LoopBuilder &loops, ArrayRef<Buffer> buffers)
    : loops(&loops), first(buffers.front()), count(buffers.size()) {
  OpBuilder &builder = loops.getBuilder();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value size = LLVM::ConstantOp::create(builder, loops.getLoc(),
                                        builder.getI64IntegerAttr(count));
  table = create<LLVM::AllocaOp>(loops, pointer, pointer, size);
  Type descriptorType = getDescriptorType(loops, first.getType());
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    MemRefDescriptor descriptor(cast(loops, descriptorType, buffer.get()));
    LLVM::StoreOp::create(builder, loops.getLoc(),
                          descriptor.alignedPtr(builder, loops.getLoc()),
                          getSlot(loops, table, static_cast<int32_t>(index)));
  }
}

Buffer BufferList::operator[](Index index) const {
  OpBuilder &builder = loops->getBuilder();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value position =
      create<arith::IndexCastOp>(*loops, builder.getI64Type(), index.get());
  Value data =
      create<LLVM::LoadOp>(*loops, pointer, getSlot(*loops, table, position));
  Value descriptor = MemRefDescriptor::fromStaticShape(
      builder, loops->getLoc(), LLVMTypeConverter(builder.getContext()),
      first.getType(), data);
  return {*loops, cast(*loops, first.getType(), descriptor)};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LoopBuilder::loop(int64_t count, function_ref<void(Index)> body) {
  loop(index(count), body);
}

void LoopBuilder::loop(Index count, function_ref<void(Index)> body) {
  auto loop = scf::ForOp::create(builder, loc, index(0).get(), count.get(),
                                 index(1).get());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body({*this, loop.getInductionVar()});
}

void LoopBuilder::loops(ArrayRef<int64_t> counts,
                        function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> position;
  auto nest = [&](auto &&self) -> void {
    if (position.size() == counts.size())
      return body(position);
    loop(counts[position.size()], [&](Index index) {
      position.push_back(index);
      self(self);
      position.pop_back();
    });
  };
  nest(nest);
}

Scalar LoopBuilder::reduce(Index count, Scalar start,
                           function_ref<Scalar(Scalar, Index)> step) {
  auto loop = scf::ForOp::create(builder, loc, index(0).get(), count.get(),
                                 index(1).get(), ValueRange(start.get()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scalar next =
      step({*this, loop.getRegionIterArg(0)}, {*this, loop.getInductionVar()});
  scf::YieldOp::create(builder, loc, next.get());
  return {*this, loop.getResult(0)};
}

Scalar LoopBuilder::sum(int64_t count, function_ref<Scalar(Index)> term) {
  return sum(index(count), term);
}

Scalar LoopBuilder::sum(Index count, function_ref<Scalar(Index)> term) {
  return reduce(count, constant(0.0),
                [&](Scalar total, Index index) { return total + term(index); });
}

Scalar LoopBuilder::maximum(int64_t count, function_ref<Scalar(Index)> term) {
  return maximum(index(count), term);
}

Scalar LoopBuilder::maximum(Index count, function_ref<Scalar(Index)> term) {
  Scalar lowest = constant(-std::numeric_limits<double>::infinity());
  return reduce(count, lowest, [&](Scalar largest, Index index) {
    return larger(largest, term(index));
  });
}

void LoopBuilder::onlyIf(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

void LoopBuilder::fill(Buffer buffer, Scalar value) {
  loops(buffer.shape(),
        [&](ArrayRef<Index> position) { buffer.store(position, value); });
}
