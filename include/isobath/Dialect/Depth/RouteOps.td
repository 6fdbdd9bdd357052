//===- RouteOps.td - Routes, fixed reads, and their adjoints ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_ROUTEOPS_TD
#define ISOBATH_DIALECT_DEPTH_ROUTEOPS_TD

include "isobath/Dialect/Depth/DepthDialect.td"

def Depth_RouteOp : Op<Depth_Dialect, "route",
    [AlwaysSpeculatable, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<DifferentiableOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     InferTypeOpAdaptor]> {
  let summary = "read the sources through one or more queries";
  let description = [{
    For each query, the mix h of the dialect's formula. `weights` α and
    `logits` ℓ are [Q, B, T, h, N], `rstd` r is [B, T, N], with the partial as
    last source: the scalars that the adjoint and a report on the distribution
    need. A lowering leaves out those without a use.

    With one source the route is the identity.

    `repeated` marks a route that runs for its cost alone (the control
    `v: repeat`): it counts as an effect, so that no pass merges it with
    another, takes its result from one, or removes it.
    `site` and `groups` (one a query) name it in reports and mean nothing else.

    - (C1) there is at least one query and one closed source
    - (C2) all sources have one type [B, T, D]
    - (C3) every query is a vector of D elements of the arithmetic's type (f32,
      f64 for f64 sources)
    - (C4) `heads` is positive and divides D
    - (C5) `epsilon` is positive and finite
    - (C6) `groups`, where present, has one name for each query

    ```mlir
    %q, %v, %weights, %logits, %rstd = depth.route
      queries(%wq, %wv : tensor<64xf32>)
      closed(%e, %b0 : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
      heads(1) {epsilon = 1.0e-6 : f64, site = "layers.2.attn",
                groups = ["qk", "v"]}
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$closed,
                       Optional<Net_Activation>:$partial,
                       I64Attr:$heads, F64Attr:$epsilon, UnitAttr:$repeated,
                       OptionalAttr<StrAttr>:$site,
                       OptionalAttr<StrArrayAttr>:$groups);
  let results = (outs Variadic<Net_Activation>:$mixes,
                      Depth_Distribution:$weights, Depth_Distribution:$logits,
                      Depth_SourceScalars:$rstd);
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    (`partial` `(` $partial^ `:` type($partial) `)`)?
    `heads` `(` $heads `)` attr-dict
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The closed sources, then the partial if there is one.
    ::llvm::SmallVector<::mlir::Value> getSources();
    /// Number of sources, N.
    int64_t getSourceCount() {
      return getClosed().size() + (getPartial() ? 1 : 0);
    }
  }];
}

def Depth_RouteAdjointLocalOp : Depth_Op<"route_adjoint_local",
    [AttrSizedOperandSegments]> {
  let summary = "what a route's adjoint does where the route stands";
  let description = [{
    The part of a route's adjoint that cannot wait: with g = `gradients`
    (∂L/∂h), per query and head

        dots = g·h
        δ_p  = α_p (g·s_p − dots)                       for the partial s_p only
        ∂s_p = Σ_queries α_p g + δ_p (r_p u − ℓ_p r_p² s_p / D)
        ∂u   = Σ_tokens δ_p r_p s_p                     what the partial adds to it

    (with several heads the last term of ∂s_p sums δ_p ℓ_p over them). The
    closed sources are left to `depth.route_adjoint_deferred`, which needs of
    this route only g, `dots` and the scalars α, ℓ, r. Without a partial only
    `dots` is computed and there are no other results. `weights`, `logits` and
    `rstd` have the numbers of the partial last; what else they have does not
    matter here.

    - (C1) as many gradients and mixes as queries, at least one, all of one type
      [B, T, D]; `partial`, where present, too
    - (C2) every query has D elements
    - (C3) `weights` and `logits` are [Q, B, T, h, ·] with h dividing D, `rstd`
      is [B, T, ·]

    ```mlir
    %dots, %gp, %gw = depth.route_adjoint_local queries(%w : tensor<64xf32>)
      gradients(%g : tensor<2x8x64xf32>) mixes(%h : tensor<2x8x64xf32>)
      partial(%p : tensor<2x8x64xf32>)
      saved(%weights, %logits, %rstd : tensor<1x2x8x1x3xf32>,
            tensor<1x2x8x1x3xf32>, tensor<2x8x3xf32>)
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$gradients,
                       Variadic<Net_Activation>:$mixes,
                       Optional<Net_Activation>:$partial,
                       Depth_Distribution:$weights, Depth_Distribution:$logits,
                       Depth_SourceScalars:$rstd);
  let results = (outs Depth_HeadScalars:$dots,
                      Variadic<Net_Tensor>:$operand_gradients);
  let extraClassDeclaration = [{
    /// ∂s_p; there must be a partial.
    ::mlir::Value getPartialGradient() { return getOperandGradients().front(); }
    /// One ∂u for each query; there must be a partial.
    ::mlir::ValueRange getQueryGradients() {
      return getOperandGradients().drop_front();
    }
  }];
  let assemblyFormat = [{
    `queries` `(` $queries `:` custom<UniformTypes>(ref($queries), type($queries)) `)`
    `gradients` `(` $gradients `:` custom<UniformTypes>(ref($gradients), type($gradients)) `)`
    `mixes` `(` $mixes `:` custom<UniformTypes>(ref($mixes), type($mixes)) `)`
    (`partial` `(` $partial^ `:` type($partial) `)`)?
    `saved` `(` $weights `,` $logits `,` $rstd `:` type($weights) `,` type($logits) `,` type($rstd) `)`
    attr-dict
  }];
}

def Depth_RouteAdjointDeferredOp : Depth_Op<"route_adjoint_deferred",
    [AttrSizedOperandSegments]> {
  let summary = "what the adjoints of routes add to their closed sources";
  let description = [{
    For R routes over the same C closed sources, with g, `dots`, α, ℓ and r of
    each route as in `depth.route_adjoint_local`: for i < C, per query and head,

        δ_i  = α_i (g·s_i − dots)
        ∂s_i = Σ_queries α_i g + δ_i (r_i u − ℓ_i r_i² s_i / D)
        ∂u   = Σ_tokens Σ_i δ_i r_i s_i

    Queries are added in order, route by route. One op serves one route or, when
    a pass has joined them, all routes of a block: every source is then read
    once and its gradient written once.

    `queries` and `gradients` hold those of the first route, then of the second,
    and so on; `weights`, `logits` and `dots` have one tensor for each route,
    whose first axis counts its queries. r_i depends on the source alone, so
    there is one `rstd`. Where a route read more sources than these, the numbers
    of these are the first ones or, with `newest`, the last ones.

    - (C1) at least one closed source; all closed sources and gradients have one
      type [B, T, D]
    - (C2) R ≥ 1; as many `logits` and `dots` as `weights`, with equal numbers
      of queries, which add up to the number of `queries` and of `gradients`
    - (C3) every query has D elements; `weights` and `logits` are [·, B, T, h, ≥
      C], `rstd` is [B, T, ≥ C], `dots` [·, B, T, h] with h dividing D

    ```mlir
    %ge, %gb, %gw = depth.route_adjoint_deferred queries(%w : tensor<64xf32>)
      gradients(%g : tensor<2x8x64xf32>)
      closed(%e, %b0 : tensor<2x8x64xf32>)
      weights(%weights : tensor<1x2x8x1x3xf32>)
      logits(%logits : tensor<1x2x8x1x3xf32>)
      dots(%dots : tensor<1x2x8x1xf32>) rstd(%rstd : tensor<2x8x3xf32>)
    ```
  }];
  let arguments = (ins Variadic<Net_Vector>:$queries,
                       Variadic<Net_Activation>:$gradients,
                       Variadic<Net_Activation>:$closed,
                       Variadic<Depth_Distribution>:$weights,
                       Variadic<Depth_Distribution>:$logits,
                       Variadic<Depth_HeadScalars>:$dots,
                       Depth_SourceScalars:$rstd, UnitAttr:$newest);
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
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    `weights` `(` $weights `:` type($weights) `)`
    `logits` `(` $logits `:` type($logits) `)`
    `dots` `(` $dots `:` type($dots) `)`
    `rstd` `(` $rstd `:` type($rstd) `)` attr-dict
  }];
}

def Depth_FixedRule : I32EnumAttr<"FixedRule", "how a fixed read weighs sources", [
    I32EnumAttrCase<"Uniform", 0, "uniform">,
    I32EnumAttrCase<"Newest", 1, "newest">,
    I32EnumAttrCase<"Embedding", 2, "embedding">]> {
  let cppNamespace = "::isobath::depth";
  let genSpecializedAttr = 0;
}
def Depth_FixedRuleAttr : EnumAttr<Depth_Dialect, Depth_FixedRule, "rule"> {
  let assemblyFormat = "$value";
}

def Depth_FixedReadOp : Depth_DifferentiableOp<"fixed_read",
    [AttrSizedOperandSegments]> {
  let summary = "read the sources without a query";
  let description = [{
    A control for learned routes. With N sources, the partial (where present)
    last: `uniform` is (Σ_i s_i) / N, `newest` the last source, `embedding` the
    first one.

    - (C1) there is at least one closed source
    - (C2) all sources have one type

    ```mlir
    %v = depth.fixed_read uniform closed(%e, %b0 : tensor<2x8x64xf32>)
      {site = "layers.2.attn", group = "v"}
    ```
  }];
  let arguments = (ins Depth_FixedRuleAttr:$rule,
                       Variadic<Net_Activation>:$closed,
                       Optional<Net_Activation>:$partial,
                       OptionalAttr<StrAttr>:$site,
                       OptionalAttr<StrAttr>:$group);
  let results = (outs Net_Activation:$mix);
  let assemblyFormat = [{
    $rule
    `closed` `(` $closed `:` custom<UniformTypes>(ref($closed), type($closed)) `)`
    (`partial` `(` $partial^ `:` type($partial) `)`)? attr-dict
  }];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The closed sources, then the partial if there is one.
    ::llvm::SmallVector<::mlir::Value> getSources();
  }];
}

def Depth_RunningSumOp : Depth_DifferentiableOp<"running_sum",
    [AllTypesMatch<["older", "source"]>]> {
  let summary = "the sum of all sources so far, with one more";
  let description = [{
    `sum = older + source`, where `older` is the sum of older sources, or the
    first of them. What a uniform `depth.fixed_read` reads at a site is 1/N of
    the sum of N sources, of which most are in the sum of the site before.

    In a bf16 model the source is rounded, as a source of any read is, and the
    sums are not.

    ```mlir
    %s1 = depth.running_sum %s0 with %b0 : tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$older, Net_Activation:$source);
  let results = (outs Net_Activation:$sum);
  let hasVerifier = 0;
  let assemblyFormat = "$older `with` $source attr-dict `:` type($older)";
}

def Depth_FixedDistributionOp : Depth_Op<"fixed_distribution"> {
  let summary = "the distribution of a fixed read, for reports";
  let description = [{
    The weights [1, B, T, 1, N] with which `depth.fixed_read` of the same rule
    reads N = `source_count` sources, for the tokens of `source`: 1/N each, or 1
    for the last or the first source and 0 for the others.

    - (C1) `source_count` is positive

    ```mlir
    %weights = depth.fixed_distribution newest of 3 sources like %e
      : tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Depth_FixedRuleAttr:$rule, Net_Activation:$source,
                       I64Attr:$source_count);
  let results = (outs Depth_Distribution:$weights);
  let hasVerifier = 0;
  let assemblyFormat = [{
    $rule `of` $source_count `sources` `like` $source attr-dict `:` type($source)
  }];
}

#endif // ISOBATH_DIALECT_DEPTH_ROUTEOPS_TD
