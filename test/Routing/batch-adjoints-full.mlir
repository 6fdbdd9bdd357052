// RUN: isobath-opt %s --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints=schedule=batched | FileCheck %s

// Where every sublayer closes a block, no two routes read the same sources, but
// each reads those of the one before. Batches of two read what is older than
// both together; what was born in between is read by the later one alone.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[W0:[a-z0-9_]+]]: tensor<8xf32>, %[[W1:[a-z0-9_]+]]: tensor<8xf32>, %[[W2:[a-z0-9_]+]]: tensor<8xf32>, %[[W3:[a-z0-9_]+]]: tensor<8xf32>, %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[B:[a-z0-9_]+]]: tensor<2x3x8xf32>,
// CHECK: %[[H0:[a-z0-9_]+]], %[[A0:[a-z0-9_]+]], %{{.*}}, %[[R0:[a-z0-9_]+]] = depth.route queries(%[[W0]] :
// CHECK: %[[H1:[a-z0-9_]+]], %[[A1:[a-z0-9_]+]], %[[L1:[a-z0-9_]+]], %[[R1:[a-z0-9_]+]] = depth.route queries(%[[W1]] :
// CHECK: %[[H2:[a-z0-9_]+]], %[[A2:[a-z0-9_]+]], %[[L2:[a-z0-9_]+]], %[[R2:[a-z0-9_]+]] = depth.route queries(%[[W2]] :
// CHECK: %[[H3:[a-z0-9_]+]], %[[A3:[a-z0-9_]+]], %[[L3:[a-z0-9_]+]], %[[R3:[a-z0-9_]+]] = depth.route queries(%[[W3]] :

// CHECK: %[[NEW3:[a-z0-9_]+]]:2 = depth.route_adjoint_deferred queries(%[[W3]] :
// CHECK-SAME: closed(%[[H2]] :
// CHECK-SAME: weights(%[[A3]] : tensor<1x2x3x1x5xf32>) logits(%[[L3]] : tensor<1x2x3x1x5xf32>)
// CHECK-SAME: rstd(%[[R3]] : tensor<2x3x5xf32>) {newest}
// CHECK: %[[LATER:[a-z0-9_]+]]:6 = depth.route_adjoint_deferred queries(%[[W3]], %[[W2]] :
// CHECK-SAME: closed(%[[E]], %[[B]], %[[H0]], %[[H1]] :
// CHECK-SAME: weights(%[[A3]], %[[A2]] : tensor<1x2x3x1x5xf32>, tensor<1x2x3x1x4xf32>)
// CHECK-SAME: rstd(%[[R2]] : tensor<2x3x4xf32>)
// CHECK-NOT: newest
// CHECK: %[[GW3:[a-z0-9_]+]] = net.add %[[NEW3]]#1, %[[LATER]]#4

// CHECK: %[[NEW1:[a-z0-9_]+]]:2 = depth.route_adjoint_deferred queries(%[[W1]] :
// CHECK-SAME: closed(%[[H0]] :
// CHECK-SAME: {newest}
// CHECK: net.add %[[LATER]]#2, %[[NEW1]]#0
// CHECK: %[[EARLIER:[a-z0-9_]+]]:4 = depth.route_adjoint_deferred queries(%[[W1]], %[[W0]] :
// CHECK-SAME: closed(%[[E]], %[[B]] :
// CHECK: %[[GW1:[a-z0-9_]+]] = net.add %[[NEW1]]#1, %[[EARLIER]]#2
// CHECK: %[[GE:[a-z0-9_]+]] = net.add %[[LATER]]#0, %[[EARLIER]]#0
// CHECK: %[[GB:[a-z0-9_]+]] = net.add %[[LATER]]#1, %[[EARLIER]]#1
// CHECK: return %[[H3]], %[[EARLIER]]#3, %[[GW1]], %[[LATER]]#5, %[[GW3]], %[[GE]], %[[GB]]
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
