//===- ElementwiseOps.td - Sums, products and activations ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_ELEMENTWISEOPS_TD
#define ISOBATH_DIALECT_NET_ELEMENTWISEOPS_TD

include "isobath/Dialect/Net/NetDialect.td"

def Net_AddOp : Net_DifferentiableOp<"add"> {
  let summary = "sum of two tensors";
  let description = [{
    `y = left + right`.

    - (C1) both have one type

    ```mlir
    %y = net.add %a, %b
      : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Tensor:$left, Net_Tensor:$right);
  let results = (outs Net_Tensor:$output);
  let assemblyFormat = [{
    $left `,` $right attr-dict `:` functional-type(operands, results)
  }];
}

def Net_MultiplyOp : Net_DifferentiableOp<"multiply"> {
  let summary = "elementwise product of two tensors";
  let description = [{
    `y = left ⊙ right`.

    - (C1) both have one type

    ```mlir
    %u = net.multiply %gain, %query
      : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Net_Tensor:$left, Net_Tensor:$right);
  let results = (outs Net_Tensor:$output);
  let assemblyFormat = [{
    $left `,` $right attr-dict `:` functional-type(operands, results)
  }];
}

def Net_ScaleOp : Net_DifferentiableOp<"scale"> {
  let summary = "product with a constant";
  let description = [{
    `y = factor · x`, with `factor` rounded to the arithmetic's type.

    - (C1) `factor` is finite

    ```mlir
    %y = net.scale %x {factor = 5.0e-1 : f64}
      : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Tensor:$input, F64Attr:$factor);
  let results = (outs Net_Tensor:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
}

def Net_AddVectorOp : Net_DifferentiableOp<"add_vector"> {
  let summary = "add one vector to every token";
  let description = [{
    `y[b,t,:] = input[b,t,:] + vector`.

    - (C1) `vector` is as long as `input` has channels

    ```mlir
    %y = net.add_vector %x, %u
      : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$input, Net_Vector:$vector);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $input `,` $vector attr-dict `:` functional-type(operands, results)
  }];
}

def Net_SumTokensOp : Net_Op<"sum_tokens"> {
  let summary = "sum over all tokens";
  let description = [{
    `y[c] = Σ_{b,t} x[b,t,c]`, added in the order of the tokens.

    Constraints: none beyond the types.

    ```mlir
    %y = net.sum_tokens %x : (tensor<2x8x64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$input);
  let results = (outs Net_Vector:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

def Net_BroadcastOp : Op<Net_Dialect, "broadcast", [Pure]> {
  let summary = "a tensor filled with one value";
  let description = [{
    Every element of the result is `value`.

    - (C1) the result has the element type of `value`

    ```mlir
    %y = net.broadcast %value : (tensor<f32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Net_Scalar:$value);
  let results = (outs Net_Tensor:$output);
  let assemblyFormat = [{
    $value attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Net_CastOp : Op<Net_Dialect, "cast", [Pure]> {
  let summary = "the same numbers in another type";
  let description = [{
    Every element rounded to the nearest of the result's type, to the even one
    of two, or extended, which is exact.

    - (C1) both have one shape

    ```mlir
    %y = net.cast %x : (tensor<2x8xf32>) -> tensor<2x8xbf16>
    ```
  }];
  let arguments = (ins Net_Tensor:$input);
  let results = (outs Net_Tensor:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Whether every element keeps its value.
    bool isExtension() {
      return getInput().getType().getElementTypeBitWidth() <
             getOutput().getType().getElementTypeBitWidth();
    }
  }];
}

def Net_SwiGLUOp : Net_DifferentiableOp<"swiglu"> {
  let summary = "gated activation";
  let description = [{
    `y = silu(gate) ⊙ up` with `silu(x) = x / (1 + exp(−x))`.

    - (C1) both have one type

    ```mlir
    %y = net.swiglu %gate, %up
      : (tensor<2x8x192xf32>, tensor<2x8x192xf32>) -> tensor<2x8x192xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$gate, Net_Activation:$up);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $gate `,` $up attr-dict `:` functional-type(operands, results)
  }];
}

def Net_SwiGLUAdjointOp : Net_Op<"swiglu_adjoint"> {
  let summary = "adjoint of swiglu";
  let description = [{
    With `σ = 1 / (1 + exp(−gate))`,

        ∂gate = gradient ⊙ up ⊙ σ (1 + gate (1 − σ))
        ∂up   = gradient ⊙ gate σ

    - (C1) all operands have one type

    ```mlir
    %ggate, %gup = net.swiglu_adjoint %gate, %up, %g
      : (tensor<2x8x192xf32>, tensor<2x8x192xf32>, tensor<2x8x192xf32>)
      -> (tensor<2x8x192xf32>, tensor<2x8x192xf32>)
    ```
  }];
  let arguments = (ins Net_Activation:$gate, Net_Activation:$up,
                       Net_Activation:$gradient);
  let results = (outs Net_Activation:$gate_gradient,
                      Net_Activation:$up_gradient);
  let assemblyFormat = [{
    $gate `,` $up `,` $gradient attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // ISOBATH_DIALECT_NET_ELEMENTWISEOPS_TD
