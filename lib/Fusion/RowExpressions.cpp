//===- RowExpressions.cpp - What a row kernel computes and where ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Fusion/RowBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

template <typename OpTy, typename... Args>
static Value create(RowBuilder &rows, Args... args) {
  return OpTy::create(rows.getBuilder(), rows.getLoc(), args...);
}

//===----------------------------------------------------------------------===//
// Positions and numbers
//===----------------------------------------------------------------------===//

Index Index::operator+(Index other) const {
  return {*rows, create<arith::AddIOp>(*rows, value, other.value)};
}
Index Index::operator+(int64_t other) const {
  return *this + rows->index(other);
}
Index Index::operator-(Index other) const {
  return {*rows, create<arith::SubIOp>(*rows, value, other.value)};
}
Index Index::operator-(int64_t other) const {
  return *this - rows->index(other);
}
Index Index::operator*(Index factor) const {
  return {*rows, create<arith::MulIOp>(*rows, value, factor.value)};
}
Index Index::operator*(int64_t factor) const {
  return factor == 1 ? *this : *this * rows->index(factor);
}
Index Index::operator/(int64_t divisor) const {
  if (divisor == 1)
    return *this;
  return {*rows,
          create<arith::DivUIOp>(*rows, value, rows->index(divisor).get())};
}
Index Index::operator%(int64_t divisor) const {
  return {*rows,
          create<arith::RemUIOp>(*rows, value, rows->index(divisor).get())};
}

int64_t Numbers::width() const {
  return cast<VectorType>(value.getType()).getNumElements();
}

/// `value` with the shape of `type`, which is a vector if `value` is one.
static Value broadcast(RowBuilder &rows, Value value, Type type) {
  if (!isa<VectorType>(type) || isa<VectorType>(value.getType()))
    return value;
  return create<vector::BroadcastOp>(rows, type, value);
}

template <typename OpTy> static Numbers combine(Numbers left, Numbers right) {
  RowBuilder &rows = left.getBuilder();
  Value l = broadcast(rows, left.get(), right.get().getType());
  Value r = broadcast(rows, right.get(), left.get().getType());
  return {rows, create<OpTy>(rows, l, r, arith::FastMathFlags::contract)};
}

Numbers isobath::fusion::operator+(Numbers left, Numbers right) {
  return combine<arith::AddFOp>(left, right);
}
Numbers isobath::fusion::operator-(Numbers left, Numbers right) {
  return combine<arith::SubFOp>(left, right);
}
Numbers isobath::fusion::operator*(Numbers left, Numbers right) {
  return combine<arith::MulFOp>(left, right);
}
Numbers isobath::fusion::operator/(Numbers left, Numbers right) {
  return combine<arith::DivFOp>(left, right);
}
Numbers isobath::fusion::operator-(Numbers operand) {
  RowBuilder &rows = operand.getBuilder();
  return {rows, create<arith::NegFOp>(rows, operand.get())};
}

Numbers isobath::fusion::exp(Numbers x) {
  return {x.getBuilder(), create<math::ExpOp>(x.getBuilder(), x.get())};
}
Numbers isobath::fusion::sqrt(Numbers x) {
  return {x.getBuilder(), create<math::SqrtOp>(x.getBuilder(), x.get())};
}
Number isobath::fusion::log(Number x) {
  return {x.getBuilder(), create<math::LogOp>(x.getBuilder(), x.get())};
}
Numbers isobath::fusion::rsqrt(Numbers x) {
  return x.getBuilder().constant(1.0) / sqrt(x);
}
Numbers isobath::fusion::sigmoid(Numbers x) {
  Number one = x.getBuilder().constant(1.0);
  return one / (one + exp(-x));
}
Number isobath::fusion::larger(Number x, Number y) {
  RowBuilder &rows = x.getBuilder();
  return {rows, create<arith::MaximumFOp>(rows, x.get(), y.get())};
}

static Number reduce(Row row, vector::CombiningKind kind) {
  RowBuilder &rows = row.getBuilder();
  return {rows, create<vector::ReductionOp>(rows, kind, row.get(),
                                            arith::FastMathFlags::contract)};
}
Number isobath::fusion::sum(Row row) {
  return reduce(row, vector::CombiningKind::ADD);
}
Number isobath::fusion::dot(Row left, Row right) { return sum(left * right); }
Number isobath::fusion::maximum(Row row) {
  return reduce(row, vector::CombiningKind::MAXIMUMF);
}

Number isobath::fusion::first(Row row) {
  RowBuilder &rows = row.getBuilder();
  return {rows, create<vector::ExtractOp>(rows, row.get(), int64_t(0))};
}

/// `value`, a number or a row, rounded or extended to elements of `type`.
static Value convert(RowBuilder &rows, Value value, Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == type)
    return value;
  Type to = type;
  if (auto row = dyn_cast<VectorType>(value.getType()))
    to = row.clone(type);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return create<arith::ExtFOp>(rows, to, value);
  return create<arith::TruncFOp>(rows, to, value);
}

/// bf16 is a storage type: all arithmetic is f32 unless it is f64.
static Numbers fromStorage(RowBuilder &rows, Value value) {
  if (getElementTypeOrSelf(value.getType()).isBF16())
    value = convert(rows, value, rows.getBuilder().getF32Type());
  return {rows, value};
}

Row isobath::fusion::widened(Row row) {
  RowBuilder &rows = row.getBuilder();
  return {rows, convert(rows, row.get(), rows.getBuilder().getF64Type())};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Row RowPlace::load() const {
  return fromStorage(*rows, create<row::LoadOp>(*rows, argument, number));
}

Row RowPlace::load(Index column, int64_t width) const {
  auto type = VectorType::get({width}, row::getElementType(argument.getType()));
  return fromStorage(*rows, create<row::LoadOp>(*rows, Type(type), argument,
                                                number, column.get()));
}

void RowPlace::store(Row row) const {
  Type type = row::getElementType(argument.getType());
  row::StoreOp::create(rows->getBuilder(), rows->getLoc(),
                       convert(*rows, row.get(), type), argument, number);
}

void RowPlace::store(Row row, Index column) const {
  Type type = row::getElementType(argument.getType());
  row::StoreOp::create(rows->getBuilder(), rows->getLoc(),
                       convert(*rows, row.get(), type), argument, number,
                       column.get());
}

Index List::count() const {
  return {*rows, create<row::CountOp>(*rows, argument)};
}

static Index toIndex(RowBuilder &rows, Value id) {
  return {rows, create<arith::IndexCastOp>(
                    rows, rows.getBuilder().getIndexType(), id)};
}

static Value loadScalar(RowBuilder &rows, Value argument, Index index,
                        Value plane = {}) {
  return create<row::LoadScalarOp>(rows, argument, index.get(), plane);
}

Number Vector::number(Index index) const {
  return fromStorage(*rows, loadScalar(*rows, argument, index));
}
Index Vector::id(Index index) const {
  return toIndex(*rows, loadScalar(*rows, argument, index));
}

void Sum::add(Row row) const {
  row::AccumulateOp::create(rows->getBuilder(), rows->getLoc(), row.get(),
                            argument, Value());
}
void Sum::add(Row row, Index column) const {
  row::AccumulateOp::create(rows->getBuilder(), rows->getLoc(), row.get(),
                            argument, column.get());
}

Value Scalars::planeOperand(int64_t plane) const {
  auto type = cast<row::ScalarsType>(argument.getType());
  return type.getPlanes() == 1 ? Value() : rows->index(plane).get();
}
Number Scalars::load(Index index, int64_t plane) const {
  Value planeValue = planeOperand(plane);
  return fromStorage(*rows, loadScalar(*rows, argument, index, planeValue));
}
Index Scalars::loadId(Index index) const {
  return toIndex(*rows, loadScalar(*rows, argument, index));
}
Numbers Scalars::spread(Index first, Index stride, int64_t groups,
                        int64_t width, int64_t plane) const {
  if (groups == 1)
    return load(first, plane);
  auto type = VectorType::get({width}, row::getElementType(argument.getType()));
  Value planeValue = planeOperand(plane);
  return fromStorage(*rows, create<row::SpreadOp>(*rows, Type(type), argument,
                                                  first.get(), stride.get(),
                                                  planeValue, groups));
}
void Scalars::store(Number value, Index index, int64_t plane) const {
  Value planeValue = planeOperand(plane);
  row::StoreScalarOp::create(
      rows->getBuilder(), rows->getLoc(),
      convert(*rows, value.get(), row::getElementType(argument.getType())),
      argument, index.get(), planeValue);
}
Index Scalars::width() const {
  return {*rows, create<row::WidthOp>(*rows, argument)};
}
