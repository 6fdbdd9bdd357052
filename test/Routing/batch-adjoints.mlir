// RUN: isobath-opt %s --split-input-file --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints=schedule=batched | FileCheck %s
// RUN: isobath-opt %s --split-input-file --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints=schedule=each | FileCheck %s --check-prefix=EACH
// RUN: isobath-opt %s --split-input-file --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints | FileCheck %s --check-prefix=AUTO

// Three routes over one list: the first stands at the block's start, the last
// is the one whose adjoint comes first. One op does what three did, and adds to
// a source's gradient once. The queries' gradients follow, with what the
// partials contribute.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[W0:[a-z0-9_]+]]: tensor<8xf32>, %[[W1:[a-z0-9_]+]]: tensor<8xf32>, %[[W2:[a-z0-9_]+]]: tensor<8xf32>,
// CHECK: %[[H0:[a-z0-9_]+]]:2, %[[A0:[a-z0-9_]+]], %[[L0:[a-z0-9_]+]], %[[R0:[a-z0-9_]+]] = depth.route queries(%[[W0]], %[[W1]] :
// CHECK: %[[H1:[a-z0-9_]+]], %[[A1:[a-z0-9_]+]], %[[L1:[a-z0-9_]+]], %{{.*}} = depth.route queries(%[[W1]] :
// CHECK: %[[H2:[a-z0-9_]+]], %[[A2:[a-z0-9_]+]], %[[L2:[a-z0-9_]+]], %{{.*}} = depth.route queries(%[[W2]] :
// CHECK: %[[DOTS2:[a-z0-9_]+]], %[[LOCAL2:[a-z0-9_]+]]:2 = depth.route_adjoint_local queries(%[[W2]] :
// CHECK-NOT: depth.route_adjoint_deferred
// CHECK: %[[DOTS1:[a-z0-9_]+]], %[[LOCAL1:[a-z0-9_]+]]:2 = depth.route_adjoint_local queries(%[[W1]] :
// CHECK-NOT: depth.route_adjoint_deferred
// CHECK: %[[DOTS0:[a-z0-9_]+]] = depth.route_adjoint_local queries(%[[W0]], %[[W1]] :
// CHECK-NEXT: %[[ALL:[a-z0-9_]+]]:6 = depth.route_adjoint_deferred queries(%[[W2]], %[[W1]], %[[W0]], %[[W1]] :
// CHECK-SAME: closed(%[[E:[a-z0-9_]+]], %[[B:[a-z0-9_]+]] :
// CHECK-SAME: weights(%[[A2]], %[[A1]], %[[A0]] :
// CHECK-SAME: logits(%[[L2]], %[[L1]], %[[L0]] :
// CHECK-SAME: dots(%[[DOTS2]], %[[DOTS1]], %[[DOTS0]] :
// CHECK-SAME: rstd(%[[R0]] :
// CHECK-NEXT: %[[GW2:[a-z0-9_]+]] = net.add %[[ALL]]#2, %[[LOCAL2]]#1
// CHECK-NEXT: %[[GW1:[a-z0-9_]+]] = net.add %[[ALL]]#3, %[[LOCAL1]]#1
// CHECK-NEXT: %[[SUM:[a-z0-9_]+]] = net.add %[[GW1]], %[[ALL]]#5
// CHECK-NEXT: return %{{.*}}, %[[ALL]]#4, %[[SUM]], %[[GW2]], %[[ALL]]#0, %[[ALL]]#1

// EACH-LABEL: func.func @gradient
// EACH-COUNT-3: depth.route_adjoint_deferred

// Two sources: 3 · 2 · (3 − 1) moved vectors are more than 2 · 3.
// AUTO-LABEL: func.func @gradient
// AUTO-COUNT-1: depth.route_adjoint_deferred
// AUTO-NOT: depth.route_adjoint_deferred
// AUTO: return
func.func @loss(%w0: tensor<8xf32>, %w1: tensor<8xf32>, %w2: tensor<8xf32>,
                %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %v0, %a0, %l0, %r0 = depth.route queries(%w0, %w1 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  %p0 = net.multiply %h0, %v0
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%w1 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p0 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  %p1 = net.add %p0, %h1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%w2 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p1 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  return %h2 : tensor<2x3x8xf32>
}

// -----

// A block over two sources, then one over three: the second block's op adds to
// the gradients that the first one's go on with.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[LATER:[a-z0-9_]+]]:5 = depth.route_adjoint_deferred
// CHECK-SAME: closed(%[[E:[a-z0-9_]+]], %[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}} :
// CHECK: %[[EARLIER:[a-z0-9_]+]]:4 = depth.route_adjoint_deferred
// CHECK-SAME: closed(%[[E]], %[[B]] :
// CHECK: %[[GE:[a-z0-9_]+]] = net.add %[[LATER]]#0, %[[EARLIER]]#0
// CHECK: %[[GB:[a-z0-9_]+]] = net.add %[[LATER]]#1, %[[EARLIER]]#1
// CHECK-NOT: net.add
// CHECK: return %{{.*}}, %{{.*}}, %[[GE]], %[[GB]]
func.func @loss(%w: tensor<8xf32>, %u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %b1 = net.multiply %h0, %h1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %b1 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b, %b1 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %y = net.multiply %h2, %h3
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// Another epsilon is another r.
// CHECK-LABEL: func.func @gradient
// CHECK-COUNT-2: depth.route_adjoint_deferred
func.func @loss(%w: tensor<8xf32>, %u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-5 : f64}
  %y = net.multiply %h0, %h1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}
