// RUN: isobath-opt %s --isobath-differentiate --canonicalize --cse --isobath-batch-routes=schedule=batched --cse | FileCheck %s
// RUN: isobath-opt %s --isobath-differentiate --canonicalize --cse --isobath-batch-routes="schedule=batched most-routes=1" | FileCheck %s --check-prefix=ALONE

// Where every sublayer closes a block, no two routes read the same sources, but
// each reads those of the one before. Batches of two read what is older than
// both together; what was born in between is read by the later one alone. The
// adjoint of the later one has the statistics of both.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[W0:[a-z0-9_]+]]: tensor<8xf32>, %[[W1:[a-z0-9_]+]]: tensor<8xf32>, %[[W2:[a-z0-9_]+]]: tensor<8xf32>, %[[W3:[a-z0-9_]+]]: tensor<8xf32>, %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[B:[a-z0-9_]+]]: tensor<2x3x8xf32>,
// CHECK: %[[O0:[a-z0-9_]+]]:2, %[[L0:[a-z0-9_]+]], %[[LOGITS0:[a-z0-9_]+]], %[[R0:[a-z0-9_]+]] = depth.partial queries(%[[W0]], %[[W1]] : tensor<8xf32>) closed(%[[E]], %[[B]] :
// CHECK: %[[H1:[a-z0-9_]+]], %[[A1:[a-z0-9_]+]], %[[LOGITS1:[a-z0-9_]+]], %[[R1:[a-z0-9_]+]] = depth.extend queries(%[[W1]] : tensor<8xf32>) mixes(%[[O0]]#1 : tensor<2x3x8xf32>) newer(%[[O0]]#0 : tensor<2x3x8xf32>) lse(%[[L0]] :
// CHECK-SAME: first_query = 1
// CHECK: depth.partial queries(%[[W2]], %[[W3]] : tensor<8xf32>) closed(%[[E]], %[[B]], %[[O0]]#0, %[[H1]] :
// CHECK: depth.extend queries(%[[W3]] :
// CHECK-NOT: depth.route queries
// CHECK: %[[A:[a-z0-9_]+]], %[[LOGITS:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.extended_statistics from 1 lse(%[[L0]] : tensor<2x2x3x1xf32>) logits(%[[LOGITS0]] : tensor<2x2x3x1x2xf32>) rstd(%[[R0]] : tensor<2x3x2xf32>) newer(%[[A1]], %[[LOGITS1]], %[[R1]] :
// CHECK: depth.route_adjoint_deferred queries(%[[W1]] :
// CHECK-SAME: closed(%[[E]], %[[B]], %[[O0]]#0 :
// CHECK-SAME: weights(%[[A]] : tensor<1x2x3x1x3xf32>)
// CHECK-SAME: rstd(%[[R]] :

// ALONE-NOT: depth.partial
func.func @loss(%w0: tensor<8xf32>, %w1: tensor<8xf32>, %w2: tensor<8xf32>,
                %w3: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w0 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w1 : tensor<8xf32>)
    closed(%e, %b, %h0 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h2, %a2, %l2, %r2 = depth.route queries(%w2 : tensor<8xf32>)
    closed(%e, %b, %h0, %h1 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%w3 : tensor<8xf32>)
    closed(%e, %b, %h0, %h1, %h2 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h3 : tensor<2x3x8xf32>
}

// A repeated route of each: those are batched as the others are, and apart from
// them.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[O:[a-z0-9_]+]]:2, {{.*}} = depth.partial queries(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<8xf32>)
// CHECK-NOT: repeated
// CHECK: %[[R:[a-z0-9_]+]]:2, {{.*}} = depth.partial {{.*}}repeated
// CHECK: depth.extend {{.*}} mixes(%[[O]]#1 :
// CHECK-NOT: repeated
// CHECK: depth.extend {{.*}} mixes(%[[R]]#1 : {{.*}}repeated
// CHECK: return
func.func @repeated(%w0: tensor<8xf32>, %w1: tensor<8xf32>,
                    %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w0 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %i0, %c0, %m0, %s0 = depth.route queries(%w0 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1)
    {epsilon = 1.0e-6 : f64, repeated}
  %h1, %a1, %l1, %r1 = depth.route queries(%w1 : tensor<8xf32>)
    closed(%e, %b, %h0 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %i1, %c1, %m1, %s1 = depth.route queries(%w1 : tensor<8xf32>)
    closed(%e, %b, %h0 : tensor<2x3x8xf32>) heads(1)
    {epsilon = 1.0e-6 : f64, repeated}
  return %h1 : tensor<2x3x8xf32>
}

// Neighbours that read their sources in another order, or with other heads or
// another epsilon, have nothing in common.
// CHECK-LABEL: func.func @unlike
// CHECK-NOT: depth.partial
// CHECK: return
func.func @unlike(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                  %b: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%b, %e, %h0 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%b, %e, %h0, %h1 : tensor<2x3x8xf32>) heads(2)
    {epsilon = 1.0e-6 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%w : tensor<8xf32>)
    closed(%b, %e, %h0, %h1, %h2 : tensor<2x3x8xf32>) heads(2)
    {epsilon = 1.0e-5 : f64}
  return %h3 : tensor<2x3x8xf32>
}
