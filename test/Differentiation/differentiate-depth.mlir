// RUN: isobath-opt %s --split-input-file --isobath-differentiate | FileCheck %s

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

// A part that stands here, for the partial, and a deferred one for the closed
// sources, which takes nothing from this route but g, the dots and scalars.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[WQ:[a-z0-9_]+]]: tensor<8xf32>, %[[WV:[a-z0-9_]+]]: tensor<8xf32>, %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[B:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[P:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[GQ:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[GV:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[MIXES:[a-z0-9_]+]]:2, %[[WEIGHTS:[a-z0-9_]+]], %[[LOGITS:[a-z0-9_]+]], %[[RSTD:[a-z0-9_]+]] = depth.route queries(%[[WQ]], %[[WV]] :
// CHECK: %[[DOTS:[a-z0-9_]+]], %[[LOCAL:[a-z0-9_]+]]:3 = depth.route_adjoint_local queries(%[[WQ]], %[[WV]] :
// CHECK-SAME: gradients(%[[GQ]], %[[GV]] :
// CHECK-SAME: mixes(%[[MIXES]]#0, %[[MIXES]]#1 :
// CHECK-SAME: partial(%[[P]] :
// CHECK-SAME: saved(%[[WEIGHTS]], %[[LOGITS]], %[[RSTD]] :
// CHECK: %[[DEFERRED:[a-z0-9_]+]]:4 = depth.route_adjoint_deferred queries(%[[WQ]], %[[WV]] :
// CHECK-SAME: gradients(%[[GQ]], %[[GV]] :
// CHECK-SAME: closed(%[[E]], %[[B]] :
// CHECK-SAME: weights(%[[WEIGHTS]] :
// CHECK-SAME: logits(%[[LOGITS]] :
// CHECK-SAME: dots(%[[DOTS]] :
// CHECK-SAME: rstd(%[[RSTD]] :
// CHECK: %[[GWQ:[a-z0-9_]+]] = net.add %[[DEFERRED]]#2, %[[LOCAL]]#1
// CHECK: %[[GWV:[a-z0-9_]+]] = net.add %[[DEFERRED]]#3, %[[LOCAL]]#2
// CHECK: return %[[MIXES]]#0, %[[MIXES]]#1, %[[GWQ]], %[[GWV]], %[[DEFERRED]]#0, %[[DEFERRED]]#1, %[[LOCAL]]#0
func.func @loss(%wq: tensor<8xf32>, %wv: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b0: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%wq, %wv : tensor<8xf32>)
    closed(%e, %b0 : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Without a partial the local part is the dots alone.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[DOTS:[a-z0-9_]+]] = depth.route_adjoint_local
// CHECK-NOT: partial(
// CHECK: %[[DEFERRED:[a-z0-9_]+]]:3 = depth.route_adjoint_deferred
// CHECK-NOT: net.add
// CHECK: return %{{.*}}, %[[DEFERRED]]#2, %[[DEFERRED]]#0, %[[DEFERRED]]#1
func.func @loss(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b0 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

// -----

// Tied routes are one query value used twice: its gradient is the sum.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[W:[a-z0-9_]+]]: tensor<8xf32>, %{{.*}}: tensor<2x3x8xf32>,
// CHECK: depth.route queries(%[[W]], %[[W]] :
// CHECK: %[[DEFERRED:[a-z0-9_]+]]:3 = depth.route_adjoint_deferred
// CHECK: %[[GW:[a-z0-9_]+]] = net.add %[[DEFERRED]]#1, %[[DEFERRED]]#2
// CHECK: return %{{.*}}, %{{.*}}, %[[GW]], %[[DEFERRED]]#0
func.func @loss(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Static reads
//===----------------------------------------------------------------------===//

// One op for all mixtures; the mix that is not returned has a gradient of zero.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[M:[a-z0-9_]+]]: tensor<2xf32>, %[[N:[a-z0-9_]+]]: tensor<2xf32>, %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[P:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<2x3x8xf32>
// CHECK: %[[ALL:[a-z0-9_]+]]:4 = depth.static_read_adjoint mixtures(%[[M]], %[[N]] : tensor<2xf32>)
// CHECK-SAME: gradients(%[[G]], %[[ZERO]] : tensor<2x3x8xf32>)
// CHECK-SAME: closed(%[[E]] : tensor<2x3x8xf32>) partial(%[[P]] : tensor<2x3x8xf32>)
// CHECK: return %{{.*}}, %[[ALL]]#2, %[[ALL]]#3, %[[ALL]]#0, %[[ALL]]#1
func.func @loss(%m: tensor<2xf32>, %n: tensor<2xf32>, %e: tensor<2x3x8xf32>,
                %p: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %q, %v, %a = depth.static_read mixtures(%m, %n : tensor<2xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
  return %q : tensor<2x3x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[SHARE:[a-z0-9_]+]] = net.scale %[[G]] {factor = 5.000000e-01 : f64}
// CHECK: return %{{.*}}, %[[SHARE]], %[[SHARE]]
func.func @loss(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00>
// CHECK: return %{{.*}}, %[[ZERO]], %[[G]]
func.func @loss(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00>
// CHECK: return %{{.*}}, %[[G]], %[[ZERO]]
func.func @loss(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read embedding closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Two phases
//===----------------------------------------------------------------------===//

// The second of two queries is merged: the adjoint of the merge fills ∂L of
// both, and the closed mix that was not merged gets zeros.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[O:[a-z0-9_]+]]:2, %[[LSE:[a-z0-9_]+]], %[[CLOSEDLOGITS:[a-z0-9_]+]], %[[CLOSEDRSTD:[a-z0-9_]+]] = depth.partial
// CHECK: %[[H:[a-z0-9_]+]], %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.merge
// CHECK: %[[GP:[a-z0-9_]+]], %[[GLSE:[a-z0-9_]+]], %[[G:[a-z0-9_]+]]:2 = depth.merge_adjoint
// CHECK-SAME: mixes(%[[O]]#1 :
// CHECK-SAME: saved(%[[A]], %[[L]], %[[R]] :
// CHECK-SAME: queries_of_lse(2) {first_query = 1 : i64}
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<2x3x8xf32>
// CHECK: %[[C:[a-z0-9_]+]]:3 = depth.partial_adjoint
// CHECK-SAME: gradients(%[[ZERO]], %[[G]]#0 :
// CHECK-SAME: mixes(%[[O]]#0, %[[O]]#1 :
// CHECK-SAME: saved(%[[GLSE]], %[[LSE]], %[[CLOSEDLOGITS]], %[[CLOSEDRSTD]] :
// CHECK: %[[GU:[a-z0-9_]+]] = net.add %[[G]]#1, %[[C]]#2
// CHECK: return %[[H]], %[[C]]#1, %[[GU]], %[[C]]#0, %[[GP]]
func.func @loss(%w: tensor<8xf32>, %u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %p: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %o0, %o1, %lse, %logits, %rstd = depth.partial
    queries(%w, %u : tensor<8xf32>) closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h, %a, %l, %r = depth.merge queries(%u : tensor<8xf32>)
    mixes(%o1 : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<2x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 1 : i64}
  return %h : tensor<2x3x8xf32>
}
