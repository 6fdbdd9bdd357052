//===- DeviceMath.cpp - Functions with a GPU's instructions ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU has approximate powers of two, reciprocals and reciprocal square roots
// of f32, with relative errors of a few units in the last place. Nothing here
// needs a library of functions, whether there is one or not.
//
//===----------------------------------------------------------------------===//

#include "../Rows/Arithmetic.h"
#include "RowEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::rows;

/// The instruction for each number of `value`.
static Value callInstruction(ImplicitLocOpBuilder &builder, StringRef name,
                             Value value) {
  auto call = [&](Value number) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, number.getType(),
                                         builder.getStringAttr(name),
                                         ValueRange(number))
        .getResults();
  };
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return call(value);
  Value result = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    result = vector::InsertOp::create(
        builder, call(vector::ExtractOp::create(builder, value, lane)), result,
        lane);
  return result;
}

static bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

namespace {

/// exp(x) = 2^k · 2^r,  k = round(x · log₂e),  r = x · log₂e − k
///
/// k is kept where 2^k is a normal number; r is then large where x is, and 2^r
/// is 0 or ∞.
struct DeviceExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()))
      return rewriter.notifyMatchFailure(op, "expected f32");
    Arithmetic a(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    // Adding 1.5 · 2²³ rounds to an integer, which then stands in the low bits.
    constexpr float shift = 12582912.0f;
    Value shifted = a.multiplyAdd(x, a.number(1.44269504f), a.number(shift));
    shifted = a.make<LLVM::MaxNumOp>(shifted, a.number(shift - 126));
    shifted = a.make<LLVM::MinNumOp>(shifted, a.number(shift + 127));
    Value k = a.make<arith::SubFOp>(shifted, a.number(shift));
    // log₂e in two parts.
    Value r = a.multiplyAdd(x, a.number(1.44269502f),
                            arith::NegFOp::create(a.builder, k));
    r = a.multiplyAdd(x, a.number(1.92596303e-8f), r);
    Value power = callInstruction(a.builder, "llvm.nvvm.ex2.approx.ftz.f32", r);
    Type i32 = rewriter.getI32Type();
    Value exponent = a.make<arith::AddIOp>(
        a.make<arith::ShLIOp>(a.convert<arith::BitcastOp>(shifted, i32),
                              a.integer(23)),
        a.integer(127u << 23));
    Value scale = a.convert<arith::BitcastOp>(exponent, rewriter.getF32Type());
    rewriter.replaceOp(op, a.make<arith::MulFOp>(power, scale));
    return success();
  }
};

/// 1 / √x and 1 / x.
struct DeviceReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()))
      return rewriter.notifyMatchFailure(op, "expected f32");
    if (!isOne(op.getLhs()))
      return rewriter.notifyMatchFailure(op, "expected 1 divided by something");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value divisor = op.getRhs();
    StringRef name = "llvm.nvvm.rcp.approx.ftz.f";
    if (auto root = divisor.getDefiningOp<math::SqrtOp>()) {
      name = "llvm.nvvm.rsqrt.approx.ftz.f";
      divisor = root.getOperand();
    }
    rewriter.replaceOp(op, callInstruction(builder, name, divisor));
    return success();
  }

  static bool isOne(Value value) {
    if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
      value = broadcast.getSource();
    return matchPattern(value, m_OneFloat());
  }
};

/// Rounded as IEEE says.
struct DeviceSqrt : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SqrtOp op,
                                PatternRewriter &rewriter) const override {
    // Left to the pattern above.
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          auto division = dyn_cast<arith::DivFOp>(user);
          return division && division.getRhs() == op.getResult() &&
                 isF32(op.getResult()) &&
                 DeviceReciprocal::isOne(division.getLhs());
        }))
      return rewriter.notifyMatchFailure(op, "expected other uses than 1 / √x");
    // Not as an operation: the conversion to NVVM would call a library.
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr("llvm.sqrt"),
        ValueRange(op.getOperand()));
    return success();
  }
};

} // namespace

void nvptx::populateDeviceMathPatterns(RewritePatternSet &patterns) {
  patterns.add<DeviceExp, DeviceReciprocal, DeviceSqrt>(patterns.getContext());
  populatePolynomialPatterns(patterns);
}
