// RUN: isobath-opt %s | isobath-opt | FileCheck %s
// RUN: isobath-opt %s --mlir-print-op-generic | isobath-opt | FileCheck %s

// Every op in its custom and its generic form. The bodies are the examples of
// the ops' documentation; test/support/check_doc_examples.py holds them to it.

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @embedding
// CHECK: net.embedding %{{.*}}, %{{.*}} : (tensor<256x64xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>
func.func @embedding(%table: tensor<256x64xf32>, %ids: tensor<2x8xi32>) {
  %y = net.embedding %table, %ids
    : (tensor<256x64xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @embedding_adjoint
// CHECK: net.embedding_adjoint %{{.*}}, %{{.*}} {rows = 256 : i64} : (tensor<2x8x64xf32>, tensor<2x8xi32>) -> tensor<256x64xf32>
func.func @embedding_adjoint(%gradient: tensor<2x8x64xf32>,
                             %ids: tensor<2x8xi32>) {
  %g = net.embedding_adjoint %gradient, %ids {rows = 256 : i64}
    : (tensor<2x8x64xf32>, tensor<2x8xi32>) -> tensor<256x64xf32>
  return
}

// CHECK-LABEL: func.func @group_tokens
// CHECK: net.group_tokens %{{.*}} {vocabulary = 256 : i64} : (tensor<2x8xi32>) -> (tensor<257xi32>, tensor<16xi32>)
func.func @group_tokens(%ids: tensor<2x8xi32>) {
  %starts, %order = net.group_tokens %ids {vocabulary = 256 : i64}
    : (tensor<2x8xi32>) -> (tensor<257xi32>, tensor<16xi32>)
  return
}

// CHECK-LABEL: func.func @rms_norm
// CHECK: net.rms_norm %{{.*}}, %{{.*}} {epsilon = 9.99{{[0-9]+}}E-7 : f64} : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
func.func @rms_norm(%x: tensor<2x8x64xf32>, %weight: tensor<64xf32>) {
  %y = net.rms_norm %x, %weight {epsilon = 1.0e-6 : f64}
    : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_adjoint
// CHECK: net.rms_norm_adjoint %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 9.99{{[0-9]+}}E-7 : f64} : (tensor<2x8x64xf32>, tensor<64xf32>, tensor<2x8x64xf32>) -> (tensor<2x8x64xf32>, tensor<64xf32>)
func.func @rms_norm_adjoint(%x: tensor<2x8x64xf32>, %weight: tensor<64xf32>,
                            %g: tensor<2x8x64xf32>) {
  %gx, %gweight = net.rms_norm_adjoint %x, %weight, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x8x64xf32>, tensor<64xf32>, tensor<2x8x64xf32>)
    -> (tensor<2x8x64xf32>, tensor<64xf32>)
  return
}

// CHECK-LABEL: func.func @linear
// CHECK: net.linear %{{.*}}, %{{.*}} : (tensor<2x8x64xf32>, tensor<96x64xf32>) -> tensor<2x8x96xf32>
func.func @linear(%x: tensor<2x8x64xf32>, %w: tensor<96x64xf32>) {
  %y = net.linear %x, %w
    : (tensor<2x8x64xf32>, tensor<96x64xf32>) -> tensor<2x8x96xf32>
  return
}

// CHECK-LABEL: func.func @linear_input_adjoint
// CHECK: net.linear_input_adjoint %{{.*}}, %{{.*}} : (tensor<2x8x96xf32>, tensor<96x64xf32>) -> tensor<2x8x64xf32>
func.func @linear_input_adjoint(%g: tensor<2x8x96xf32>, %w: tensor<96x64xf32>) {
  %gx = net.linear_input_adjoint %g, %w
    : (tensor<2x8x96xf32>, tensor<96x64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @linear_weight_adjoint
// CHECK: net.linear_weight_adjoint %{{.*}}, %{{.*}} : (tensor<2x8x96xf32>, tensor<2x8x64xf32>) -> tensor<96x64xf32>
func.func @linear_weight_adjoint(%g: tensor<2x8x96xf32>,
                                 %x: tensor<2x8x64xf32>) {
  %gw = net.linear_weight_adjoint %g, %x
    : (tensor<2x8x96xf32>, tensor<2x8x64xf32>) -> tensor<96x64xf32>
  return
}

// CHECK-LABEL: func.func @linear_weight_adjoint_sum
// CHECK: net.linear_weight_adjoint %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x96xf32>, tensor<2x8x64xf32>, tensor<96x64xf32>) -> tensor<96x64xf32>
func.func @linear_weight_adjoint_sum(%g: tensor<2x8x96xf32>,
                                     %x: tensor<2x8x64xf32>,
                                     %sum: tensor<96x64xf32>) {
  %gw = net.linear_weight_adjoint %g, %x, %sum
    : (tensor<2x8x96xf32>, tensor<2x8x64xf32>, tensor<96x64xf32>)
    -> tensor<96x64xf32>
  return
}

// CHECK-LABEL: func.func @rotary
// CHECK: net.rotary %{{.*}} {base = 1.000000e+04 : f64, heads = 4 : i64} : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
func.func @rotary(%x: tensor<2x8x64xf32>) {
  %y = net.rotary %x {heads = 4 : i64, base = 1.0e4 : f64}
    : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @rotary_inverse
// CHECK: net.rotary %{{.*}} {base = 1.000000e+04 : f64, heads = 4 : i64, inverse} : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
func.func @rotary_inverse(%x: tensor<2x8x64xf32>) {
  %y = net.rotary %x {heads = 4 : i64, base = 1.0e4 : f64, inverse}
    : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @attention
// CHECK: net.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> (tensor<2x8x64xf32>, tensor<2x4x8xf32>)
func.func @attention(%q: tensor<2x8x64xf32>, %k: tensor<2x8x32xf32>,
                     %v: tensor<2x8x32xf32>) {
  %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>)
    -> (tensor<2x8x64xf32>, tensor<2x4x8xf32>)
  return
}

// CHECK-LABEL: func.func @attention_adjoint
// CHECK: net.attention_adjoint %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {heads = 4 : i64, kv_heads = 2 : i64}
// CHECK-SAME: -> (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>)
func.func @attention_adjoint(%q: tensor<2x8x64xf32>, %k: tensor<2x8x32xf32>,
                             %v: tensor<2x8x32xf32>, %y: tensor<2x8x64xf32>,
                             %lse: tensor<2x4x8xf32>, %g: tensor<2x8x64xf32>) {
  %gq, %gk, %gv = net.attention_adjoint %q, %k, %v, %y, %lse, %g
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>,
       tensor<2x8x64xf32>, tensor<2x4x8xf32>, tensor<2x8x64xf32>)
    -> (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>)
  return
}

// CHECK-LABEL: func.func @cross_entropy
// CHECK: net.cross_entropy %{{.*}}, %{{.*}} : (tensor<2x8x256xf32>, tensor<2x8xi32>) -> (tensor<2x8xf32>, tensor<2x8xf32>)
func.func @cross_entropy(%logits: tensor<2x8x256xf32>, %targets: tensor<2x8xi32>) {
  %losses, %lse = net.cross_entropy %logits, %targets
    : (tensor<2x8x256xf32>, tensor<2x8xi32>)
    -> (tensor<2x8xf32>, tensor<2x8xf32>)
  return
}

// CHECK-LABEL: func.func @cross_entropy_adjoint
// CHECK: net.cross_entropy_adjoint %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x256xf32>, tensor<2x8xi32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8x256xf32>
func.func @cross_entropy_adjoint(%logits: tensor<2x8x256xf32>,
                                 %targets: tensor<2x8xi32>,
                                 %lse: tensor<2x8xf32>, %g: tensor<2x8xf32>) {
  %glogits = net.cross_entropy_adjoint %logits, %targets, %lse, %g
    : (tensor<2x8x256xf32>, tensor<2x8xi32>, tensor<2x8xf32>, tensor<2x8xf32>)
    -> tensor<2x8x256xf32>
  return
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @add
// CHECK: net.add %{{.*}}, %{{.*}} : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
func.func @add(%a: tensor<2x8x64xf32>, %b: tensor<2x8x64xf32>) {
  %y = net.add %a, %b
    : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @multiply
// CHECK: net.multiply %{{.*}}, %{{.*}} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
func.func @multiply(%gain: tensor<64xf32>, %query: tensor<64xf32>) {
  %u = net.multiply %gain, %query
    : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @scale
// CHECK: net.scale %{{.*}} {factor = 5.000000e-01 : f64} : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
func.func @scale(%x: tensor<2x8x64xf32>) {
  %y = net.scale %x {factor = 5.0e-1 : f64}
    : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @add_vector
// CHECK: net.add_vector %{{.*}}, %{{.*}} : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
func.func @add_vector(%x: tensor<2x8x64xf32>, %u: tensor<64xf32>) {
  %y = net.add_vector %x, %u
    : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @sum_tokens
// CHECK: net.sum_tokens %{{.*}} : (tensor<2x8x64xf32>) -> tensor<64xf32>
func.func @sum_tokens(%x: tensor<2x8x64xf32>) {
  %y = net.sum_tokens %x : (tensor<2x8x64xf32>) -> tensor<64xf32>
  return
}

// A sum over the tokens of a bf16 activation is kept in f32.
// CHECK-LABEL: func.func @sum_tokens_bf16
// CHECK: net.sum_tokens %{{.*}} : (tensor<2x8x64xbf16>) -> tensor<64xf32>
func.func @sum_tokens_bf16(%x: tensor<2x8x64xbf16>) {
  %y = net.sum_tokens %x : (tensor<2x8x64xbf16>) -> tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @broadcast
// CHECK: net.broadcast %{{.*}} : (tensor<f32>) -> tensor<2x8xf32>
func.func @broadcast(%value: tensor<f32>) {
  %y = net.broadcast %value : (tensor<f32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @cast
// CHECK: net.cast %{{.*}} : (tensor<2x8xf32>) -> tensor<2x8xbf16>
func.func @cast(%x: tensor<2x8xf32>) {
  %y = net.cast %x : (tensor<2x8xf32>) -> tensor<2x8xbf16>
  return
}

// CHECK-LABEL: func.func @swiglu
// CHECK: net.swiglu %{{.*}}, %{{.*}} : (tensor<2x8x192xf32>, tensor<2x8x192xf32>) -> tensor<2x8x192xf32>
func.func @swiglu(%gate: tensor<2x8x192xf32>, %up: tensor<2x8x192xf32>) {
  %y = net.swiglu %gate, %up
    : (tensor<2x8x192xf32>, tensor<2x8x192xf32>) -> tensor<2x8x192xf32>
  return
}

// CHECK-LABEL: func.func @swiglu_adjoint
// CHECK: net.swiglu_adjoint %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x192xf32>, tensor<2x8x192xf32>, tensor<2x8x192xf32>) -> (tensor<2x8x192xf32>, tensor<2x8x192xf32>)
func.func @swiglu_adjoint(%gate: tensor<2x8x192xf32>, %up: tensor<2x8x192xf32>,
                          %g: tensor<2x8x192xf32>) {
  %ggate, %gup = net.swiglu_adjoint %gate, %up, %g
    : (tensor<2x8x192xf32>, tensor<2x8x192xf32>, tensor<2x8x192xf32>)
    -> (tensor<2x8x192xf32>, tensor<2x8x192xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @squared_norm
// CHECK: net.squared_norm %{{.*}} : (tensor<4096xf32>) -> tensor<f64>
func.func @squared_norm(%x: tensor<4096xf32>) {
  %y = net.squared_norm %x : (tensor<4096xf32>) -> tensor<f64>
  return
}

// CHECK-LABEL: func.func @adamw
// CHECK: net.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK-SAME: beta1 = {{9.0+e-01}} : f64
// CHECK-SAME: decay_elements = 3072 : i64
// CHECK-SAME: weight_decay = {{1.0+e-01}} : f64}
// CHECK-SAME: -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
func.func @adamw(%parameters: tensor<4096xf32>, %gradient: tensor<4096xf32>,
                 %m: tensor<4096xf32>, %v: tensor<4096xf32>,
                 %scalars: tensor<4xf32>) {
  %p, %m1, %v1 = net.adamw %parameters, %gradient, %m, %v, %scalars
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 3072 : i64}
    : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>,
       tensor<4096xf32>, tensor<4xf32>)
    -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: net.name = "tokens"
// CHECK-SAME: net.parameter = #net.parameter<name = "embed.weight", initial = normal, std = 2.000000e-02
// CHECK-SAME: net.parameter = #net.parameter<name = "layers.0.attn.route.qk.query", initial = normal, std = 2.000000e-02 : f64, key = "layers.0.attn.route.query">
// CHECK-SAME: net.parameter = #net.parameter<name = "final.norm.weight", initial = ones>
// CHECK-SAME: net.updates = 2 : i64
// CHECK-SAME: net.gradient = "embed.weight"
// CHECK-SAME: net.distribution = {groups = ["qk"], sources = ["embedding"]}
// CHECK-SAME: net.name = "layers.0.attn"
func.func @attributes(
    %tokens: tensor<2x8xi32> {net.name = "tokens"},
    %table: tensor<256x64xf32> {net.parameter =
      #net.parameter<name = "embed.weight", initial = normal, std = 2.0e-02>},
    %query: tensor<64xf32> {net.parameter =
      #net.parameter<name = "layers.0.attn.route.qk.query", initial = normal,
                     std = 2.0e-02 : f64, key = "layers.0.attn.route.query">},
    %norm: tensor<64xf32> {net.parameter =
      #net.parameter<name = "final.norm.weight", initial = ones>},
    %weights: tensor<1x2x8x1x1xf32>)
    -> (tensor<64xf32> {net.updates = 2 : i64},
        tensor<256x64xf32> {net.gradient = "embed.weight"},
        tensor<1x2x8x1x1xf32> {net.name = "layers.0.attn",
          net.distribution = {groups = ["qk"], sources = ["embedding"]}}) {
  return %query, %table, %weights
    : tensor<64xf32>, tensor<256x64xf32>, tensor<1x2x8x1x1xf32>
}

// CHECK-LABEL: module @settings
// CHECK-SAME: net.train = {steps = 10 : i64}
module @settings attributes {net.train = {steps = 10 : i64}} {
}

//===----------------------------------------------------------------------===//
// Parts of the tokens
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @take_tokens
// CHECK: net.take_tokens %{{.*}} {count = 5 : i64, first = 6 : i64} : (tensor<2x8x64xf32>) -> tensor<1x5x64xf32>
func.func @take_tokens(%x: tensor<2x8x64xf32>) {
  %y = net.take_tokens %x {first = 6 : i64, count = 5 : i64}
    : (tensor<2x8x64xf32>) -> tensor<1x5x64xf32>
  return
}

// CHECK-LABEL: func.func @join_tokens
// CHECK: net.join_tokens %{{.*}}, %{{.*}} {sequences = 2 : i64} : (tensor<1x5x64xf32>, tensor<1x11x64xf32>) -> tensor<2x8x64xf32>
func.func @join_tokens(%a: tensor<1x5x64xf32>, %b: tensor<1x11x64xf32>) {
  %y = net.join_tokens %a, %b {sequences = 2 : i64}
    : (tensor<1x5x64xf32>, tensor<1x11x64xf32>) -> tensor<2x8x64xf32>
  return
}
