//===- ExpandMath.cpp - Functions and roundings in plain arithmetic ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rows/Arithmetic.h"
#include "KernelEmitter.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::rows;

namespace {

/// Rounds to nearest, ties to even, in integers. What the machine has for it
/// flushes subnormals, and a machine that has nothing calls a function.
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32 to bf16");
    Arithmetic a(rewriter, op.getLoc(), op.getType());
    Type i32 = rewriter.getI32Type(), i16 = rewriter.getI16Type();
    Value bits = a.convert<arith::BitcastOp>(op.getIn(), i32);
    // bits + 0x7FFF + (the lowest bit that is kept)
    Value kept = a.make<arith::AndIOp>(
        a.make<arith::ShRUIOp>(bits, a.integer(16)), a.integer(1));
    Value rounded = a.make<arith::AddIOp>(
        a.make<arith::AddIOp>(bits, a.integer(0x7FFF)), kept);
    // A NaN stays one, even if all its set bits are lost.
    Value quiet = a.make<arith::OrIOp>(bits, a.integer(0x00400000));
    Value isNan = a.isFloat(arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    Value high =
        a.make<arith::ShRUIOp>(a.select(isNan, quiet, rounded), a.integer(16));
    Value low = a.convert<arith::TruncIOp>(high, i16);
    rewriter.replaceOp(
        op, a.convert<arith::BitcastOp>(low, rewriter.getBF16Type()));
    return success();
  }
};

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expected bf16 to f32");
    Arithmetic a(rewriter, op.getLoc(), op.getType());
    Value bits = a.convert<arith::BitcastOp>(op.getIn(), rewriter.getI16Type());
    Value wide = a.convert<arith::ExtUIOp>(bits, rewriter.getI32Type());
    Value high = a.make<arith::ShLIOp>(wide, a.integer(16));
    rewriter.replaceOp(
        op, a.convert<arith::BitcastOp>(high, rewriter.getF32Type()));
    return success();
  }
};

/// exp(x) = 2^k exp(r),  k = round(x / log 2),  r = x − k log 2
///
/// Relative error below 1e-7. Results below 2⁻¹²⁵ become 0.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    Arithmetic a(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    // Adding 1.5 · 2²³ rounds to an integer, which then stands in the low bits.
    Value shift = a.number(12582912.0f);
    Value shifted = a.multiplyAdd(x, a.number(1.44269504f), shift);
    Value k = a.make<arith::SubFOp>(shifted, shift);
    // log 2 in two parts: the product with the first is exact.
    Value r = a.multiplyAdd(k, a.number(-0.693359375f), x);
    r = a.multiplyAdd(k, a.number(2.12194440e-4f), r);
    Value sum = a.number(1.9875691500e-4f);
    for (float coefficient :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
          1.6666665459e-1f, 5.0000001201e-1f})
      sum = a.multiplyAdd(sum, r, a.number(coefficient));
    // 1 + r + r² · sum
    Value power = a.make<arith::AddFOp>(
        a.multiplyAdd(sum, a.make<arith::MulFOp>(r, r), r), a.number(1.0f));
    // 2 · 2^(k−1): k may be 128.
    Type i32 = rewriter.getI32Type();
    Value exponent = a.make<arith::AddIOp>(
        a.make<arith::ShLIOp>(a.convert<arith::BitcastOp>(shifted, i32),
                              a.integer(23)),
        a.integer(126u << 23));
    Value scale = a.convert<arith::BitcastOp>(exponent, rewriter.getF32Type());
    Value result =
        a.make<arith::MulFOp>(a.make<arith::AddFOp>(power, power), scale);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    result =
        a.select(a.isFloat(arith::CmpFPredicate::OGT, x, a.number(88.7228394f)),
                 a.number(infinity), result);
    result = a.select(
        a.isFloat(arith::CmpFPredicate::OLT, x, a.number(-86.6433945f)),
        a.number(0.0f), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cpu::populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTruncation, ExpandExtension, ExpandExp>(
      patterns.getContext());
  populatePolynomialPatterns(patterns);
}
