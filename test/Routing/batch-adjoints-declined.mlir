// RUN: isobath-opt %s --isobath-batch-adjoints=schedule=batched | FileCheck %s

// Two adjoints over the same sources that cannot be one.

// The second one's g is made of the gradient of the first one's query.
// CHECK-LABEL: func.func @needs_query_gradient
// CHECK-COUNT-2: depth.route_adjoint_deferred
func.func @needs_query_gradient(%w: tensor<8xf32>, %u: tensor<8xf32>,
                                %e: tensor<2x3x8xf32>, %g: tensor<2x3x8xf32>,
                                %d: tensor<1x2x3x1xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>) {
  %h:2, %a, %l, %r = depth.route queries(%w, %u : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %ge0, %gw0 = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a1 : tensor<1x2x3x1x1xf32>) logits(%l1 : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r1 : tensor<2x3x1xf32>)
  %twice = net.scale %gw0 {factor = 2.0 : f64}
    : (tensor<8xf32>) -> tensor<8xf32>
  %k = net.add_vector %g, %twice
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %ge1, %gw1 = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%k : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a1 : tensor<1x2x3x1x1xf32>) logits(%l1 : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r1 : tensor<2x3x1xf32>)
  %ge = net.add %ge0, %ge1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %ge, %gw1 : tensor<2x3x8xf32>, tensor<8xf32>
}

// The first one's contribution is used apart from the second one's.
// CHECK-LABEL: func.func @used_apart
// CHECK-COUNT-2: depth.route_adjoint_deferred
func.func @used_apart(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                      %g: tensor<2x3x8xf32>, %d: tensor<1x2x3x1xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %ge0, %gw0 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x1xf32>) logits(%l : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x1xf32>)
  %ge1, %gw1 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%h : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x1xf32>) logits(%l : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x1xf32>)
  %ge = net.add %ge0, %ge1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %ge0, %ge, %gw0, %gw1
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// It cannot be told whether both mean the same r.
// CHECK-LABEL: func.func @unknown_epsilon
// CHECK-COUNT-2: depth.route_adjoint_deferred
func.func @unknown_epsilon(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                           %g: tensor<2x3x8xf32>, %a: tensor<1x2x3x1x1xf32>,
                           %d: tensor<1x2x3x1xf32>, %r: tensor<2x3x1xf32>,
                           %s: tensor<2x3x1xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %ge0, %gw0 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x1xf32>) logits(%a : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x1xf32>)
  %ge1, %gw1 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x1xf32>) logits(%a : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%s : tensor<2x3x1xf32>)
  %ge = net.add %ge0, %ge1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %ge, %gw0, %gw1 : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}
