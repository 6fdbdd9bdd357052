//===- LibraryCalls.cpp - Products and attention as library calls -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor letters as in device_calls.h.
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "DeviceCalls.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/runtime/cpu_library.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::host;

namespace {
/// The sizes of attention.
struct AttentionSizes {
  int64_t B, T, H, K, d;
  int32_t type;

  template <typename OpTy>
  static AttentionSizes get(OpTy op, MemRefType query) {
    int64_t H = op.getHeads();
    return {query.getDimSize(0),
            query.getDimSize(1),
            H,
            static_cast<int64_t>(op.getKvHeads()),
            query.getDimSize(2) / H,
            CallBuilder::getTypeCode(query)};
  }
  int64_t getScratchBytes(bool adjoint) const {
    return isobath_cpu_attention_scratch_bytes(B, T, H, K, d, type, adjoint);
  }
  void addTo(CallBuilder &call) const {
    call.size(B).size(T).size(H).size(K).size(d).number(type);
  }
};
} // namespace

/// The rows of a matrix that has the channels of `type` as its columns.
static int64_t countRows(MemRefType type) {
  return type.getNumElements() / type.getShape().back();
}

/// C = op(A)·op(B), sizes from C and A.
static void buildProduct(CallBuilder &call, Value c, Value a, Value b,
                         int32_t flags) {
  auto typeC = cast<MemRefType>(c.getType());
  auto typeA = cast<MemRefType>(a.getType());
  int64_t K =
      flags & ISOBATH_TRANSPOSE_A ? countRows(typeA) : typeA.getShape().back();
  call.pointer(c).pointer(a).pointer(b);
  call.size(countRows(typeC)).size(typeC.getShape().back()).size(K);
  call.type(c).type(a).type(b).number(flags).call("isobath_product");
}

/// The scratch, in bytes, of `op`; 0 if it needs none.
static int64_t getScratchBytes(Operation *op, TypeRange buffers) {
  auto query = dyn_cast<MemRefType>(buffers.front());
  if (auto attention = dyn_cast<net::AttentionOp>(op))
    return AttentionSizes::get(attention, query).getScratchBytes(false);
  if (auto adjoint = dyn_cast<net::AttentionAdjointOp>(op))
    return AttentionSizes::get(adjoint, query).getScratchBytes(true);
  return 0;
}

/// The body of the function for `op`, on its operands, results and scratch.
static LogicalResult buildBody(Operation *op, CallBuilder call,
                               ValueRange buffers) {
  // Scratch, where there is some, is the last buffer.
  unsigned scratch = op->getNumOperands() + op->getNumResults();
  auto addScratch = [&] {
    // Where none is needed any pointer will do: it is not read.
    call.pointer(buffers.size() > scratch ? buffers[scratch] : buffers[0]);
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](net::LinearOp) {
        // y = x Wᵀ
        buildProduct(call, buffers[2], buffers[0], buffers[1],
                     ISOBATH_TRANSPOSE_B);
        return success();
      })
      .Case([&](net::LinearInputAdjointOp) {
        // ∂x = g W
        buildProduct(call, buffers[2], buffers[0], buffers[1], 0);
        return success();
      })
      .Case([&](net::LinearWeightAdjointOp adjoint) {
        // ∂W = gᵀ x, or ∂W += gᵀ x where the sum lies in the result's buffer
        int32_t flags = ISOBATH_TRANSPOSE_A;
        if (adjoint.getSum())
          flags |= ISOBATH_ACCUMULATE;
        buildProduct(call, buffers[adjoint->getNumOperands()], buffers[0],
                     buffers[1], flags);
        return success();
      })
      .Case([&](net::AttentionOp attention) {
        call.pointer(buffers[3]).pointer(buffers[4]); // o, lse
        call.pointer(buffers[0]).pointer(buffers[1]).pointer(buffers[2]);
        AttentionSizes::get(attention, cast<MemRefType>(buffers[0].getType()))
            .addTo(call);
        addScratch();
        call.call("isobath_attention");
        return success();
      })
      .Case([&](net::AttentionAdjointOp adjoint) {
        call.pointer(buffers[6]).pointer(buffers[7]).pointer(buffers[8]);
        for (unsigned i = 0; i < 6; ++i) // q, k, v, o, lse, ∂o
          call.pointer(buffers[i]);
        AttentionSizes::get(adjoint, cast<MemRefType>(buffers[0].getType()))
            .addTo(call);
        addScratch();
        call.call("isobath_attention_adjoint");
        return success();
      })
      .Case([&](net::GroupTokensOp group) {
        auto ids = cast<MemRefType>(buffers[0].getType());
        call.pointer(buffers[1]).pointer(buffers[2]).pointer(buffers[0]);
        call.size(ids.getNumElements()).size(group.getVocabulary());
        call.call("isobath_group_tokens");
        return success();
      })
      .Default([](Operation *other) {
        return other->emitOpError()
               << "expected a product, attention or a row kernel";
      });
}

func::FuncOp LibraryCalls::getFunction(Operation *op, TypeRange buffers) {
  auto type = FunctionType::get(op->getContext(), buffers, {});
  func::FuncOp &function =
      functions[{op->getName(), op->getAttrDictionary(), type}];
  if (function)
    return function;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  function = func::FuncOp::create(builder, op->getLoc(),
                                  ("call." + op->getName().getStringRef() +
                                   "." + Twine(functions.size() - 1))
                                      .str(),
                                  type);
  function.setPrivate();
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  if (failed(buildBody(op, CallBuilder(builder, op->getLoc(), symbols),
                       block->getArguments())))
    return nullptr;
  func::ReturnOp::create(builder, op->getLoc());
  return function;
}

LogicalResult LibraryCalls::build(OpBuilder &builder, Operation *op,
                                  ValueRange operands, ValueRange results) {
  SmallVector<Value> buffers(operands);
  llvm::append_range(buffers, results);
  if (int64_t bytes = getScratchBytes(op, ValueRange(buffers).getTypes()))
    buffers.push_back(memref::AllocOp::create(
        builder, op->getLoc(), MemRefType::get({bytes}, builder.getI8Type())));
  if (auto adjoint = dyn_cast<net::LinearWeightAdjointOp>(op);
      adjoint && adjoint.getSum() && operands[2] != results[0])
    memref::CopyOp::create(builder, op->getLoc(), operands[2], results[0]);
  func::FuncOp function = getFunction(op, ValueRange(buffers).getTypes());
  if (!function)
    return failure(); // reported
  func::CallOp::create(builder, op->getLoc(), function, buffers);
  return success();
}
