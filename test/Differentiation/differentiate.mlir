// RUN: isobath-opt %s --split-input-file --isobath-differentiate | FileCheck %s

//===----------------------------------------------------------------------===//
// The function that is added
//===----------------------------------------------------------------------===//

// g(x…, ∂y…) -> (y…, ∂x…): the primal stays, ids have no gradient.
// CHECK-LABEL: func.func @loss(%{{.*}}: tensor<5x4xf32>, %{{.*}}: tensor<2x3xi32>) -> tensor<2x3x4xf32>
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[TABLE:[a-z0-9_]+]]: tensor<5x4xf32>, %[[IDS:[a-z0-9_]+]]: tensor<2x3xi32>, %[[G:[a-z0-9_]+]]: tensor<2x3x4xf32>)
// CHECK-SAME: -> (tensor<2x3x4xf32>, tensor<5x4xf32>)
// CHECK: %[[Y:[a-z0-9_]+]] = net.embedding %[[TABLE]], %[[IDS]]
// CHECK: %[[GT:[a-z0-9_]+]] = net.embedding_adjoint %[[G]], %[[IDS]] {rows = 5 : i64}
// CHECK: return %[[Y]], %[[GT]]
func.func @loss(%table: tensor<5x4xf32>, %ids: tensor<2x3xi32>)
    -> tensor<2x3x4xf32> {
  %y = net.embedding %table, %ids
    : (tensor<5x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Where arguments are parameters, only these are differentiated by.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: tensor<2x3x4xf32>,
// CHECK-SAME: %[[W:[a-z0-9_]+]]: tensor<6x4xf32> {net.parameter = #net.parameter<name = "w", initial = ones>},
// CHECK-SAME: %[[G:[a-z0-9_]+]]: tensor<2x3x6xf32>)
// CHECK-SAME: -> (tensor<2x3x6xf32>, tensor<6x4xf32>)
// CHECK: %[[Y:[a-z0-9_]+]] = net.linear %[[X]], %[[W]]
// CHECK-NOT: net.linear_input_adjoint
// CHECK: %[[GW:[a-z0-9_]+]] = net.linear_weight_adjoint %[[G]], %[[X]]
// CHECK: return %[[Y]], %[[GW]]
func.func @loss(%x: tensor<2x3x4xf32>,
                %w: tensor<6x4xf32> {net.parameter = #net.parameter<name = "w", initial = ones>})
    -> tensor<2x3x6xf32> {
  %y = net.linear %x, %w
    : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Sums of contributions
//===----------------------------------------------------------------------===//

// Added from the last use to the first, and within one op from its first
// operand to its last: ((∂ by net.add) + (∂ by the left factor)) + (… right).
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: tensor<4xf32>, %[[Y:[a-z0-9_]+]]: tensor<4xf32>, %[[G:[a-z0-9_]+]]: tensor<4xf32>)
// CHECK: %[[SQUARE:[a-z0-9_]+]] = net.multiply %[[X]], %[[X]]
// CHECK: %[[SUM:[a-z0-9_]+]] = net.add %[[SQUARE]], %[[X]]
// CHECK: %[[RESULT:[a-z0-9_]+]] = net.multiply %[[SUM]], %[[Y]]
// CHECK: %[[GSUM:[a-z0-9_]+]] = net.multiply %[[G]], %[[Y]]
// CHECK: %[[GY:[a-z0-9_]+]] = net.multiply %[[G]], %[[SUM]]
// CHECK: %[[LEFT:[a-z0-9_]+]] = net.multiply %[[GSUM]], %[[X]]
// CHECK: %[[RIGHT:[a-z0-9_]+]] = net.multiply %[[GSUM]], %[[X]]
// CHECK: %[[FIRST:[a-z0-9_]+]] = net.add %[[GSUM]], %[[LEFT]]
// CHECK: %[[GX:[a-z0-9_]+]] = net.add %[[FIRST]], %[[RIGHT]]
// CHECK: return %[[RESULT]], %[[GX]], %[[GY]]
func.func @loss(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = net.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = net.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = net.multiply %1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A value that is returned and used, and one that is returned twice.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: tensor<4xf32>, %[[G0:[a-z0-9_]+]]: tensor<4xf32>, %[[G1:[a-z0-9_]+]]: tensor<4xf32>, %[[G2:[a-z0-9_]+]]: tensor<4xf32>)
// CHECK: %[[A:[a-z0-9_]+]] = net.scale %[[X]] {factor = 2.0
// CHECK: %[[B:[a-z0-9_]+]] = net.scale %[[A]] {factor = 3.0
// CHECK: %[[GB:[a-z0-9_]+]] = net.add %[[G0]], %[[G2]]
// CHECK: %[[VIAB:[a-z0-9_]+]] = net.scale %[[GB]] {factor = 3.0
// CHECK: %[[GA:[a-z0-9_]+]] = net.add %[[G1]], %[[VIAB]]
// CHECK: %[[GX:[a-z0-9_]+]] = net.scale %[[GA]] {factor = 2.0
// CHECK: return %[[B]], %[[A]], %[[B]], %[[GX]]
func.func @loss(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = net.scale %x {factor = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = net.scale %a {factor = 3.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Zero gradients
//===----------------------------------------------------------------------===//

// An argument that no result depends on has a gradient of zeros; what does not
// reach a result is not differentiated at all.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: tensor<2x3x4xf32>, %[[W:[a-z0-9_]+]]: tensor<6x4xf32>, %[[G:[a-z0-9_]+]]: tensor<2x3x4xf32>)
// CHECK: net.linear %[[X]], %[[W]]
// CHECK-NOT: adjoint
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<6x4xf32>
// CHECK: return %[[X]], %[[G]], %[[ZERO]]
func.func @loss(%x: tensor<2x3x4xf32>, %w: tensor<6x4xf32>)
    -> tensor<2x3x4xf32> {
  %unused = net.linear %x, %w
    : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  return %x : tensor<2x3x4xf32>
}

// -----

// Of two mixes, the unused one contributes a gradient of zeros.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[MIXES:[a-z0-9_]+]]:2, %{{.*}} = depth.route
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant dense<0.000000e+00> : tensor<2x3x8xf32>
// CHECK: depth.route_adjoint_local {{.*}} gradients(%[[ZERO]], %[[G]] :
func.func @loss(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %v : tensor<2x3x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[X:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[W:[a-z0-9_]+]]: tensor<8xf32>, %[[U:[a-z0-9_]+]]: tensor<8xf32>, %[[G:[a-z0-9_]+]]: tensor<2x3x8xf32>)
// CHECK: %[[N:[a-z0-9_]+]] = net.rms_norm %[[X]], %[[W]]
// CHECK: %[[R:[a-z0-9_]+]] = net.rotary %[[N]] {base = 1.0{{.*}}, heads = 2 : i64}
// CHECK: %[[Y:[a-z0-9_]+]] = net.add_vector %[[R]], %[[U]]
// CHECK: %[[GU:[a-z0-9_]+]] = net.sum_tokens %[[G]]
// CHECK: %[[GN:[a-z0-9_]+]] = net.rotary %[[G]] {base = 1.0{{.*}}, heads = 2 : i64, inverse}
// CHECK: %[[GX:[a-z0-9_]+]], %[[GW:[a-z0-9_]+]] = net.rms_norm_adjoint %[[X]], %[[W]], %[[GN]]
// CHECK: return %[[Y]], %[[GX]], %[[GW]], %[[GU]]
func.func @loss(%x: tensor<2x3x8xf32>, %w: tensor<8xf32>, %u: tensor<8xf32>)
    -> tensor<2x3x8xf32> {
  %n = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %r = net.rotary %n {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = net.add_vector %r, %u
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// The adjoint of attention reads the output and the log-sum-exp.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[Y:[a-z0-9_]+]], %[[LSE:[a-z0-9_]+]] = net.attention %[[Q:[a-z0-9_]+]], %[[K:[a-z0-9_]+]], %[[V:[a-z0-9_]+]] {heads = 2 : i64, kv_heads = 1 : i64}
// CHECK: %[[S:[a-z0-9_]+]] = net.swiglu %[[Y]], %[[Q]]
// CHECK: %[[GGATE:[a-z0-9_]+]], %[[GUP:[a-z0-9_]+]] = net.swiglu_adjoint %[[Y]], %[[Q]], %{{.*}}
// CHECK: %[[GQ:[a-z0-9_]+]], %[[GK:[a-z0-9_]+]], %[[GV:[a-z0-9_]+]] = net.attention_adjoint %[[Q]], %[[K]], %[[V]], %[[Y]], %[[LSE]], %[[GGATE]] {heads = 2 : i64, kv_heads = 1 : i64}
// CHECK: %[[TOTAL:[a-z0-9_]+]] = net.add %[[GUP]], %[[GQ]]
// CHECK: return %[[S]], %[[TOTAL]], %[[GK]], %[[GV]]
func.func @loss(%q: tensor<2x3x8xf32>, %k: tensor<2x3x4xf32>,
                %v: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %y, %lse = net.attention %q, %k, %v {heads = 2 : i64, kv_heads = 1 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x2x3xf32>)
  %s = net.swiglu %y, %q
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %s : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[T:[a-z0-9_]+]]: tensor<2x3xi32>, %[[G:[a-z0-9_]+]]: tensor<2x3xf32>)
// CHECK: %[[LOSSES:[a-z0-9_]+]], %[[LSE:[a-z0-9_]+]] = net.cross_entropy %[[LOGITS:[a-z0-9_]+]], %[[T]]
// CHECK: %[[GLOGITS:[a-z0-9_]+]] = net.cross_entropy_adjoint %[[LOGITS]], %[[T]], %[[LSE]], %[[G]]
// CHECK: return %[[LOSSES]], %[[GLOGITS]]
func.func @loss(%logits: tensor<2x3x5xf32>, %targets: tensor<2x3xi32>)
    -> tensor<2x3xf32> {
  %losses, %lse = net.cross_entropy %logits, %targets
    : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %losses : tensor<2x3xf32>
}
