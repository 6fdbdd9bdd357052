//===- TwoPhaseOps.td - A route in two phases: closed sources, then the partial ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_TWOPHASEOPS_TD
#define ISOBATH_DIALECT_DEPTH_TWOPHASEOPS_TD

include "isobath/Dialect/Depth/DepthDialect.td"

/// An op that reads sources and, marked `repeated`, does so for its cost alone:
/// it then counts as an effect, as a repeated route does.
class Depth_ReadOp<string mnemonic>
    : Op<Depth_Dialect, mnemonic,
         [AlwaysSpeculatable, AttrSizedOperandSegments,
          DeclareOpInterfaceMethods<DifferentiableOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
          InferTypeOpAdaptor]> {
  let hasVerifier = 1;
}

def Depth_PartialOp : Depth_ReadOp<"partial"> {
  let summary = "a route over the closed sources alone, ready to be merged";
  let description = [{
    For each query, the normalised mix o over the closed sources and the
    log-sum-exp L of its logits, which is all that a later merge needs:

        o = Σ_i softmax(ℓ)_i s_i,   L = log Σ_i exp ℓ_i

    `lse` L is [Q, B, T, h], `logits` ℓ is [Q, B, T, h, C], `rstd` r [B, T, C].
    `repeated` is that of `depth.route`.

    - (C1) at least one query and one closed source
    - (C2) all sources have one type [B, T, D]
    - (C3) every query is a vector of D elements of the arithmetic's type
    - (C4) `heads` is positive and divides D
    - (C5) `epsilon` is positive and finite

    ```mlir
    %o, %lse, %logits, %rstd = depth.partial queries(%w : tensor<64xf32>)
      closed(%e, %b0 : tensor<2x8x64xf32>) heads(1) {epsilon = 1.0e-6 : f64}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$closed,
                       I64Attr:$heads, F64Attr:$epsilon, UnitAttr:$repeated);
  let results = (outs Variadic<Net_Activation>:$mixes, Depth_HeadScalars:$lse,
                      Depth_Distribution:$logits, Depth_SourceScalars:$rstd);
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    `heads` `(` $heads `)` attr-dict
  }];
}

def Depth_PartialAdjointOp : Depth_Op<"partial_adjoint",
    [AttrSizedOperandSegments]> {
  let summary = "adjoint of partial";
  let description = [{
    With `gradients` ∂o (one a query) and `lse_gradient` ∂L, per query and head

        δ_i  = exp(ℓ_i − L) (∂o·s_i − ∂o·o + ∂L)
        ∂s_i = Σ_queries exp(ℓ_i − L) ∂o + δ_i (r_i u − ℓ_i r_i² s_i / D)
        ∂u   = Σ_tokens Σ_i δ_i r_i s_i

    - (C1) as many gradients and mixes as queries, all of the closed sources'
      type [B, T, D]; at least one of each
    - (C2) every query has D elements
    - (C3) `lse` and `lse_gradient` are [Q, B, T, h] with h dividing D, `logits`
      is [Q, B, T, h, C], `rstd` [B, T, C]

    ```mlir
    %ge, %gb, %gw = depth.partial_adjoint queries(%w : tensor<64xf32>)
      gradients(%go : tensor<2x8x64xf32>) mixes(%o : tensor<2x8x64xf32>)
      closed(%e, %b0 : tensor<2x8x64xf32>)
      saved(%glse, %lse, %logits, %rstd : tensor<1x2x8x1xf32>,
            tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>)
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$gradients,
                       Variadic<Net_Activation>:$mixes,
                       Variadic<Net_Activation>:$closed,
                       Depth_HeadScalars:$lse_gradient, Depth_HeadScalars:$lse,
                       Depth_Distribution:$logits, Depth_SourceScalars:$rstd);
  let results = (outs Variadic<Net_Tensor>:$operand_gradients);
  let extraClassDeclaration = [{
    /// One ∂s_i for each closed source.
    ::mlir::ValueRange getClosedGradients() {
      return getOperandGradients().take_front(getClosed().size());
    }
    /// One ∂u for each query.
    ::mlir::ValueRange getQueryGradients() {
      return getOperandGradients().drop_front(getClosed().size());
    }
  }];
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `gradients` `(` $gradients `:` custom<UniformTypes>(ref($gradients), type($gradients)) `)`
    `mixes` `(` $mixes `:` custom<UniformTypes>(ref($mixes), type($mixes)) `)`
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    `saved` `(` $lse_gradient `,` $lse `,` $logits `,` $rstd `:`
    type($lse_gradient) `,` type($lse) `,` type($logits) `,` type($rstd) `)`
    attr-dict
  }];
}

def Depth_MergeOp : Depth_ReadOp<"merge"> {
  let summary = "add the partial to a route over the closed sources";
  let description = [{
    Given o and L of `depth.partial` and the open block's partial sum p, per
    query and head

        r = 1 / sqrt(mean(p²) + epsilon),   ℓ = r (p·u)
        a = 1 / (1 + exp(L − ℓ)),           h = o + a (p − o)

    which is the route over the closed sources and p. `lse` may come from a
    `depth.partial` with more queries than are merged here: this op takes those
    from `first_query` on. `weights` a and `logits` ℓ are [Q, B, T, h, 1] and
    `rstd` r is [B, T, 1]. `repeated` is that of `depth.route`.

    - (C1) as many closed mixes as queries, at least one, of the type of
      `partial` [B, T, D]
    - (C2) every query is a vector of D elements of the arithmetic's type
    - (C3) `lse` is [≥ first_query + Q, B, T, h] with h dividing D, and
      `first_query` is not negative
    - (C4) `epsilon` is positive and finite

    ```mlir
    %h, %a, %l, %r = depth.merge queries(%w : tensor<64xf32>)
      mixes(%o : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
      lse(%lse : tensor<1x2x8x1xf32>)
      {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$closed_mixes,
                       Net_Activation:$partial, Depth_HeadScalars:$lse,
                       F64Attr:$epsilon, I64Attr:$first_query,
                       UnitAttr:$repeated);
  let results = (outs Variadic<Net_Activation>:$mixes,
                      Depth_Distribution:$weights, Depth_Distribution:$logits,
                      Depth_SourceScalars:$rstd);
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `mixes` `(` $closed_mixes `:` custom<UniformTypes>(ref($closed_mixes), type($closed_mixes)) `)`
    `partial` `(` $partial `:` type($partial) `)`
    `lse` `(` $lse `:` type($lse) `)` attr-dict
  }];
}

def Depth_MergeAdjointOp : Depth_Op<"merge_adjoint",
    [AttrSizedOperandSegments]> {
  let summary = "adjoint of merge";
  let description = [{
    With g = `gradients` (∂h), per query and head

        δ  = a (1 − a) g·(p − o)
        ∂p = Σ_queries a g + δ (r u − ℓ r² p / D),   ∂u = Σ_tokens δ r p
        ∂o = (1 − a) g,                              ∂L = −δ

    `lse_gradient` has the `lse_queries` queries of the merge's `lse`; those
    that were not merged are zero.

    - (C1) as many gradients and closed mixes as queries, at least one, of the
      type of `partial` [B, T, D]
    - (C2) every query has D elements
    - (C3) `weights` and `logits` are [Q, B, T, h, 1] with h dividing D, `rstd`
      is [B, T, 1]
    - (C4) 0 ≤ `first_query` and `first_query` + Q ≤ `lse_queries`

    ```mlir
    %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<64xf32>)
      gradients(%g : tensor<2x8x64xf32>) mixes(%o : tensor<2x8x64xf32>)
      partial(%p : tensor<2x8x64xf32>)
      saved(%a, %l, %r : tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>,
            tensor<2x8x1xf32>)
      queries_of_lse(1) {first_query = 0 : i64}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$gradients,
                       Variadic<Net_Activation>:$closed_mixes,
                       Net_Activation:$partial, Depth_Distribution:$weights,
                       Depth_Distribution:$logits, Depth_SourceScalars:$rstd,
                       I64Attr:$first_query, I64Attr:$lse_queries);
  let results = (outs Net_Activation:$partial_gradient,
                      Depth_HeadScalars:$lse_gradient,
                      Variadic<Net_Tensor>:$operand_gradients);
  let extraClassDeclaration = [{
    /// One ∂o for each query.
    ::mlir::ValueRange getClosedMixGradients() {
      return getOperandGradients().take_front(getQueries().size());
    }
    /// One ∂u for each query.
    ::mlir::ValueRange getQueryGradients() {
      return getOperandGradients().drop_front(getQueries().size());
    }
  }];
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `gradients` `(` $gradients `:` custom<UniformTypes>(ref($gradients), type($gradients)) `)`
    `mixes` `(` $closed_mixes `:` custom<UniformTypes>(ref($closed_mixes), type($closed_mixes)) `)`
    `partial` `(` $partial `:` type($partial) `)`
    `saved` `(` $weights `,` $logits `,` $rstd `:` type($weights) `,` type($logits) `,` type($rstd) `)`
    `queries_of_lse` `(` $lse_queries `)` attr-dict
  }];
}

def Depth_ExtendOp : Op<Depth_Dialect, "extend",
    [AlwaysSpeculatable, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, InferTypeOpAdaptor]> {
  let summary = "add the sources born since to a route over the older ones";
  let description = [{
    Where every sublayer closes a block, routes have only their older sources in
    common. Given o and L of `depth.partial` over those, and the m `newer`
    sources s_j, per query and head

        r_j = 1 / sqrt(mean(s_j²) + epsilon),   ℓ_j = r_j (s_j·u)
        Z = exp L + Σ_j exp ℓ_j,                a_j = exp ℓ_j / Z
        h = (exp L / Z) o + Σ_j a_j s_j

    which is the route over all sources. `lse` and `first_query` are those of
    `depth.merge`, to which this op comes down for one source. `weights` a and
    `logits` ℓ are [Q, B, T, h, m], `rstd` r is [B, T, m]. `repeated` is that of
    `depth.route`.

    It is made after differentiation, and has no derivative.

    - (C1) as many older mixes as queries, at least one, and at least one newer
      source, all of one type [B, T, D]
    - (C2) every query is a vector of D elements of the arithmetic's type
    - (C3) `lse` is [≥ first_query + Q, B, T, h] with h dividing D, and
      `first_query` is not negative
    - (C4) `epsilon` is positive and finite

    ```mlir
    %h, %a, %l, %r = depth.extend queries(%w : tensor<64xf32>)
      mixes(%o : tensor<2x8x64xf32>) newer(%b0, %b1 : tensor<2x8x64xf32>)
      lse(%lse : tensor<2x2x8x4xf32>)
      {epsilon = 1.0e-6 : f64, first_query = 1 : i64, repeated}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$older_mixes,
                       Variadic<Net_Activation>:$newer, Depth_HeadScalars:$lse,
                       F64Attr:$epsilon, I64Attr:$first_query,
                       UnitAttr:$repeated);
  let results = (outs Variadic<Net_Activation>:$mixes,
                      Depth_Distribution:$weights, Depth_Distribution:$logits,
                      Depth_SourceScalars:$rstd);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `mixes` `(` $older_mixes `:` custom<UniformTypes>(ref($older_mixes), type($older_mixes)) `)`
    `newer` `(` $newer `:` custom<UniformTypes>(ref($newer), type($newer)) `)`
    `lse` `(` $lse `:` type($lse) `)` attr-dict
  }];
}

def Depth_ClosedStatisticsOp : Depth_Op<"closed_statistics"> {
  let summary = "how a route in two phases weighs its closed sources";
  let description = [{
    Of Q = `query_count` queries of a `depth.partial`, from `first_query` on,
    the statistics that `depth.route` has of its closed sources: with L = `lse`
    and ℓ = `logits` of the partial and the weight a of `depth.merge`

        α_i = (1 − a) exp(ℓ_i − L)

    or exp(ℓ_i − L) for a route that was not merged with anything. `weights` α
    and `closed_logits` ℓ are [Q, B, T, h, C]. They are cheap to compute where
    an adjoint needs them, so that between the passes L, ℓ and a are kept.

    - (C1) `query_count` is positive, `first_query` is not negative, and `lse`
      and `logits` have `first_query` + `query_count` queries or more
    - (C2) `lse` is [·, B, T, h] and `logits` [·, B, T, h, C], with the same
      queries and of the same type
    - (C3) `merged`, where present, is [Q, B, T, h, 1]

    ```mlir
    %alpha, %cl = depth.closed_statistics of 1 queries from 0
      lse(%lse : tensor<1x2x8x1xf32>) logits(%logits : tensor<1x2x8x1x2xf32>)
      merged(%a : tensor<1x2x8x1x1xf32>)
    ```
  }];
  let arguments = (ins Depth_HeadScalars:$lse, Depth_Distribution:$logits,
                       Optional<Depth_Distribution>:$merged,
                       I64Attr:$query_count, I64Attr:$first_query);
  let results = (outs Depth_Distribution:$weights,
                      Depth_Distribution:$closed_logits);
  let assemblyFormat = [{
    `of` $query_count `queries` `from` $first_query
    `lse` `(` $lse `:` type($lse) `)` `logits` `(` $logits `:` type($logits) `)`
    (`merged` `(` $merged^ `:` type($merged) `)`)? attr-dict
  }];
}

def Depth_ExtendedStatisticsOp : Depth_Op<"extended_statistics"> {
  let summary = "how an extended route weighs all of its sources";
  let description = [{
    Of the queries that a `depth.extend` took from `first_query` on, the
    statistics that `depth.route` has of all sources, the C older ones first:
    with L = `lse`, ℓ = `logits` and r = `rstd` of the `depth.partial`, and
    a_j = `new_weights`, `new_logits` and `new_rstd` of the m newer ones

        α_i = (1 − Σ_j a_j) exp(ℓ_i − L) for i < C, then a_j

    `weights` α and `all_logits` ℓ are [Q, B, T, h, C + m], `all_rstd` r is
    [B, T, C + m].

    - (C1) `lse` is [·, B, T, h] and `logits` [·, B, T, h, C] with the same
      queries, at least `first_query` + Q of them, and `first_query` is not
      negative; `rstd` is [B, T, C]
    - (C2) `new_weights` and `new_logits` are [Q, B, T, h, m], `new_rstd` is
      [B, T, m]

    ```mlir
    %alpha, %al, %ar = depth.extended_statistics from 1
      lse(%lse : tensor<3x2x8x4xf32>) logits(%logits : tensor<3x2x8x4x2xf32>)
      rstd(%rstd : tensor<2x8x2xf32>)
      newer(%a, %l, %r : tensor<2x2x8x4x3xf32>, tensor<2x2x8x4x3xf32>,
            tensor<2x8x3xf32>)
    ```
  }];
  let arguments = (ins Depth_HeadScalars:$lse, Depth_Distribution:$logits,
                       Depth_SourceScalars:$rstd,
                       Depth_Distribution:$new_weights,
                       Depth_Distribution:$new_logits,
                       Depth_SourceScalars:$new_rstd, I64Attr:$first_query);
  let results = (outs Depth_Distribution:$weights,
                      Depth_Distribution:$all_logits,
                      Depth_SourceScalars:$all_rstd);
  let assemblyFormat = [{
    `from` $first_query `lse` `(` $lse `:` type($lse) `)`
    `logits` `(` $logits `:` type($logits) `)`
    `rstd` `(` $rstd `:` type($rstd) `)`
    `newer` `(` $new_weights `,` $new_logits `,` $new_rstd `:`
    type($new_weights) `,` type($new_logits) `,` type($new_rstd) `)` attr-dict
  }];
}

#endif // ISOBATH_DIALECT_DEPTH_TWOPHASEOPS_TD
