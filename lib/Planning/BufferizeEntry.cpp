//===- BufferizeEntry.cpp - From tensors to the buffers of an entry -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace isobath;

Value isobath::createView(OpBuilder &builder, Location loc, Value bytes,
                          int64_t offset, MemRefType type) {
  Value start = arith::ConstantIndexOp::create(builder, loc, offset);
  return memref::ViewOp::create(builder, loc, type, bytes, start, ValueRange());
}

static MemRefType toMemRef(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

static int64_t countBytes(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() * shaped.getElementTypeBitWidth() / 8;
}

/// The elements that a tensor has of one token.
static int64_t countElementsOfToken(Type type) {
  return cast<ShapedType>(type).getNumElements() / net::countTokens(type);
}

namespace {
/// The new function, filled from the old one.
class EntryBufferizer {
public:
  EntryBufferizer(func::FuncOp entry, const net::ParameterLayout &layout,
                  CanUpdateInPlace canUpdateInPlace)
      : entry(entry), layout(layout), canUpdateInPlace(canUpdateInPlace),
        builder(entry.getContext()), loc(entry.getLoc()) {
    builder.setInsertionPoint(entry);
    buffered = func::FuncOp::create(builder, loc, entry.getName(),
                                    builder.getFunctionType({}, {}));
    block = buffered.addEntryBlock();
    builder.setInsertionPointToEnd(block);
  }

  LogicalResult run(BuildLaunch build);

private:
  void mapArguments();
  LogicalResult mapResults();
  void setDestination(OpResult value, Value destination);
  bool canReplace(OpResult value, Value old);
  Value findReusable(OpResult value);
  Value getResultBuffer(OpResult value);
  LogicalResult launch(Operation &op, BuildLaunch build);
  void finish();

  /// A new argument, with one more attribute where `value` is not null.
  Value addBuffer(Type type, Attribute name, StringRef attribute = {},
                  Attribute value = {}) {
    NamedAttrList attributes;
    attributes.append(net::nameAttrName, name);
    if (value)
      attributes.append(attribute, value);
    argumentAttributes.push_back(
        attributes.getDictionary(builder.getContext()));
    return block->addArgument(type, loc);
  }

  /// A buffer of bytes with the parameters' layout.
  Value addVector(StringRef name) {
    int64_t bytes = layout.getElements() *
                    layout.getElementType().getIntOrFloatBitWidth() / 8;
    return addBuffer(MemRefType::get({bytes}, builder.getI8Type()),
                     builder.getStringAttr(name), net::vectorOfAttrName,
                     TypeAttr::get(layout.getElementType()));
  }

  Value viewSlot(Value vector, const net::ParameterSlot &slot) {
    int64_t elementBytes = slot.type.getElementTypeBitWidth() / 8;
    return createView(builder, loc, vector, slot.offset * elementBytes,
                      toMemRef(slot.type));
  }

  // Parts of tensors; see the end of the file.
  struct Bytes {
    Value buffer;
    int64_t offset;
  };
  void findParts();
  bool hasBytes(Value tensor) const {
    return wholes.contains(tensor) || placeInWhole.contains(tensor);
  }
  Bytes getBytes(Value tensor);
  Value createPart(Value buffer, int64_t offset, Type type);
  void take(net::TakeTokensOp op);
  void join(net::JoinTokensOp op);

  /// A buffer that a result is copied to when all is done.
  struct Copy {
    Value from, to;
  };

  func::FuncOp entry;
  const net::ParameterLayout &layout;
  CanUpdateInPlace canUpdateInPlace;
  OpBuilder builder;
  Location loc;
  func::FuncOp buffered;
  Block *block;
  SmallVector<Attribute> argumentAttributes;
  IRMapping buffers;           // tensor to memref
  IRMapping destinations;      // a tensor that is computed in a result's buffer
  llvm::DenseSet<Value> owned; // tensors that have a buffer to themselves
  llvm::DenseSet<Value> wholes; // tensors that others may be parts of
  llvm::DenseMap<Value, std::pair<Value, int64_t>> placeInWhole; // in bytes
  llvm::DenseMap<Value, Bytes> bytesOf;
  SmallVector<Copy> copies;
};
} // namespace

void EntryBufferizer::mapArguments() {
  Value parameters;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (entry.getArgAttr(index, net::parameterAttrName)) {
      if (!parameters)
        parameters = addVector("parameters");
      continue;
    }
    auto name = entry.getArgAttrOfType<StringAttr>(index, net::nameAttrName);
    if (!name)
      name = builder.getStringAttr("argument " + std::to_string(index));
    buffers.map(argument, addBuffer(toMemRef(argument.getType()), name));
  }
  for (const net::ParameterSlot &slot : layout.getSlots())
    buffers.map(entry.getArgument(slot.argument), viewSlot(parameters, slot));
}

/// `value` is computed in `destination`, and with it, what it replaces in
/// place.
void EntryBufferizer::setDestination(OpResult value, Value destination) {
  destinations.map(value, destination);
  for (Value operand : value.getOwner()->getOperands()) {
    auto old = dyn_cast<OpResult>(operand);
    if (old && !destinations.contains(old) &&
        !isa<net::TakeTokensOp, net::JoinTokensOp>(old.getOwner()) &&
        old.getType() == value.getType() && canReplace(value, old))
      return setDestination(old, destination);
  }
}

/// Whether the op that computes `value` is the last to read `old`, and reads it
/// in such a way that both may be one buffer.
bool EntryBufferizer::canReplace(OpResult value, Value old) {
  Operation *op = value.getOwner();
  return canUpdateInPlace && llvm::all_of(old.getUses(), [&](OpOperand &use) {
           Operation *reader = use.getOwner();
           return reader == op ? canUpdateInPlace(op, use.getOperandNumber(),
                                                  value.getResultNumber())
                               : reader->isBeforeInBlock(op);
         });
}

/// A buffer of an operand that `value`, a result, can be computed in; or null.
Value EntryBufferizer::findReusable(OpResult value) {
  for (Value operand : value.getOwner()->getOperands())
    if (owned.contains(operand) && operand.getType() == value.getType() &&
        canReplace(value, operand)) {
      owned.erase(operand);
      return buffers.lookup(operand);
    }
  return {};
}

LogicalResult EntryBufferizer::mapResults() {
  Operation *terminator = entry.getBody().front().getTerminator();
  Value gradients;
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    if (auto updates = entry.getResultAttrOfType<IntegerAttr>(
            index, net::updatesAttrName)) {
      // Written at the end: until then the argument may still be read. An
      // argument itself could be overwritten by another such copy first.
      if (!isa<OpResult>(value))
        return entry.emitOpError() << "expected result " << index
                                   << ", which updates an argument, to be "
                                      "computed, got an argument";
      BlockArgument argument = entry.getArgument(updates.getInt());
      Value buffer = buffers.lookup(argument);
      if (!destinations.contains(value) &&
          !entry.getArgAttr(updates.getInt(), net::parameterAttrName) &&
          canReplace(cast<OpResult>(value), argument))
        destinations.map(value, buffer);
      else
        copies.push_back({value, buffer});
      continue;
    }
    Value destination;
    if (auto of = entry.getResultAttrOfType<StringAttr>(
            index, net::gradientAttrName)) {
      const net::ParameterSlot *slot = layout.find(of.getValue());
      if (!slot || slot->type != value.getType())
        return entry.emitOpError()
               << "expected the gradient of a parameter of type "
               << value.getType() << " as result " << index << ", got '"
               << of.getValue() << "'";
      if (!gradients)
        gradients = addVector("gradients");
      destination = viewSlot(gradients, *slot);
    } else if (auto name = entry.getResultAttrOfType<StringAttr>(
                   index, net::nameAttrName)) {
      destination =
          addBuffer(toMemRef(value.getType()), name, net::distributionAttrName,
                    entry.getResultAttr(index, net::distributionAttrName));
    } else {
      return entry.emitOpError() << "expected a name for result " << index;
    }
    if (isa<OpResult>(value) && !destinations.contains(value))
      setDestination(cast<OpResult>(value), destination);
    else
      copies.push_back({value, destination});
  }
  return success();
}

/// The buffer that `value` is to be computed in.
Value EntryBufferizer::getResultBuffer(OpResult value) {
  if (Value destination = destinations.lookupOrNull(value))
    return destination;
  MemRefType type = toMemRef(value.getType());
  if (hasBytes(value)) {
    Bytes bytes = getBytes(value);
    return createView(builder, value.getLoc(), bytes.buffer, bytes.offset,
                      type);
  }
  Value buffer = findReusable(value);
  owned.insert(value);
  return buffer ? buffer
                : memref::AllocOp::create(builder, value.getLoc(), type);
}

LogicalResult EntryBufferizer::launch(Operation &op, BuildLaunch build) {
  SmallVector<Value> operands, results;
  for (Value operand : op.getOperands())
    operands.push_back(buffers.lookup(operand));
  for (OpResult result : op.getResults()) {
    buffers.map(result, getResultBuffer(result));
    results.push_back(buffers.lookup(result));
  }
  return build(builder, &op, operands, results);
}

void EntryBufferizer::finish() {
  for (Copy copy : copies)
    memref::CopyOp::create(builder, loc, buffers.lookup(copy.from), copy.to);
  func::ReturnOp::create(builder, loc);
  buffered.setFunctionType(
      builder.getFunctionType(block->getArgumentTypes(), {}));
  buffered.setArgAttrsAttr(builder.getArrayAttr(argumentAttributes));
  entry.erase();
}

LogicalResult EntryBufferizer::run(BuildLaunch build) {
  mapArguments();
  if (failed(mapResults()))
    return failure();
  bool sharesBuffers = bool(canUpdateInPlace);
  if (sharesBuffers)
    findParts();
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (auto part = dyn_cast<net::TakeTokensOp>(op); part && sharesBuffers)
      take(part);
    else if (auto whole = dyn_cast<net::JoinTokensOp>(op);
             whole && sharesBuffers)
      join(whole);
    else if (failed(launch(op, build)))
      return failure();
  }
  finish();
  return success();
}

LogicalResult isobath::bufferizeEntry(func::FuncOp entry, BuildLaunch build,
                                      CanUpdateInPlace canUpdateInPlace) {
  FailureOr<net::ParameterLayout> layout = net::ParameterLayout::get(entry);
  if (failed(layout))
    return failure();
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError()
           << "expected straight-line code, got "
           << entry.getBody().getBlocks().size() << " blocks";
  auto isStaticTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getElementType().isIntOrFloat();
  };
  for (Type type : entry.getArgumentTypes())
    if (!isStaticTensor(type))
      return entry.emitOpError()
             << "expected arguments that are static tensors, got " << type;
  for (Operation &op : entry.getBody().front().without_terminator())
    for (Type type : op.getResultTypes())
      if (!isStaticTensor(type))
        return op.emitOpError()
               << "expected results that are static tensors, got " << type;
  return EntryBufferizer(entry, *layout, canUpdateInPlace).run(build);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//
//
// A tensor that others are parts of has a buffer of bytes, into which it and
// they are views. What has its place from outside, arguments and results of the
// entry, has a buffer of its own type: parts are copied from and to it.

/// Finds the tensors that are to have buffers of bytes, and those that are
/// computed inside of them.
void EntryBufferizer::findParts() {
  auto isIntermediate = [&](Value tensor) {
    return isa<OpResult>(tensor) && !destinations.contains(tensor);
  };
  for (Operation &op : entry.getBody().front()) {
    if (auto part = dyn_cast<net::TakeTokensOp>(op);
        part && isIntermediate(part.getInput()))
      wholes.insert(part.getInput());
    auto whole = dyn_cast<net::JoinTokensOp>(op);
    if (!whole || !isIntermediate(whole.getOutput()))
      continue;
    wholes.insert(whole.getOutput());
    int64_t offset = 0;
    for (Value part : whole.getParts()) {
      // A part of one thing is no part of another, or of the same twice.
      if (isIntermediate(part) && !part.getDefiningOp<net::TakeTokensOp>())
        placeInWhole.try_emplace(part, whole.getOutput(), offset);
      offset += countBytes(part.getType());
    }
  }
}

/// The bytes of a tensor that has some; the first time allocates them.
EntryBufferizer::Bytes EntryBufferizer::getBytes(Value tensor) {
  if (auto found = bytesOf.find(tensor); found != bytesOf.end())
    return found->second;
  Bytes bytes;
  if (auto place = placeInWhole.find(tensor); place != placeInWhole.end()) {
    auto [whole, offset] = place->second;
    bytes = getBytes(whole);
    bytes.offset += offset;
  } else {
    auto type =
        MemRefType::get({countBytes(tensor.getType())}, builder.getI8Type());
    bytes = {memref::AllocOp::create(builder, tensor.getLoc(), type), 0};
  }
  bytesOf[tensor] = bytes;
  return bytes;
}

/// Elements of `buffer` from number `offset` on, with the shape of `type`.
Value EntryBufferizer::createPart(Value buffer, int64_t offset, Type type) {
  MemRefType whole = toMemRef(type);
  SmallVector<int64_t> strides = whole.getStridesAndOffset().first;
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, strides);
  return memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(whole.getShape(), whole.getElementType(), layout), buffer,
      offset, whole.getShape(), strides);
}

void EntryBufferizer::take(net::TakeTokensOp op) {
  auto output = cast<OpResult>(op.getOutput());
  Type type = output.getType();
  int64_t first = op.getFirst() * countElementsOfToken(type);
  auto bytes = bytesOf.find(op.getInput());
  if (bytes == bytesOf.end() || destinations.contains(output)) {
    Value part = createPart(buffers.lookup(op.getInput()), first, type);
    buffers.map(output, getResultBuffer(output));
    memref::CopyOp::create(builder, op.getLoc(), part, buffers.lookup(output));
    return;
  }
  auto [buffer, offset] = bytes->second;
  offset += first * cast<ShapedType>(type).getElementTypeBitWidth() / 8;
  bytesOf[output] = {buffer, offset};
  buffers.map(output,
              createView(builder, op.getLoc(), buffer, offset, toMemRef(type)));
}

void EntryBufferizer::join(net::JoinTokensOp op) {
  auto output = cast<OpResult>(op.getOutput());
  buffers.map(output, getResultBuffer(output));
  int64_t bytes = 0, elements = 0; // before the part
  for (Value part : op.getParts()) {
    if (placeInWhole.lookup(part) != std::pair<Value, int64_t>(output, bytes))
      memref::CopyOp::create(
          builder, op.getLoc(), buffers.lookup(part),
          createPart(buffers.lookup(output), elements, part.getType()));
    bytes += countBytes(part.getType());
    elements += cast<ShapedType>(part.getType()).getNumElements();
  }
}
