//===- RowBuilder.cpp - Row kernels, written as one writes formulas -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Fusion/RowBuilder.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Fusion/FuseKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

template <typename OpTy, typename... Args>
static Value create(RowBuilder &rows, Args... args) {
  return OpTy::create(rows.getBuilder(), rows.getLoc(), args...);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value ConstantTables::get(Block *block, StringRef name, Attribute key,
                          ArrayRef<int64_t> shape,
                          function_ref<void(MutableArrayRef<float>)> fill) {
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  Key fullKey{name.str(), key.getAsOpaquePointer(), type.getAsOpaquePointer()};
  Value &constant = placed[{fullKey, block}];
  if (constant)
    return constant;
  ElementsAttr &content = contents[fullKey];
  if (!content) {
    SmallVector<float> values(type.getNumElements());
    fill(values);
    content = DenseElementsAttr::get(type, ArrayRef<float>(values));
  }
  constant = arith::ConstantOp::create(builder, block->front().getLoc(),
                                       cast<TypedAttr>(content));
  return constant;
}

RowBuilder::RowBuilder(Operation *op, ConstantTables &tables)
    : op(op), tables(tables), builder(op->getContext()), loc(op->getLoc()) {
  kernel = row::KernelOp::create(builder, loc, op->getName().stripDialect(),
                                 TypeRange(), TypeRange());
  builder.setInsertionPoint(kernel->getBody()->getTerminator());
}

Value RowBuilder::addInput(StringRef name, Type type, ValueRange tensors) {
  assert(outputs.empty() && "inputs come before outputs");
  inputs.emplace_back(tensors);
  return kernel->getBody()->addArgument(
      type, NameLoc::get(builder.getStringAttr(name), loc));
}

Value RowBuilder::addOutput(StringRef name, Type type, TypeRange tensorTypes,
                            ValueRange replaced) {
  outputs.emplace_back(tensorTypes);
  results.emplace_back(replaced);
  return kernel->getBody()->addArgument(
      type, NameLoc::get(builder.getStringAttr(name), loc));
}

static Type elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

template <typename TypeTy> static Type wideType(Value tensor, int64_t width) {
  return TypeTy::get(tensor.getContext(), width, elementType(tensor));
}

template <typename TypeTy> static Type wideType(Value tensor) {
  return wideType<TypeTy>(
      tensor, cast<RankedTensorType>(tensor.getType()).getNumElements());
}

/// The tensor to load from where an op reads `tensor`: loads extend by
/// themselves, so that the extended tensor need not exist.
static Value asStored(Value tensor) {
  auto cast = tensor.getDefiningOp<net::CastOp>();
  return cast && cast.isExtension() ? cast.getInput() : tensor;
}

/// The same for the tensors of a list, which have one type.
static SmallVector<Value> asStored(ValueRange tensors) {
  SmallVector<Value> stored;
  for (Value tensor : tensors)
    stored.push_back(asStored(tensor));
  if (llvm::all_equal(llvm::map_range(
          stored, [](Value value) { return getElementTypeOrSelf(value); })))
    return stored;
  return SmallVector<Value>(tensors);
}

Matrix RowBuilder::matrix(StringRef name, Value tensor, int64_t width) {
  tensor = asStored(tensor);
  return {*this,
          addInput(name, wideType<row::MatrixType>(tensor, width), tensor)};
}
List RowBuilder::list(StringRef name, ValueRange tensors, int64_t width) {
  SmallVector<Value> stored = asStored(tensors);
  return {*this, addInput(name, wideType<row::ListType>(stored.front(), width),
                          stored)};
}
Vector RowBuilder::vector(StringRef name, Value tensor) {
  return {*this,
          addInput(name, wideType<row::SharedVectorType>(tensor), tensor)};
}
Scalars RowBuilder::scalars(StringRef name, Value tensor, int64_t planes) {
  return {*this,
          addInput(name, row::ScalarsType::get(elementType(tensor), planes),
                   tensor)};
}

Scalars RowBuilder::scalarsFrom(StringRef name, Value tensor,
                                int64_t firstPlane, int64_t planes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  // Planes lie one behind the other, as the tokens of sequences do.
  if (planes != shape[0]) {
    OpBuilder before(op);
    tensor = net::TakeTokensOp::create(
        before, loc, tensor, firstPlane * shape[1], planes * shape[1]);
  }
  return scalars(name, tensor, planes);
}

Number RowBuilder::parameter(StringRef name, FloatAttr value) {
  Value tensor = tables.get(
      op->getBlock(), name, value, {1}, [&](MutableArrayRef<float> numbers) {
        numbers[0] = static_cast<float>(value.getValueAsDouble());
      });
  return vector(name, tensor).number(index(0));
}

Matrix RowBuilder::table(StringRef name, Attribute key, ArrayRef<int64_t> shape,
                         function_ref<void(MutableArrayRef<float>)> fill) {
  return matrix(name, tables.get(op->getBlock(), name, key, shape, fill),
                shape.back());
}

/// `name`, with its position if there are several.
static std::string numbered(StringRef name, size_t position, size_t count) {
  return count == 1 ? name.str() : (name + Twine(position)).str();
}

SmallVector<Vector> RowBuilder::vectors(StringRef name, ValueRange tensors) {
  SmallVector<Vector> all;
  for (auto [position, tensor] : llvm::enumerate(tensors))
    all.push_back(vector(numbered(name, position, tensors.size()), tensor));
  return all;
}
SmallVector<Vector> RowBuilder::vectorsOfAnyWidth(StringRef name,
                                                  ValueRange tensors) {
  SmallVector<Vector> all;
  for (auto [position, tensor] : llvm::enumerate(tensors))
    all.push_back({*this, addInput(numbered(name, position, tensors.size()),
                                   wideType<row::SharedVectorType>(
                                       tensor, ShapedType::kDynamic),
                                   tensor)});
  return all;
}
SmallVector<Matrix> RowBuilder::matrices(StringRef name, ValueRange tensors,
                                         int64_t width) {
  SmallVector<Matrix> all;
  for (auto [position, tensor] : llvm::enumerate(tensors))
    all.push_back(
        matrix(numbered(name, position, tensors.size()), tensor, width));
  return all;
}

Matrix RowBuilder::matrixOutput(StringRef name, Value result, int64_t width) {
  return {*this, addOutput(name, wideType<row::MatrixType>(result, width),
                           result.getType(), result)};
}
SmallVector<Matrix>
RowBuilder::matrixOutputs(StringRef name, ValueRange results, int64_t width) {
  SmallVector<Matrix> all;
  for (auto [position, result] : llvm::enumerate(results))
    all.push_back(
        matrixOutput(numbered(name, position, results.size()), result, width));
  return all;
}
List RowBuilder::listOutput(StringRef name, ValueRange results, int64_t width) {
  return {*this,
          addOutput(name, wideType<row::ListType>(results.front(), width),
                    results.getTypes(), results)};
}
Sum RowBuilder::sumOutput(StringRef name, Value result) {
  return {*this, addOutput(name, wideType<row::SumType>(result),
                           result.getType(), result)};
}
SmallVector<Sum> RowBuilder::sumOutputs(StringRef name, ValueRange results) {
  SmallVector<Sum> all;
  for (auto [position, result] : llvm::enumerate(results))
    all.push_back(sumOutput(numbered(name, position, results.size()), result));
  return all;
}
SmallVector<Sum> RowBuilder::sumOutputsOfAnyWidth(StringRef name,
                                                  ValueRange results) {
  SmallVector<Sum> all;
  for (auto [position, result] : llvm::enumerate(results))
    all.push_back(
        {*this, addOutput(numbered(name, position, results.size()),
                          wideType<row::SumType>(result, ShapedType::kDynamic),
                          result.getType(), result)});
  return all;
}
Scalars RowBuilder::scalarsOutput(StringRef name, Value result,
                                  int64_t planes) {
  return {*this,
          addOutput(name, row::ScalarsType::get(elementType(result), planes),
                    result.getType(), result)};
}
Scalars RowBuilder::scratch(StringRef name, int64_t planes, int64_t width) {
  Type number = builder.getF32Type();
  Type tensor = RankedTensorType::get({planes, rowCount, width}, number);
  return {*this, addOutput(name, row::ScalarsType::get(number, planes), tensor,
                           ValueRange())};
}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

Index RowBuilder::row() { return {*this, create<row::IndexOp>(*this)}; }
Index RowBuilder::index(int64_t value) {
  return {*this, arith::ConstantIndexOp::create(builder, loc, value)};
}
Number RowBuilder::constant(double value) {
  return {*this, arith::ConstantOp::create(builder, loc,
                                           builder.getF32FloatAttr(value))};
}
Number RowBuilder::toNumber(Index index) {
  Value integer =
      create<arith::IndexCastOp>(*this, builder.getI32Type(), index.get());
  return {*this, create<arith::SIToFPOp>(*this, builder.getF32Type(), integer)};
}
/// A row of `type` whose elements all are `value`.
static Value broadcast(RowBuilder &rows, Value value, VectorType type) {
  return create<vector::BroadcastOp>(rows, Type(type), value);
}

Row RowBuilder::filled(Number value, int64_t width) {
  auto type = VectorType::get({width}, value.get().getType());
  return {*this, broadcast(*this, value.get(), type)};
}
Row RowBuilder::oneHot(Index index, Number ifEqual, int64_t width) {
  auto type = VectorType::get({width}, builder.getIndexType());
  Value columns = create<vector::StepOp>(*this, type);
  Value wanted = broadcast(*this, index.get(), type);
  Value isWanted =
      create<arith::CmpIOp>(*this, arith::CmpIPredicate::eq, columns, wanted);
  return {*this,
          create<arith::SelectOp>(*this, isWanted, filled(ifEqual, width).get(),
                                  filled(constant(0.0), width).get())};
}

void RowBuilder::loop(Index count, function_ref<void(Index)> body) {
  carry(index(0), count, {}, [&](Index i, ArrayRef<Numbers>) {
    body(i);
    return SmallVector<Numbers>();
  });
}

void RowBuilder::loop(int64_t count, function_ref<void(Index)> body) {
  if (count == 1)
    return body(index(0));
  loop(index(count), body);
}

SmallVector<Numbers> RowBuilder::carry(
    Index first, Index last, ArrayRef<Numbers> start,
    function_ref<SmallVector<Numbers>(Index, ArrayRef<Numbers>)> step) {
  SmallVector<Value> startValues;
  for (Numbers numbers : start)
    startValues.push_back(numbers.get());
  auto loop = scf::ForOp::create(builder, loc, first.get(), last.get(),
                                 index(1).get(), startValues);
  auto wrap = [&](ValueRange values) {
    SmallVector<Numbers> wrapped;
    for (Value value : values)
      wrapped.emplace_back(*this, value);
    return wrapped;
  };
  OpBuilder::InsertionGuard guard(builder);
  if (start.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next;
  for (Numbers numbers :
       step({*this, loop.getInductionVar()}, wrap(loop.getRegionIterArgs())))
    next.push_back(numbers.get());
  if (!start.empty())
    scf::YieldOp::create(builder, loc, next);
  return wrap(loop.getResults());
}

Number RowBuilder::sum(Index count, function_ref<Number(Index)> term) {
  return carry(index(0), count, constant(0.0),
               [&](Index i, ArrayRef<Numbers> total) -> SmallVector<Numbers> {
                 return {total[0] + term(i)};
               })[0];
}

Number RowBuilder::maximum(Index count, function_ref<Number(Index)> term) {
  Number lowest = constant(-std::numeric_limits<double>::infinity());
  return carry(index(0), count, lowest,
               [&](Index i, ArrayRef<Numbers> largest) -> SmallVector<Numbers> {
                 return {larger(largest[0], term(i))};
               })[0];
}

Value RowBuilder::isNegative(Index index) {
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::slt, index.get(),
                               this->index(0).get());
}
Value RowBuilder::isEqual(Index left, Index right) {
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::eq, left.get(),
                               right.get());
}
Value RowBuilder::isLess(Index left, int64_t right) {
  return create<arith::CmpIOp>(*this, arith::CmpIPredicate::ult, left.get(),
                               index(right).get());
}
Number RowBuilder::select(Value condition, Number ifTrue, Number ifFalse) {
  return {*this, create<arith::SelectOp>(*this, condition, ifTrue.get(),
                                         ifFalse.get())};
}
Index RowBuilder::clampedToZero(Index index) {
  return {*this,
          create<arith::MaxSIOp>(*this, index.get(), this->index(0).get())};
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

OwningOpRef<row::KernelOp> RowBuilder::finish() {
  TypeRange types = kernel->getBody()->getArgumentTypes();
  kernel->setFunctionType(builder.getFunctionType(
      types.take_front(inputs.size()), types.drop_front(inputs.size())));
  // Builders ask for the same constants and loads again and again.
  tidyKernel(*kernel);
  return std::move(kernel);
}

row::CallOp RowBuilder::createCall(row::KernelOp sharedKernel) {
  builder.setInsertionPoint(op);
  auto call = row::CallOp::create(builder, loc, sharedKernel, inputs, outputs,
                                  rowCount);
  for (auto [position, replaced] : llvm::enumerate(results))
    for (auto [result, value] :
         llvm::zip(replaced, call.getOutputGroup(position)))
      result.replaceAllUsesWith(value);
  return call;
}
