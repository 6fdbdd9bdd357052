//===- DifferentiableOpInterface.td - Ops that know their adjoint ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one thing that reverse-mode differentiation asks of an op. The pass knows
// nothing else about the ops it differentiates.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_TD
#define ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::isobath";
  let description = [{
    An op whose results are differentiable functions of its floating-point
    operands. Let L be a scalar; the gradient of a value x is ∂L/∂x, a tensor of
    the type of x.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Builds, at the builder's insertion point, the ops that turn the
        gradients of the results into those of the operands.

        `resultGradients` has one value a result, null where the gradient is
        zero; at least one is not null. `isNeeded` has one flag an operand. On
        return `operandGradients`, which comes with one null value an operand,
        holds a gradient for every needed operand that has a non-zero one;
        others may be set too and are then ignored. Fails, with a diagnostic, if
        one of the results with a gradient is not differentiable.
      }],
      /*retTy=*/"::llvm::LogicalResult",
      /*methodName=*/"buildAdjoint",
      /*args=*/(ins "::mlir::OpBuilder &":$builder,
                    "::mlir::ValueRange":$resultGradients,
                    "const ::llvm::BitVector &":$isNeeded,
                    "::llvm::MutableArrayRef<::mlir::Value>":$operandGradients)
    >
  ];
}

#endif // ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_TD
