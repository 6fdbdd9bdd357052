//===- StaticReadOps.td - Reads that no token decides -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_STATICREADOPS_TD
#define ISOBATH_DIALECT_DEPTH_STATICREADOPS_TD

include "isobath/Dialect/Depth/DepthDialect.td"

def Depth_StaticReadOp : Depth_DifferentiableOp<"static_read",
    [AttrSizedOperandSegments]> {
  let summary = "read the sources with learned weights, the same for all tokens";
  let description = [{
    The logits are parameters: a *mixture* m holds one number for each of the N
    sources, the partial (where present) last. For each mixture

        α = softmax over i of m
        h = Σ_i α_i s_i

    `weights` has α for every token, as that of a route has, for reports. A
    lowering leaves it out where nobody uses it.

    With one source the read is the identity. `site` and `groups` (one a
    mixture) name it in reports and mean nothing else.

    - (C1) there is at least one mixture and one closed source
    - (C2) all sources have one type [B, T, D]
    - (C3) every mixture is a vector of N elements of the arithmetic's type
      (f32, f64 for f64 sources)
    - (C4) `groups`, where present, has one name for each mixture

    ```mlir
    %q, %v, %weights = depth.static_read
      mixtures(%mq, %mv : tensor<3xf32>)
      closed(%e, %b0 : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
      {site = "layers.2.attn", groups = ["qk", "v"]}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$mixtures,
                       Variadic<Net_Activation>:$closed,
                       Optional<Net_Activation>:$partial,
                       OptionalAttr<StrAttr>:$site,
                       OptionalAttr<StrArrayAttr>:$groups);
  let results = (outs Variadic<Net_Activation>:$mixes,
                      Depth_Distribution:$weights);
  let assemblyFormat = [{
    `mixtures` `(` $mixtures `:` custom<UniformTypes>(ref($mixtures), type($mixtures)) `)`
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    (`partial` `(` $partial^ `:` type($partial) `)`)? attr-dict
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Number of sources, N.
    int64_t getSourceCount() {
      return getClosed().size() + (getPartial() ? 1 : 0);
    }
  }];
}

def Depth_StaticReadAdjointOp : Depth_Op<"static_read_adjoint",
    [AttrSizedOperandSegments]> {
  let summary = "the adjoint of `depth.static_read`";
  let description = [{
    With g = `gradients` (∂L/∂h) and α, which is computed again from the
    mixtures, per mixture

        ∂s_i = Σ_mixtures α_i g
        ∂m_i = Σ_tokens α_i (g·s_i − Σ_j α_j g·s_j)

    - (C1) as many gradients as mixtures, at least one, and at least one closed
      source
    - (C2) all gradients and sources have one type [B, T, D]
    - (C3) every mixture is a vector of N elements of the arithmetic's type

    ```mlir
    %ge, %gp, %gm = depth.static_read_adjoint mixtures(%m : tensor<2xf32>)
      gradients(%g : tensor<2x8x64xf32>)
      closed(%e : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$mixtures,
                       Variadic<Net_Activation>:$gradients,
                       Variadic<Net_Activation>:$closed,
                       Optional<Net_Activation>:$partial);
  let results = (outs Variadic<Net_Tensor>:$operand_gradients);
  let assemblyFormat = [{
    `mixtures` `(` $mixtures `:` custom<UniformTypes>(ref($mixtures), type($mixtures)) `)`
    `gradients` `(` $gradients `:` custom<UniformTypes>(ref($gradients), type($gradients)) `)`
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    (`partial` `(` $partial^ `:` type($partial) `)`)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// Number of sources, N.
    int64_t getSourceCount() {
      return getClosed().size() + (getPartial() ? 1 : 0);
    }
    /// One ∂s_i for each source, that of the partial last.
    ::mlir::ValueRange getSourceGradients() {
      return getOperandGradients().take_front(getSourceCount());
    }
    /// One ∂m for each mixture.
    ::mlir::ValueRange getMixtureGradients() {
      return getOperandGradients().drop_front(getSourceCount());
    }
  }];
}

#endif // ISOBATH_DIALECT_DEPTH_STATICREADOPS_TD
