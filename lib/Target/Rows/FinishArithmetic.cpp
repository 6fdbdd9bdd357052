//===- FinishArithmetic.cpp - Arithmetic that every machine does alike -===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fast-math flags are none: each rewrite here is one that a reader can point
// at. With fused instructions, results in f32 have the same bits on all
// machines; without them, products are rounded before they are added. Rounding
// to bf16 is to nearest, ties to even; subnormals are kept, and a NaN stays
// one.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace isobath;

/// The product that `value` is, if nothing else uses it.
static arith::MulFOp matchProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() ? product : arith::MulFOp();
}

/// a·b + c, rounded once on machines that can.
static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b,
                         Value c) {
  return LLVM::FMulAddOp::create(builder, loc, c.getType(), a, b, c);
}

/// Of two products, the right one is fused.
static void fuseSum(arith::AddFOp sum) {
  Value other = sum.getLhs();
  arith::MulFOp product = matchProduct(sum.getRhs());
  if (!product) {
    other = sum.getRhs();
    product = matchProduct(sum.getLhs());
  }
  if (!product)
    return;
  OpBuilder builder(sum);
  sum.replaceAllUsesWith(multiplyAdd(builder, sum.getLoc(), product.getLhs(),
                                     product.getRhs(), other));
  sum.erase();
  product.erase();
}

/// c − a·b = −a·b + c and a·b − c = a·b + −c
static void fuseDifference(arith::SubFOp difference) {
  OpBuilder builder(difference);
  Location loc = difference.getLoc();
  auto negate = [&](Value value) -> Value {
    return arith::NegFOp::create(builder, loc, value);
  };
  Value fused;
  arith::MulFOp product = matchProduct(difference.getRhs());
  if (product) {
    fused = multiplyAdd(builder, loc, negate(product.getLhs()),
                        product.getRhs(), difference.getLhs());
  } else {
    product = matchProduct(difference.getLhs());
    if (!product)
      return;
    fused = multiplyAdd(builder, loc, product.getLhs(), product.getRhs(),
                        negate(difference.getRhs()));
  }
  difference.replaceAllUsesWith(fused);
  difference.erase();
  product.erase();
}

/// Which of two operations is fused is decided here and not in LLVM, whose
/// choice may depend on the machine.
static void fuseProducts(Operation *function) {
  function->walk([](Operation *op) {
    if (auto sum = dyn_cast<arith::AddFOp>(op)) {
      fuseSum(sum);
    } else if (auto difference = dyn_cast<arith::SubFOp>(op)) {
      fuseDifference(difference);
    } else if (auto fma = dyn_cast<math::FmaOp>(op)) {
      // Where there is no such instruction, a call would compute it.
      OpBuilder builder(fma);
      fma.replaceAllUsesWith(multiplyAdd(builder, fma.getLoc(), fma.getA(),
                                         fma.getB(), fma.getC()));
      fma.erase();
    }
  });
}

void rows::populatePolynomialPatterns(RewritePatternSet &patterns) {
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(
        {math::ExpM1Op::getOperationName(), math::LogOp::getOperationName(),
         math::Log1pOp::getOperationName(), math::TanhOp::getOperationName(),
         math::ErfOp::getOperationName()},
        name);
  });
}

LogicalResult rows::finishArithmetic(Operation *function,
                                     RewritePatternSet patterns) {
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return function->emitOpError() << "arithmetic could not be lowered";
  fuseProducts(function);
  return success();
}
