//===- AccessOps.cpp - How a kernel's body reaches its arguments -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Row/RowOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::row;

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

/// A whole row of an argument of type `type`, as a value.
static VectorType getRowType(Type type) {
  return llvm::TypeSwitch<Type, VectorType>(type)
      .Case<MatrixType, ListType, SharedVectorType, SumType>(
          [](auto rows) { return rows.getRowType(); });
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value source,
                   Value index) {
  build(builder, state, getRowType(source.getType()), source, index, Value());
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value value,
                    Value target, Value index) {
  build(builder, state, value, target, index, Value());
}

void AccumulateOp::build(OpBuilder &builder, OperationState &state, Value value,
                         Value sum) {
  build(builder, state, value, sum, Value());
}

void LoadScalarOp::build(OpBuilder &builder, OperationState &state,
                         Value source, Value index, Value plane) {
  build(builder, state, getElementType(source.getType()), source, index, plane,
        Value());
}

void StoreScalarOp::build(OpBuilder &builder, OperationState &state,
                          Value value, Value target, Value index) {
  build(builder, state, value, target, index, Value());
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Fails unless `argument` is an argument of the kernel around `op`.
static FailureOr<BlockArgument> findArgument(Operation *op, Value argument) {
  auto blockArgument = dyn_cast<BlockArgument>(argument);
  if (blockArgument &&
      isa_and_nonnull<KernelOp>(blockArgument.getOwner()->getParentOp()))
    return blockArgument;
  return op->emitOpError() << "expected an argument of a row.kernel, got "
                           << argument;
}

static bool isOutput(BlockArgument argument) {
  return cast<KernelOp>(argument.getOwner()->getParentOp()).isOutput(argument);
}

static LogicalResult verifyOutput(Operation *op, Value target) {
  FailureOr<BlockArgument> argument = findArgument(op, target);
  if (failed(argument))
    return failure();
  if (!isOutput(*argument))
    return op->emitOpError()
           << "expected an output, got input " << argument->getArgNumber();
  return success();
}

/// Fails unless `value` is `row` or, with a column, a part of it.
static LogicalResult verifyRow(Operation *op, Type value, VectorType row,
                               Value column) {
  auto vector = cast<VectorType>(value);
  if (vector.getElementType() == row.getElementType() &&
      (column ? vector.getNumElements() <= row.getNumElements()
              : vector == row))
    return success();
  return op->emitOpError() << "expected a value of type " << row
                           << (column ? " or narrower" : "") << ", got "
                           << value;
}

LogicalResult LoadOp::verify() {
  FailureOr<BlockArgument> argument = findArgument(*this, getSource());
  if (failed(argument))
    return failure();
  if (isOutput(*argument)) // C1
    return emitOpError() << "expected an input, got output "
                         << argument->getArgNumber();
  Type type = getSource().getType();
  if (isa<ListType>(type) && !getIndex()) // C2
    return emitOpError() << "expected an index into the list";
  if (auto vector = dyn_cast<SharedVectorType>(type)) {
    if (getIndex())
      return emitOpError() << "expected no index into a vector";
    if (!vector.isWidthKnown())
      return emitOpError() << "expected a vector of known width, got "
                           << vector;
  }
  return verifyRow(*this, getType(), getRowType(type), getColumn()); // C3
}

LogicalResult StoreOp::verify() {
  if (failed(verifyOutput(*this, getTarget()))) // C1
    return failure();
  Type type = getTarget().getType();
  if (isa<ListType>(type) && !getIndex()) // C2
    return emitOpError() << "expected an index into the list";
  if (isa<MatrixType>(type) && getIndex())
    return emitOpError() << "expected no index: a row is stored by itself";
  return verifyRow(*this, getValue().getType(), getRowType(type),
                   getColumn()); // C3
}

LogicalResult AccumulateOp::verify() {
  if (failed(verifyOutput(*this, getSum()))) // C1
    return failure();
  SumType type = getSum().getType();
  if (!type.isWidthKnown()) { // C3
    if (getColumn() &&
        getValue().getType() == VectorType::get({1}, type.getArithmeticType()))
      return success();
    return emitOpError() << "expected one element and its column for " << type
                         << ", got " << getValue().getType();
  }
  return verifyRow(*this, getValue().getType(), getSum().getType().getRowType(),
                   getColumn()); // C2
}

/// Fails if it is not said which of several planes is meant.
static LogicalResult verifyPlane(Operation *op, ScalarsType type, Value plane) {
  if (type.getPlanes() > 1 && !plane)
    return op->emitOpError()
           << "expected one of " << type.getPlanes() << " planes";
  return success();
}

LogicalResult LoadScalarOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  Type type = adaptor.getSource().getType();
  if (!isa<ScalarsType, SharedVectorType>(type))
    return emitOptionalError(location, "expected scalars or a vector, got ",
                             type);
  types.push_back(getElementType(type));
  return success();
}

LogicalResult LoadScalarOp::verify() {
  FailureOr<BlockArgument> argument = findArgument(*this, getSource());
  if (failed(argument))
    return failure();
  if (isOutput(*argument) && getRow()) // C1
    return emitOpError() << "expected the current row of output "
                         << argument->getArgNumber();
  auto scalars = dyn_cast<ScalarsType>(getSource().getType());
  if (scalars)
    return verifyPlane(*this, scalars, getPlane()); // C2
  if (getRow() || getPlane())
    return emitOpError() << "expected neither row nor plane of a vector";
  return success();
}

LogicalResult StoreScalarOp::verify() {
  if (failed(verifyOutput(*this, getTarget()))) // C1
    return failure();
  Type expected = getTarget().getType().getElementType();
  if (getValue().getType() != expected) // C2
    return emitOpError() << "expected a value of type " << expected << ", got "
                         << getValue().getType();
  return verifyPlane(*this, getTarget().getType(), getPlane()); // C3
}

LogicalResult SpreadOp::verify() {
  if (failed(findArgument(*this, getSource())) ||                    // C1
      failed(verifyPlane(*this, getSource().getType(), getPlane()))) // C2
    return failure();
  Type expected = getSource().getType().getElementType();
  if (getType().getElementType() != expected) // C3
    return emitOpError() << "expected elements of " << expected << ", got "
                         << getType();
  int64_t groups = getGroups(), width = getType().getNumElements();
  if (groups <= 0 || width % groups != 0) // C4
    return emitOpError() << "expected 'groups' to divide " << width
                         << " columns, got " << groups;
  return success();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Value isobath::row::getNumberSource(Operation *op) {
  if (auto load = dyn_cast<LoadScalarOp>(op))
    return load.getSource();
  if (auto spread = dyn_cast<SpreadOp>(op))
    return spread.getSource();
  return {};
}
