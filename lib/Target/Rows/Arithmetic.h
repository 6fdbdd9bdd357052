//===- Arithmetic.h - Arithmetic of rows, written out ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_ROWS_ARITHMETIC_H
#define ISOBATH_LIB_TARGET_ROWS_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace isobath::rows {

/// Arithmetic on f32 and i32, on scalars or vectors of one shape.
class Arithmetic {
public:
  Arithmetic(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like)
      : builder(loc, builder), like(like) {}

  /// `element`, in the shape of all values.
  mlir::Type shaped(mlir::Type element) const {
    auto vector = llvm::dyn_cast<mlir::VectorType>(like);
    return vector ? vector.clone(element) : element;
  }
  mlir::Value number(float value) {
    return constant(builder.getF32FloatAttr(value));
  }
  mlir::Value integer(uint32_t value) {
    return constant(
        mlir::IntegerAttr::get(builder.getI32Type(), llvm::APInt(32, value)));
  }
  template <typename OpTy>
  mlir::Value make(mlir::Value left, mlir::Value right) {
    return OpTy::create(builder, left, right);
  }
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(builder, a, b, c);
  }
  template <typename OpTy>
  mlir::Value convert(mlir::Value value, mlir::Type element) {
    return OpTy::create(builder, shaped(element), value);
  }
  mlir::Value isFloat(mlir::arith::CmpFPredicate predicate, mlir::Value left,
                      mlir::Value right) {
    return mlir::arith::CmpFOp::create(builder, predicate, left, right);
  }
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue,
                     mlir::Value ifFalse) {
    return mlir::arith::SelectOp::create(builder, condition, ifTrue, ifFalse);
  }

  mlir::ImplicitLocOpBuilder builder;

private:
  mlir::Value constant(mlir::TypedAttr value) {
    if (llvm::isa<mlir::VectorType>(like))
      value = mlir::DenseElementsAttr::get(
          llvm::cast<mlir::VectorType>(shaped(value.getType())),
          llvm::ArrayRef<mlir::Attribute>(value));
    return mlir::arith::ConstantOp::create(builder, value);
  }

  mlir::Type like;
};

/// What is made of log, tanh and other functions of f32 on every target:
/// polynomials.
void populatePolynomialPatterns(mlir::RewritePatternSet &patterns);

/// Makes of the arithmetic of `function` what every machine computes alike:
/// what `patterns` expand it to, with products and sums fused where the product
/// has no other use.
mlir::LogicalResult finishArithmetic(mlir::Operation *function,
                                     mlir::RewritePatternSet patterns);

} // namespace isobath::rows

#endif // ISOBATH_LIB_TARGET_ROWS_ARITHMETIC_H
