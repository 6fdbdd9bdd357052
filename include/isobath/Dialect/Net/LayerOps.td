//===- LayerOps.td - The layers of a transformer and their adjoints -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_LAYEROPS_TD
#define ISOBATH_DIALECT_NET_LAYEROPS_TD

include "isobath/Dialect/Net/NetDialect.td"

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

def Net_EmbeddingOp : Net_DifferentiableOp<"embedding"> {
  let summary = "look up a row of a table for every id";
  let description = [{
    `y[b,t,:] = table[ids[b,t],:]`. Every id lies in [0, V); whoever fills
    `ids` checks that.

    Constraints: none beyond the types.

    ```mlir
    %y = net.embedding %table, %ids
      : (tensor<256x64xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Matrix:$table, Net_Ids:$ids);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $table `,` $ids attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

def Net_EmbeddingAdjointOp : Net_Op<"embedding_adjoint"> {
  let summary = "sum the gradients of all tokens with the same id";
  let description = [{
    `∂table[v,:] = Σ_{b,t: ids[b,t] = v} gradient[b,t,:]`, added in the order of
    the tokens. `rows` is V.

    - (C1) `rows` > 0
    - (C2) `gradient` has one row for each id

    ```mlir
    %g = net.embedding_adjoint %gradient, %ids {rows = 256 : i64}
      : (tensor<2x8x64xf32>, tensor<2x8xi32>) -> tensor<256x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$gradient, Net_Ids:$ids, I64Attr:$rows);
  let results = (outs Net_Matrix:$table_gradient);
  let assemblyFormat = [{
    $gradient `,` $ids attr-dict `:` functional-type(operands, results)
  }];
}

def Net_GroupTokensOp : Net_Op<"group_tokens"> {
  let summary = "the tokens of every id";
  let description = [{
    `order` lists the tokens b·T + t sorted by id, those of one id in their
    order: the tokens of id v are order[starts[v]] … order[starts[v + 1] − 1].
    With these lists the adjoint of an embedding can be computed an id at a
    time. The op comes from `isobath-lower-to-rows` and is a library's: it has
    no loops of its own on the reference target.

    - (C1) `vocabulary` > 0

    ```mlir
    %starts, %order = net.group_tokens %ids {vocabulary = 256 : i64}
      : (tensor<2x8xi32>) -> (tensor<257xi32>, tensor<16xi32>)
    ```
  }];
  let arguments = (ins Net_Ids:$ids, I64Attr:$vocabulary);
  let results = (outs Net_Integers:$starts, Net_Integers:$order);
  let assemblyFormat = [{
    $ids attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

def Net_RMSNormOp : Net_DifferentiableOp<"rms_norm"> {
  let summary = "root-mean-square normalisation over groups of channels";
  let description = [{
    The channels are cut into contiguous groups as long as `weight`. For each
    token and group `x`,

        y = x · rstd(x) ⊙ weight,   rstd(x) = 1 / sqrt(mean(x²) + epsilon)

    One group is the usual RMSNorm; one group a head is query or key
    normalisation.

    - (C1) the length of `weight` divides the number of channels
    - (C2) `epsilon` is positive and finite

    ```mlir
    %y = net.rms_norm %x, %weight {epsilon = 1.0e-6 : f64}
      : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$input, Net_Vector:$weight,
                       F64Attr:$epsilon);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` functional-type(operands, results)
  }];
}

def Net_RMSNormAdjointOp : Net_Op<"rms_norm_adjoint"> {
  let summary = "adjoint of rms_norm";
  let description = [{
    With `r = rstd(x)` and `a = gradient ⊙ weight`, for each group of n channels

        ∂x = r a − x r³ (a·x) / n
        ∂weight = Σ over tokens and groups of gradient ⊙ x r

    - (C1) the length of `weight` divides the number of channels
    - (C2) `epsilon` is positive and finite
    - (C3) `gradient` has the type of `input`

    ```mlir
    %gx, %gweight = net.rms_norm_adjoint %x, %weight, %g {epsilon = 1.0e-6 : f64}
      : (tensor<2x8x64xf32>, tensor<64xf32>, tensor<2x8x64xf32>)
      -> (tensor<2x8x64xf32>, tensor<64xf32>)
    ```
  }];
  let arguments = (ins Net_Activation:$input, Net_Vector:$weight,
                       Net_Activation:$gradient, F64Attr:$epsilon);
  let results = (outs Net_Activation:$input_gradient,
                      Net_Vector:$weight_gradient);
  let assemblyFormat = [{
    $input `,` $weight `,` $gradient attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

def Net_LinearOp
    : Net_ProductOp<"linear",
                    [DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "multiply by a weight matrix";
  let description = [{
    `y = x Wᵀ` for `weight` W [out, in].

    - (C1) the channels of `input` are the columns of `weight`
    - (C2) both have one element type; the result has it too, or is f32 of bf16
      operands or bf16 of f32 ones

    ```mlir
    %y = net.linear %x, %w
      : (tensor<2x8x64xf32>, tensor<96x64xf32>) -> tensor<2x8x96xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$input, Net_Matrix:$weight);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` functional-type(operands, results)
  }];
}

def Net_LinearInputAdjointOp : Net_ProductOp<"linear_input_adjoint"> {
  let summary = "gradient of a linear layer's input";
  let description = [{
    `∂x = gradient W` for `weight` W [out, in].

    - (C1) the channels of `gradient` are the rows of `weight`
    - (C2) both have one element type; the result has it too, or is f32 of bf16
      operands or bf16 of f32 ones

    ```mlir
    %gx = net.linear_input_adjoint %g, %w
      : (tensor<2x8x96xf32>, tensor<96x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$gradient, Net_Matrix:$weight);
  let results = (outs Net_Activation:$input_gradient);
  let assemblyFormat = [{
    $gradient `,` $weight attr-dict `:` functional-type(operands, results)
  }];
}

def Net_LinearWeightAdjointOp : Net_ProductOp<"linear_weight_adjoint"> {
  let summary = "gradient of a linear layer's weight";
  let description = [{
    `∂W[o,i] = sum[o,i] + Σ over tokens of gradient[o] x[i]`, with `sum`, where
    there is one, the gradient from other tokens: a product adds to a matrix at
    no cost.

    - (C1) `gradient` and `input` have the same sequences and tokens
    - (C2) both have one element type; the result has it too, or is f32 of bf16
      operands or bf16 of f32 ones
    - (C3) `sum` has the type of the result

    ```mlir
    %gw = net.linear_weight_adjoint %g, %x, %sum
      : (tensor<2x8x96xf32>, tensor<2x8x64xf32>, tensor<96x64xf32>)
      -> tensor<96x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$gradient, Net_Activation:$input,
                       Optional<Net_Matrix>:$sum);
  let results = (outs Net_Matrix:$weight_gradient);
  let assemblyFormat = [{
    $gradient `,` $input (`,` $sum^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Rotary position embedding
//===----------------------------------------------------------------------===//

def Net_RotaryOp : Net_DifferentiableOp<"rotary"> {
  let summary = "rotate the halves of each head by the token's position";
  let description = [{
    For each head of d channels and i < d/2, with p the token's position in its
    sequence and the angle φ = p · base^(−2i/d),

        y[i]       = x[i] cos φ − x[i + d/2] sin φ
        y[i + d/2] = x[i + d/2] cos φ + x[i] sin φ

    `inverse` turns by −φ, which is also the adjoint. φ is exact to the
    arithmetic's type, also for late positions.

    - (C1) `heads` is positive and divides the channels into heads of even size
    - (C2) `base` is positive and finite

    ```mlir
    %y = net.rotary %x {heads = 4 : i64, base = 1.0e4 : f64}
      : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$input, I64Attr:$heads, F64Attr:$base,
                       UnitAttr:$inverse);
  let results = (outs Net_Activation:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Net_AttentionOp : Net_DifferentiableOp<"attention"> {
  let summary = "causal softmax attention";
  let description = [{
    For query head j, which uses key/value head ⌊j K/H⌋, and tokens t, s of a
    sequence,

        score[t,s] = q[t]·k[s] / √d      for s ≤ t
        lse[j,t]   = log Σ_{s ≤ t} exp(score[t,s])
        output[t]  = Σ_{s ≤ t} exp(score[t,s] − lse[j,t]) v[s]

    `lse` [B, H, T] is what the adjoint needs besides the operands.

    - (C1) `heads` and `kv_heads` are positive, `kv_heads` divides `heads`,
      `heads` divides the channels of `query`
    - (C2) `key` and `value` have the sequences and tokens of `query`, its
      element type, and `kv_heads` heads of the same size

    ```mlir
    %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64}
      : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>)
      -> (tensor<2x8x64xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins Net_Activation:$query, Net_Activation:$key,
                       Net_Activation:$value, I64Attr:$heads, I64Attr:$kv_heads);
  let results = (outs Net_Activation:$output, Net_HeadValues:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value attr-dict `:` functional-type(operands, results)
  }];
}

def Net_AttentionAdjointOp : Net_Op<"attention_adjoint"> {
  let summary = "adjoint of attention";
  let description = [{
    With `P[t,s] = exp(score[t,s] − lse[t])` and `c[t] = gradient[t]·output[t]`
    for each query head,

        ∂v[s] = Σ_t P[t,s] gradient[t]
        δ[t,s] = P[t,s] (gradient[t]·v[s] − c[t]) / √d
        ∂q[t] = Σ_s δ[t,s] k[s],   ∂k[s] = Σ_t δ[t,s] q[t]

    where ∂k and ∂v also sum over the query heads that share them.

    - (C1), (C2) as for `net.attention`
    - (C3) `output` and `gradient` have the type of `query`, `lse` is [B, H, T]

    ```mlir
    %gq, %gk, %gv = net.attention_adjoint %q, %k, %v, %y, %lse, %g
      {heads = 4 : i64, kv_heads = 2 : i64}
      : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>,
         tensor<2x8x64xf32>, tensor<2x4x8xf32>, tensor<2x8x64xf32>)
      -> (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>)
    ```
  }];
  let arguments = (ins Net_Activation:$query, Net_Activation:$key,
                       Net_Activation:$value, Net_Activation:$output,
                       Net_HeadValues:$lse, Net_Activation:$gradient,
                       I64Attr:$heads, I64Attr:$kv_heads);
  let results = (outs Net_Activation:$query_gradient,
                      Net_Activation:$key_gradient,
                      Net_Activation:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $lse `,` $gradient attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

def Net_CrossEntropyOp : Net_DifferentiableOp<"cross_entropy"> {
  let summary = "negative log-probability of every target";
  let description = [{
    With `lse = log Σ_v exp(logits[v])` for each token,

        losses = lse − logits[target]     where target ≥ 0
        losses = 0                        where target = −1: it does not count

    Targets lie in [−1, V); whoever fills `targets` checks that. The mean over
    those that count is left to the caller, who knows how many there are.

    - (C1) `logits` has one row for each target

    ```mlir
    %losses, %lse = net.cross_entropy %logits, %targets
      : (tensor<2x8x256xf32>, tensor<2x8xi32>)
      -> (tensor<2x8xf32>, tensor<2x8xf32>)
    ```
  }];
  let arguments = (ins Net_Activation:$logits, Net_Ids:$targets);
  let results = (outs Net_TokenValues:$losses, Net_TokenValues:$lse);
  let assemblyFormat = [{
    $logits `,` $targets attr-dict `:` functional-type(operands, results)
  }];
}

def Net_CrossEntropyAdjointOp : Net_Op<"cross_entropy_adjoint"> {
  let summary = "adjoint of cross_entropy";
  let description = [{
    `∂logits[v] = gradient · (exp(logits[v] − lse) − [v = target])`, and 0 for a
    token whose target is −1.

    - (C1) `logits` has one row for each target
    - (C2) `lse` and `gradient` have one value for each target

    ```mlir
    %glogits = net.cross_entropy_adjoint %logits, %targets, %lse, %g
      : (tensor<2x8x256xf32>, tensor<2x8xi32>, tensor<2x8xf32>, tensor<2x8xf32>)
      -> tensor<2x8x256xf32>
    ```
  }];
  let arguments = (ins Net_Activation:$logits, Net_Ids:$targets,
                       Net_TokenValues:$lse, Net_TokenValues:$gradient);
  let results = (outs Net_Activation:$logits_gradient);
  let assemblyFormat = [{
    $logits `,` $targets `,` $lse `,` $gradient attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // ISOBATH_DIALECT_NET_LAYEROPS_TD
