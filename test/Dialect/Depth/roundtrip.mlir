// RUN: isobath-opt %s | isobath-opt | FileCheck %s
// RUN: isobath-opt %s --mlir-print-op-generic | isobath-opt | FileCheck %s

// Every op in its custom and its generic form. The bodies are the examples of
// the ops' documentation; test/support/check_doc_examples.py holds them to it.

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @route
// CHECK: %[[MIXES:[a-z0-9_]+]]:2, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} = depth.route
// CHECK-SAME: queries(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: heads(1) {epsilon = 9.99{{[0-9]+}}E-7 : f64, groups = ["qk", "v"], site = "layers.2.attn"}
// CHECK: return %[[MIXES]]#0, %[[MIXES]]#1
func.func @route(%wq: tensor<64xf32>, %wv: tensor<64xf32>,
                 %e: tensor<2x8x64xf32>, %b0: tensor<2x8x64xf32>,
                 %p: tensor<2x8x64xf32>)
    -> (tensor<2x8x64xf32>, tensor<2x8x64xf32>) {
  %q, %v, %weights, %logits, %rstd = depth.route
    queries(%wq, %wv : tensor<64xf32>)
    closed(%e, %b0 : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "layers.2.attn",
              groups = ["qk", "v"]}
  return %q, %v : tensor<2x8x64xf32>, tensor<2x8x64xf32>
}

// The types of the statistics follow: [Q, B, T, h, N] and [B, T, N], in f32
// over bf16 sources.
// CHECK-LABEL: func.func @route_statistics
// CHECK: depth.route queries(%{{[^ ,)]+}} : tensor<8xf32>) closed(%[[E:[a-z0-9_]+]], %[[E]], %[[E]] : tensor<2x3x8xbf16>) heads(4) {epsilon = 1.000000e-03 : f64}
// CHECK: return %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x3x8xbf16>, tensor<1x2x3x4x3xf32>, tensor<1x2x3x4x3xf32>, tensor<2x3x3xf32>
func.func @route_statistics(%w: tensor<8xf32>, %e: tensor<2x3x8xbf16>)
    -> (tensor<2x3x8xbf16>, tensor<1x2x3x4x3xf32>, tensor<1x2x3x4x3xf32>,
        tensor<2x3x3xf32>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %e, %e : tensor<2x3x8xbf16>)
    heads(4) {epsilon = 1.0e-3 : f64}
  return %h, %a, %l, %r : tensor<2x3x8xbf16>, tensor<1x2x3x4x3xf32>,
    tensor<1x2x3x4x3xf32>, tensor<2x3x3xf32>
}

// CHECK-LABEL: func.func @route_repeated
// CHECK: depth.route {{.*}} heads(1) {epsilon = 1.000000e-03 : f64, repeated}
func.func @route_repeated(%w: tensor<8xf64>, %e: tensor<2x3x8xf64>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf64>)
    closed(%e : tensor<2x3x8xf64>)
    heads(1) {epsilon = 1.0e-3 : f64, repeated}
  return
}

// CHECK-LABEL: func.func @route_adjoint_local
// CHECK: %{{[^ ,)]+}}, %{{[^ ,)]+}}:2 = depth.route_adjoint_local
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: gradients(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: mixes(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: saved(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<1x2x8x1x3xf32>, tensor<1x2x8x1x3xf32>, tensor<2x8x3xf32>)
func.func @route_adjoint_local(%w: tensor<64xf32>, %g: tensor<2x8x64xf32>,
                               %h: tensor<2x8x64xf32>, %p: tensor<2x8x64xf32>,
                               %weights: tensor<1x2x8x1x3xf32>,
                               %logits: tensor<1x2x8x1x3xf32>,
                               %rstd: tensor<2x8x3xf32>) {
  %dots, %gp, %gw = depth.route_adjoint_local queries(%w : tensor<64xf32>)
    gradients(%g : tensor<2x8x64xf32>) mixes(%h : tensor<2x8x64xf32>)
    partial(%p : tensor<2x8x64xf32>)
    saved(%weights, %logits, %rstd : tensor<1x2x8x1x3xf32>,
          tensor<1x2x8x1x3xf32>, tensor<2x8x3xf32>)
  return
}

// CHECK-LABEL: func.func @route_adjoint_local_without_partial
// CHECK: %[[DOTS:[a-z0-9_]+]] = depth.route_adjoint_local
// CHECK-NOT: partial
// CHECK: return %[[DOTS]] : tensor<1x2x8x1xf32>
func.func @route_adjoint_local_without_partial(
    %w: tensor<64xf32>, %g: tensor<2x8x64xf32>, %h: tensor<2x8x64xf32>,
    %weights: tensor<1x2x8x1x3xf32>, %logits: tensor<1x2x8x1x3xf32>,
    %rstd: tensor<2x8x3xf32>) -> tensor<1x2x8x1xf32> {
  %dots = depth.route_adjoint_local queries(%w : tensor<64xf32>)
    gradients(%g : tensor<2x8x64xf32>) mixes(%h : tensor<2x8x64xf32>)
    saved(%weights, %logits, %rstd : tensor<1x2x8x1x3xf32>,
          tensor<1x2x8x1x3xf32>, tensor<2x8x3xf32>)
  return %dots : tensor<1x2x8x1xf32>
}

// CHECK-LABEL: func.func @route_adjoint_deferred
// CHECK: %{{[^ ,)]+}}:3 = depth.route_adjoint_deferred
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: gradients(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: weights(%{{[^ ,)]+}} : tensor<1x2x8x1x3xf32>)
// CHECK-SAME: logits(%{{[^ ,)]+}} : tensor<1x2x8x1x3xf32>)
// CHECK-SAME: dots(%{{[^ ,)]+}} : tensor<1x2x8x1xf32>)
// CHECK-SAME: rstd(%{{[^ ,)]+}} : tensor<2x8x3xf32>)
func.func @route_adjoint_deferred(%w: tensor<64xf32>, %g: tensor<2x8x64xf32>,
                                  %e: tensor<2x8x64xf32>,
                                  %b0: tensor<2x8x64xf32>,
                                  %weights: tensor<1x2x8x1x3xf32>,
                                  %logits: tensor<1x2x8x1x3xf32>,
                                  %dots: tensor<1x2x8x1xf32>,
                                  %rstd: tensor<2x8x3xf32>) {
  %ge, %gb, %gw = depth.route_adjoint_deferred queries(%w : tensor<64xf32>)
    gradients(%g : tensor<2x8x64xf32>)
    closed(%e, %b0 : tensor<2x8x64xf32>)
    weights(%weights : tensor<1x2x8x1x3xf32>)
    logits(%logits : tensor<1x2x8x1x3xf32>)
    dots(%dots : tensor<1x2x8x1xf32>) rstd(%rstd : tensor<2x8x3xf32>)
  return
}

// Two routes of two and one query, the first with a partial, share one op.
// CHECK-LABEL: func.func @route_adjoint_deferred_shared
// CHECK: %{{[^ ,)]+}}:4 = depth.route_adjoint_deferred
// CHECK-SAME: queries(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<8xf32>)
// CHECK-SAME: weights(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x2x3x1x2xf32>, tensor<1x2x3x1x1xf32>)
// CHECK-SAME: logits(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x2x3x1x2xf32>, tensor<1x2x3x1x1xf32>)
// CHECK-SAME: dots(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x2x3x1xf32>, tensor<1x2x3x1xf32>)
func.func @route_adjoint_deferred_shared(
    %w: tensor<8xf32>, %s: tensor<2x3x8xf32>, %a0: tensor<2x2x3x1x2xf32>,
    %a1: tensor<1x2x3x1x1xf32>, %d0: tensor<2x2x3x1xf32>,
    %d1: tensor<1x2x3x1xf32>, %r: tensor<2x3x1xf32>) {
  %0:4 = depth.route_adjoint_deferred queries(%w, %w, %w : tensor<8xf32>)
    gradients(%s, %s, %s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a0, %a1 : tensor<2x2x3x1x2xf32>, tensor<1x2x3x1x1xf32>)
    logits(%a0, %a1 : tensor<2x2x3x1x2xf32>, tensor<1x2x3x1x1xf32>)
    dots(%d0, %d1 : tensor<2x2x3x1xf32>, tensor<1x2x3x1xf32>)
    rstd(%r : tensor<2x3x1xf32>)
  return
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @fixed_read
// CHECK: depth.fixed_read uniform closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>) {group = "v", site = "layers.2.attn"}
func.func @fixed_read(%e: tensor<2x8x64xf32>, %b0: tensor<2x8x64xf32>) {
  %v = depth.fixed_read uniform closed(%e, %b0 : tensor<2x8x64xf32>)
    {site = "layers.2.attn", group = "v"}
  return
}

// CHECK-LABEL: func.func @fixed_read_rules
// CHECK: depth.fixed_read newest closed(%{{[^ ,)]+}} : tensor<2x3x8xf32>) partial(%{{[^ ,)]+}} : tensor<2x3x8xf32>)
// CHECK: depth.fixed_read embedding closed(%{{[^ ,)]+}} : tensor<2x3x8xf32>)
func.func @fixed_read_rules(%e: tensor<2x3x8xf32>) {
  %0 = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
    partial(%e : tensor<2x3x8xf32>)
  %1 = depth.fixed_read embedding closed(%e : tensor<2x3x8xf32>)
  return
}

// CHECK-LABEL: func.func @running_sum
// CHECK: depth.running_sum %{{[^ ,)]+}} with %{{[^ ,)]+}} : tensor<2x8x64xf32>
func.func @running_sum(%s0: tensor<2x8x64xf32>, %b0: tensor<2x8x64xf32>) {
  %s1 = depth.running_sum %s0 with %b0 : tensor<2x8x64xf32>
  return
}

// CHECK-LABEL: func.func @fixed_distribution
// CHECK: %[[WEIGHTS:[a-z0-9_]+]] = depth.fixed_distribution newest of 3 sources like %{{[^ ,)]+}} : tensor<2x8x64xf32>
// CHECK: return %[[WEIGHTS]] : tensor<1x2x8x1x3xf32>
func.func @fixed_distribution(%e: tensor<2x8x64xf32>) -> tensor<1x2x8x1x3xf32> {
  %weights = depth.fixed_distribution newest of 3 sources like %e : tensor<2x8x64xf32>
  return %weights : tensor<1x2x8x1x3xf32>
}

//===----------------------------------------------------------------------===//
// Static reads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @static_read
// CHECK: %{{.*}}:2, %[[WEIGHTS:[a-z0-9_]+]] = depth.static_read mixtures(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<3xf32>) closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>) partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>) {groups = ["qk", "v"], site = "layers.2.attn"}
// CHECK: return %[[WEIGHTS]] : tensor<2x2x8x1x3xf32>
func.func @static_read(%mq: tensor<3xf32>, %mv: tensor<3xf32>,
                       %e: tensor<2x8x64xf32>, %b0: tensor<2x8x64xf32>,
                       %p: tensor<2x8x64xf32>) -> tensor<2x2x8x1x3xf32> {
  %q, %v, %weights = depth.static_read
    mixtures(%mq, %mv : tensor<3xf32>)
    closed(%e, %b0 : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
    {site = "layers.2.attn", groups = ["qk", "v"]}
  return %weights : tensor<2x2x8x1x3xf32>
}

// Arithmetic on bf16 sources is f32.
// CHECK-LABEL: func.func @static_read_of_bf16
// CHECK: depth.static_read mixtures(%{{[^ ,)]+}} : tensor<1xf32>) closed(%{{[^ ,)]+}} : tensor<2x8x64xbf16>)
func.func @static_read_of_bf16(%m: tensor<1xf32>, %e: tensor<2x8x64xbf16>) {
  %h, %weights = depth.static_read mixtures(%m : tensor<1xf32>)
    closed(%e : tensor<2x8x64xbf16>)
  return
}

// CHECK-LABEL: func.func @static_read_adjoint
// CHECK: %[[ALL:[a-z0-9_]+]]:3 = depth.static_read_adjoint mixtures(%{{[^ ,)]+}} : tensor<2xf32>) gradients(%{{[^ ,)]+}} : tensor<2x8x64xf32>) closed(%{{[^ ,)]+}} : tensor<2x8x64xf32>) partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK: return %[[ALL]]#2 : tensor<2xf32>
func.func @static_read_adjoint(%m: tensor<2xf32>, %g: tensor<2x8x64xf32>,
                               %e: tensor<2x8x64xf32>, %p: tensor<2x8x64xf32>)
    -> tensor<2xf32> {
  %ge, %gp, %gm = depth.static_read_adjoint mixtures(%m : tensor<2xf32>)
    gradients(%g : tensor<2x8x64xf32>)
    closed(%e : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
  return %gm : tensor<2xf32>
}

//===----------------------------------------------------------------------===//
// Two phases
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @partial
// CHECK: %[[O:[a-z0-9_]+]], %[[LSE:[a-z0-9_]+]], %[[LOGITS:[a-z0-9_]+]], %[[RSTD:[a-z0-9_]+]] = depth.partial
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: heads(1) {epsilon = 9.99{{[0-9]+}}E-7 : f64}
// CHECK: return %[[LSE]], %[[LOGITS]], %[[RSTD]] : tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>
func.func @partial(%w: tensor<64xf32>, %e: tensor<2x8x64xf32>,
                   %b0: tensor<2x8x64xf32>)
    -> (tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>) {
  %o, %lse, %logits, %rstd = depth.partial queries(%w : tensor<64xf32>)
    closed(%e, %b0 : tensor<2x8x64xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %lse, %logits, %rstd
    : tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>
}

// CHECK-LABEL: func.func @partial_adjoint
// CHECK: %{{[^ ,)]+}}:3 = depth.partial_adjoint
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: gradients(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: mixes(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: closed(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: saved(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<1x2x8x1xf32>, tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>)
func.func @partial_adjoint(%w: tensor<64xf32>, %go: tensor<2x8x64xf32>,
                           %o: tensor<2x8x64xf32>, %e: tensor<2x8x64xf32>,
                           %b0: tensor<2x8x64xf32>, %glse: tensor<1x2x8x1xf32>,
                           %lse: tensor<1x2x8x1xf32>,
                           %logits: tensor<1x2x8x1x2xf32>,
                           %rstd: tensor<2x8x2xf32>) {
  %ge, %gb, %gw = depth.partial_adjoint queries(%w : tensor<64xf32>)
    gradients(%go : tensor<2x8x64xf32>) mixes(%o : tensor<2x8x64xf32>)
    closed(%e, %b0 : tensor<2x8x64xf32>)
    saved(%glse, %lse, %logits, %rstd : tensor<1x2x8x1xf32>,
          tensor<1x2x8x1xf32>, tensor<1x2x8x1x2xf32>, tensor<2x8x2xf32>)
  return
}

// CHECK-LABEL: func.func @merge
// CHECK: %{{[^ ,)]+}}, %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.merge
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: mixes(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: lse(%{{[^ ,)]+}} : tensor<1x2x8x1xf32>)
// CHECK-SAME: {epsilon = 9.99{{[0-9]+}}E-7 : f64, first_query = 0 : i64}
// CHECK: return %[[A]], %[[L]], %[[R]] : tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>, tensor<2x8x1xf32>
func.func @merge(%w: tensor<64xf32>, %o: tensor<2x8x64xf32>,
                 %p: tensor<2x8x64xf32>, %lse: tensor<1x2x8x1xf32>)
    -> (tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>, tensor<2x8x1xf32>) {
  %h, %a, %l, %r = depth.merge queries(%w : tensor<64xf32>)
    mixes(%o : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
    lse(%lse : tensor<1x2x8x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return %a, %l, %r
    : tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>, tensor<2x8x1xf32>
}

// CHECK-LABEL: func.func @merge_adjoint
// CHECK: %{{[^ ,)]+}}, %[[LSE:[a-z0-9_]+]], %{{[^ ,)]+}}:2 = depth.merge_adjoint
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: gradients(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: mixes(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: partial(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: saved(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>, tensor<2x8x1xf32>)
// CHECK-SAME: queries_of_lse(1) {first_query = 0 : i64}
// CHECK: return %[[LSE]] : tensor<1x2x8x1xf32>
func.func @merge_adjoint(%w: tensor<64xf32>, %g: tensor<2x8x64xf32>,
                         %o: tensor<2x8x64xf32>, %p: tensor<2x8x64xf32>,
                         %a: tensor<1x2x8x1x1xf32>, %l: tensor<1x2x8x1x1xf32>,
                         %r: tensor<2x8x1xf32>) -> tensor<1x2x8x1xf32> {
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<64xf32>)
    gradients(%g : tensor<2x8x64xf32>) mixes(%o : tensor<2x8x64xf32>)
    partial(%p : tensor<2x8x64xf32>)
    saved(%a, %l, %r : tensor<1x2x8x1x1xf32>, tensor<1x2x8x1x1xf32>,
          tensor<2x8x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return %glse : tensor<1x2x8x1xf32>
}

// CHECK-LABEL: func.func @closed_statistics
// CHECK: %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]] = depth.closed_statistics of 1 queries from 0
// CHECK-SAME: lse(%{{[^ ,)]+}} : tensor<1x2x8x1xf32>)
// CHECK-SAME: logits(%{{[^ ,)]+}} : tensor<1x2x8x1x2xf32>)
// CHECK-SAME: merged(%{{[^ ,)]+}} : tensor<1x2x8x1x1xf32>)
// CHECK: return %[[A]], %[[L]] : tensor<1x2x8x1x2xf32>, tensor<1x2x8x1x2xf32>
func.func @closed_statistics(%lse: tensor<1x2x8x1xf32>,
                             %logits: tensor<1x2x8x1x2xf32>,
                             %a: tensor<1x2x8x1x1xf32>)
    -> (tensor<1x2x8x1x2xf32>, tensor<1x2x8x1x2xf32>) {
  %alpha, %cl = depth.closed_statistics of 1 queries from 0
    lse(%lse : tensor<1x2x8x1xf32>) logits(%logits : tensor<1x2x8x1x2xf32>)
    merged(%a : tensor<1x2x8x1x1xf32>)
  return %alpha, %cl : tensor<1x2x8x1x2xf32>, tensor<1x2x8x1x2xf32>
}

// Of several queries, some; not merged.
// CHECK-LABEL: func.func @closed_statistics_of_some
// CHECK: depth.closed_statistics of 2 queries from 1
// CHECK-NOT: merged
// CHECK: return %{{.*}} : tensor<2x2x8x4x3xf32>
func.func @closed_statistics_of_some(%lse: tensor<3x2x8x4xf32>,
                                     %logits: tensor<3x2x8x4x3xf32>)
    -> tensor<2x2x8x4x3xf32> {
  %alpha, %cl = depth.closed_statistics of 2 queries from 1
    lse(%lse : tensor<3x2x8x4xf32>) logits(%logits : tensor<3x2x8x4x3xf32>)
  return %alpha : tensor<2x2x8x4x3xf32>
}

// What runs for its cost alone stays, in two phases as in one.
// CHECK-LABEL: func.func @repeated
// CHECK: depth.partial
// CHECK-SAME: repeated
// CHECK: depth.merge
// CHECK-SAME: repeated
func.func @repeated(%w: tensor<64xf32>, %e: tensor<2x8x64xf32>,
                    %p: tensor<2x8x64xf32>) {
  %o, %lse, %logits, %rstd = depth.partial queries(%w : tensor<64xf32>)
    closed(%e : tensor<2x8x64xf32>) heads(1) {epsilon = 1.0e-6 : f64, repeated}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<64xf32>)
    mixes(%o : tensor<2x8x64xf32>) partial(%p : tensor<2x8x64xf32>)
    lse(%lse : tensor<1x2x8x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64, repeated}
  return
}

// CHECK-LABEL: func.func @extend
// CHECK: %{{[^ ,)]+}}, %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.extend
// CHECK-SAME: queries(%{{[^ ,)]+}} : tensor<64xf32>)
// CHECK-SAME: mixes(%{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: newer(%{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x8x64xf32>)
// CHECK-SAME: lse(%{{[^ ,)]+}} : tensor<2x2x8x4xf32>)
// CHECK-SAME: {epsilon = 9.99{{[0-9]+}}E-7 : f64, first_query = 1 : i64, repeated}
// CHECK: return %[[A]], %[[L]], %[[R]] : tensor<1x2x8x4x2xf32>, tensor<1x2x8x4x2xf32>, tensor<2x8x2xf32>
func.func @extend(%w: tensor<64xf32>, %o: tensor<2x8x64xf32>,
                  %b0: tensor<2x8x64xf32>, %b1: tensor<2x8x64xf32>,
                  %lse: tensor<2x2x8x4xf32>)
    -> (tensor<1x2x8x4x2xf32>, tensor<1x2x8x4x2xf32>, tensor<2x8x2xf32>) {
  %h, %a, %l, %r = depth.extend queries(%w : tensor<64xf32>)
    mixes(%o : tensor<2x8x64xf32>) newer(%b0, %b1 : tensor<2x8x64xf32>)
    lse(%lse : tensor<2x2x8x4xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 1 : i64, repeated}
  return %a, %l, %r
    : tensor<1x2x8x4x2xf32>, tensor<1x2x8x4x2xf32>, tensor<2x8x2xf32>
}

// CHECK-LABEL: func.func @extended_statistics
// CHECK: %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.extended_statistics from 1
// CHECK-SAME: lse(%{{[^ ,)]+}} : tensor<3x2x8x4xf32>)
// CHECK-SAME: logits(%{{[^ ,)]+}} : tensor<3x2x8x4x2xf32>)
// CHECK-SAME: rstd(%{{[^ ,)]+}} : tensor<2x8x2xf32>)
// CHECK-SAME: newer(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x2x8x4x3xf32>, tensor<2x2x8x4x3xf32>, tensor<2x8x3xf32>)
// CHECK: return %[[A]], %[[L]], %[[R]] : tensor<2x2x8x4x5xf32>, tensor<2x2x8x4x5xf32>, tensor<2x8x5xf32>
func.func @extended_statistics(%lse: tensor<3x2x8x4xf32>,
                               %logits: tensor<3x2x8x4x2xf32>,
                               %rstd: tensor<2x8x2xf32>,
                               %a: tensor<2x2x8x4x3xf32>,
                               %l: tensor<2x2x8x4x3xf32>,
                               %r: tensor<2x8x3xf32>)
    -> (tensor<2x2x8x4x5xf32>, tensor<2x2x8x4x5xf32>, tensor<2x8x5xf32>) {
  %alpha, %al, %ar = depth.extended_statistics from 1
    lse(%lse : tensor<3x2x8x4xf32>) logits(%logits : tensor<3x2x8x4x2xf32>)
    rstd(%rstd : tensor<2x8x2xf32>)
    newer(%a, %l, %r : tensor<2x2x8x4x3xf32>, tensor<2x2x8x4x3xf32>,
          tensor<2x8x3xf32>)
  return %alpha, %al, %ar
    : tensor<2x2x8x4x5xf32>, tensor<2x2x8x4x5xf32>, tensor<2x8x5xf32>
}
