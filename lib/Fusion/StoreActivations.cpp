//===- StoreActivations.cpp - Which tensors a bf16 model rounds ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roundings are ops of the program, so that every target rounds at the same
// places. A tensor that is stored in bf16 is read rounded by all its readers.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace isobath {
#define GEN_PASS_DEF_STOREACTIVATIONS
#include "isobath/Fusion/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {

struct StoreActivations
    : isobath::impl::StoreActivationsBase<StoreActivations> {
  void runOnOperation() override;
};

/// The tensors of an entry that are stored in bf16.
class StoredTensors {
public:
  explicit StoredTensors(func::FuncOp entry) {
    entry.walk([&](Operation *op) { visit(op); });
  }
  ArrayRef<Value> get() const { return tensors.getArrayRef(); }

private:
  void visit(Operation *op);
  void add(Value tensor) {
    if (getElementTypeOrSelf(tensor).isF32())
      tensors.insert(tensor);
  }
  void add(ValueRange values) {
    for (Value value : values)
      add(value);
  }

  llvm::SetVector<Value> tensors;
};

} // namespace

/// Products and attention, which take bf16; everything else computes in f32.
static bool takesBf16(Operation *op) {
  return isa<net::LinearOp, net::LinearInputAdjointOp,
             net::LinearWeightAdjointOp, net::AttentionOp,
             net::AttentionAdjointOp>(op);
}

/// Logits are what a loss or the caller reads; they stay f32.
static bool isLogits(net::LinearOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<net::CrossEntropyOp, net::CrossEntropyAdjointOp>(user) ||
           user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `tensor` is the residual stream of a model without routes.
static bool isResidual(Value tensor) {
  return tensor.getDefiningOp<net::AddOp>() ||
         tensor.getDefiningOp<net::EmbeddingOp>();
}

/// The log-sum-exp of attention is f32 in any case, and so is what a product
/// adds to.
static bool staysWide(OpOperand &operand) {
  if (auto adjoint = dyn_cast<net::AttentionAdjointOp>(operand.getOwner()))
    return &adjoint.getLseMutable() == &operand;
  auto adjoint = dyn_cast<net::LinearWeightAdjointOp>(operand.getOwner());
  return adjoint && operand.get() == adjoint.getSum();
}

void StoredTensors::visit(Operation *op) {
  if (takesBf16(op))
    for (OpOperand &operand : op->getOpOperands())
      if (!staysWide(operand))
        add(operand.get());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](net::LinearOp product) {
        if (!isLogits(product))
          add(product.getOutput());
      })
      .Case([&](net::AttentionOp attention) { add(attention.getOutput()); })
      .Case([&](net::AttentionAdjointOp adjoint) { add(adjoint.getResults()); })
      .Case([&](net::RMSNormOp norm) {
        if (isResidual(norm.getInput()))
          add(norm.getInput());
      })
      .Case<depth::RouteOp, depth::StaticReadOp, depth::FixedReadOp>(
          [&](auto read) {
            add(read.getClosed());
            if (Value partial = read.getPartial())
              add(partial);
          })
      .Case([&](depth::RunningSumOp sum) {
        // Of sources that are sums themselves, none is stored.
        if (!sum.getOlder().getDefiningOp<depth::RunningSumOp>())
          add(sum.getOlder());
        add(sum.getSource());
      })
      .Case([&](depth::PartialOp read) { add(read.getClosed()); })
      .Case([&](depth::MergeOp merge) { add(merge.getPartial()); })
      .Case([&](depth::ExtendOp extend) { add(extend.getNewer()); });
}

/// Where `tensor` is rounded: where it is made or, for an argument of the
/// entry, where a product reads it first, so that no copy of a weight waits for
/// that.
static void setRoundingPoint(OpBuilder &builder, Value tensor) {
  builder.setInsertionPointAfterValue(tensor);
  if (tensor.getDefiningOp())
    return;
  Operation *first = nullptr;
  for (OpOperand &use : tensor.getUses())
    if (Operation *user = use.getOwner();
        takesBf16(user) && !staysWide(use) &&
        (!first || user->isBeforeInBlock(first)))
      first = user;
  if (first)
    builder.setInsertionPoint(first);
}

/// Stores `tensor` in bf16: products read that, all others extend it again.
/// Parameters stay f32 for all readers but products.
static void store(OpBuilder &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto narrowType = type.clone(builder.getBF16Type());
  Location loc = tensor.getLoc();
  setRoundingPoint(builder, tensor);
  Operation *definition = tensor.getDefiningOp();
  Value narrow = tensor;
  llvm::SmallPtrSet<Operation *, 2> casts;
  if (definition && takesBf16(definition)) {
    tensor.setType(narrowType);
  } else {
    narrow = net::CastOp::create(builder, loc, narrowType, tensor);
    casts.insert(narrow.getDefiningOp());
  }
  if (definition) {
    auto extended = net::CastOp::create(builder, loc, type, narrow);
    casts.insert(extended);
    tensor.replaceUsesWithIf(extended, [&](OpOperand &use) {
      return !casts.contains(use.getOwner()) && !takesBf16(use.getOwner());
    });
    if (extended.use_empty())
      extended.erase();
  }
  if (narrow != tensor)
    tensor.replaceUsesWithIf(narrow, [](OpOperand &use) {
      return takesBf16(use.getOwner()) && !staysWide(use);
    });
}

void StoreActivations::runOnOperation() {
  OpBuilder builder(&getContext());
  for (auto entry : getOperation().getOps<func::FuncOp>()) {
    if (!entry.isPublic() || entry.isExternal())
      continue;
    StoredTensors stored(entry);
    for (Value tensor : stored.get())
      store(builder, tensor);
  }
}
