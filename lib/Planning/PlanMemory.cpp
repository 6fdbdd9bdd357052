//===- PlanMemory.cpp - Place all intermediate buffers in one arena -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/ParameterLayout.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Planning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"
#include <list>

namespace isobath {
#define GEN_PASS_DEF_PLANMEMORY
#include "isobath/Planning/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {

struct PlanMemory : isobath::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;
};

/// A buffer, when it is in use, and where it lies.
struct PlannedBuffer {
  memref::AllocOp alloc;
  int64_t bytes;      // that it has
  int64_t size;       // bytes that it takes, a multiple of the alignment
  unsigned number;    // of the alloc op in its block
  unsigned first;     // of the first and the last op
  unsigned last;      // that use it
  int64_t offset = 0; // bytes
};

} // namespace

/// What uses `memref` or a view of it.
static SmallVector<Operation *> collectUsers(Value memref) {
  SmallVector<Operation *> users;
  for (Operation *user : memref.getUsers()) {
    if (isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1)
      llvm::append_range(users, collectUsers(user->getResult(0)));
    else
      users.push_back(user);
  }
  return users;
}

/// The buffers of a block in the order of their first use.
static SmallVector<PlannedBuffer> collectBuffers(Block &block, int64_t gap) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(block))
    numbers[&op] = number;
  SmallVector<PlannedBuffer> buffers;
  unsigned end = numbers.size();
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    if (!alloc.getType().hasStaticShape() ||
        !alloc.getType().getElementType().isIntOrFloat())
      continue; // no size to plan with
    int64_t bytes = alloc.getType().getNumElements() *
                    alloc.getType().getElementTypeBitWidth() / 8;
    PlannedBuffer buffer{
        alloc,
        bytes,
        static_cast<int64_t>(llvm::alignTo(std::max<int64_t>(bytes, 1) + gap,
                                           net::parameterAlignment)),
        numbers.lookup(alloc),
        ~0u,
        0};
    for (Operation *user : collectUsers(alloc)) {
      unsigned number = numbers.lookup(block.findAncestorOpInBlock(*user));
      buffer.first = std::min(buffer.first, number);
      // A user with results may hand the buffer on under another name.
      buffer.last = std::max(buffer.last, user->getNumResults() ? end : number);
    }
    if (buffer.first == ~0u)
      buffer.first = buffer.last = buffer.number;
    buffers.push_back(buffer);
  }
  llvm::sort(buffers, [](const auto &left, const auto &right) {
    // A tie is the results of one op; any fixed order will do.
    if (left.first != right.first)
      return left.first < right.first;
    return left.number < right.number;
  });
  return buffers;
}

/// Gives every buffer its offset and returns the size of the arena.
static int64_t placeBuffers(MutableArrayRef<PlannedBuffer> buffers) {
  std::list<const PlannedBuffer *> live; // ordered by offset
  int64_t peak = 0;
  for (PlannedBuffer &buffer : buffers) {
    live.remove_if(
        [&](const PlannedBuffer *other) { return other->last < buffer.first; });
    // The first gap that is wide enough.
    auto next = live.begin();
    int64_t offset = 0;
    for (; next != live.end(); ++next) {
      if (offset + buffer.size <= (*next)->offset)
        break;
      offset = (*next)->offset + (*next)->size;
    }
    buffer.offset = offset;
    live.insert(next, &buffer);
    peak = std::max(peak, offset + buffer.size);
  }
  return peak;
}

/// Notes at each op which buffers begin with it.
static void noteBegins(Block &block, ArrayRef<PlannedBuffer> buffers) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (const PlannedBuffer &buffer : buffers) {
    Operation *first = ops[buffer.first];
    SmallVector<int64_t> begins;
    if (auto others = first->getAttrOfType<DenseI64ArrayAttr>(beginsAttrName))
      llvm::append_range(begins, others.asArrayRef());
    llvm::append_values(begins, buffer.offset, buffer.bytes);
    first->setAttr(beginsAttrName,
                   DenseI64ArrayAttr::get(first->getContext(), begins));
  }
}

static void planFunction(func::FuncOp function, int64_t gap) {
  Block &block = function.getBody().front();
  SmallVector<PlannedBuffer> buffers = collectBuffers(block, gap);
  if (buffers.empty())
    return;
  int64_t peak = placeBuffers(buffers);
  if (gap > 0)
    noteBegins(block, buffers);

  OpBuilder builder(function.getContext());
  auto name = builder.getDictionaryAttr(
      builder.getNamedAttr(net::nameAttrName, builder.getStringAttr("arena")));
  unsigned index = function.getNumArguments();
  if (failed(function.insertArgument(
          index, MemRefType::get({peak}, builder.getI8Type()), name,
          function.getLoc())))
    llvm_unreachable("a function type takes any argument");
  Value arena = function.getArgument(index);
  for (PlannedBuffer &buffer : buffers) {
    builder.setInsertionPoint(buffer.alloc);
    Value view = createView(builder, buffer.alloc.getLoc(), arena,
                            buffer.offset, buffer.alloc.getType());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
}

void PlanMemory::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (function.isPublic() && function.getBody().hasOneBlock())
      planFunction(function, gap);
}
