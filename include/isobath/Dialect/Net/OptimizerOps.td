//===- OptimizerOps.td - What happens to a parameter vector in a step ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_OPTIMIZEROPS_TD
#define ISOBATH_DIALECT_NET_OPTIMIZEROPS_TD

include "isobath/Dialect/Net/NetDialect.td"

def Net_SquaredNormOp : Op<Net_Dialect, "squared_norm", [Pure]> {
  let summary = "sum of the squares of a vector";
  let description = [{
    `y = Σ_i x[i]²`, accumulated and returned in f64: over millions of
    parameters an f32 sum would lose the digits that the clipping rule compares.

    Constraints: none beyond the types.

    ```mlir
    %y = net.squared_norm %x : (tensor<4096xf32>) -> tensor<f64>
    ```
  }];
  let arguments = (ins Net_Vector:$input);
  let results = (outs RankedTensorOf<[F64], [HasAnyRankOfPred<[0]>],
                                     "scalar f64 tensor">:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
}

def Net_AdamWOp : Net_Op<"adamw"> {
  let summary = "one AdamW update of a parameter vector";
  let description = [{
    `scalars` holds η (the learning rate), c (the factor that clips the
    gradient), 1 − β₁ⁿ and 1 − β₂ⁿ for update number n. Elementwise,

        g  = c · gradient
        m' = β₁ m + (1 − β₁) g,         v' = β₂ v + (1 − β₂) g²
        θ' = θ − η ((m' / (1 − β₁ⁿ)) / (sqrt(v' / (1 − β₂ⁿ)) + epsilon) + λ θ)

    where λ is `weight_decay` for the first `decay_elements` elements and 0 for
    the rest: in the contiguous parameter vector the matrices stand first.

    - (C1) `parameters`, `gradient`, `first_moment` and `second_moment` have one
      type
    - (C2) `scalars` has 4 elements
    - (C3) `beta1` and `beta2` lie in [0, 1), `epsilon` is positive,
      `weight_decay` is not negative
    - (C4) `decay_elements` lies between 0 and the number of elements

    ```mlir
    %p, %m1, %v1 = net.adamw %parameters, %gradient, %m, %v, %scalars
      {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
       weight_decay = 0.1 : f64, decay_elements = 3072 : i64}
      : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>,
         tensor<4096xf32>, tensor<4xf32>)
      -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
    ```
  }];
  let arguments = (ins Net_Vector:$parameters, Net_Vector:$gradient,
                       Net_Vector:$first_moment, Net_Vector:$second_moment,
                       Net_Vector:$scalars, F64Attr:$beta1, F64Attr:$beta2,
                       F64Attr:$epsilon, F64Attr:$weight_decay,
                       I64Attr:$decay_elements);
  let results = (outs Net_Vector:$new_parameters, Net_Vector:$new_first_moment,
                      Net_Vector:$new_second_moment);
  let assemblyFormat = [{
    $parameters `,` $gradient `,` $first_moment `,` $second_moment `,` $scalars
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ISOBATH_DIALECT_NET_OPTIMIZEROPS_TD
