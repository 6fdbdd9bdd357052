// RUN: isobath-opt %s --canonicalize --cse | FileCheck %s

// All ops are pure: equal ones are computed once, unused ones not at all.

// CHECK-LABEL: func.func @equal_ops_merge
// CHECK-SAME: %[[A:[a-z0-9_]+]]: tensor<4xf32>, %[[B:[a-z0-9_]+]]: tensor<4xf32>
func.func @equal_ops_merge(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[SUM:[a-z0-9_]+]] = net.add %[[A]], %[[B]]
  // CHECK-NOT: net.add
  // CHECK: return %[[SUM]], %[[SUM]]
  %0 = net.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = net.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The order of addition is fixed, so a + b is not replaced by b + a.
// CHECK-LABEL: func.func @operands_keep_their_order
// CHECK-SAME: %[[A:[a-z0-9_]+]]: tensor<4xf32>, %[[B:[a-z0-9_]+]]: tensor<4xf32>
func.func @operands_keep_their_order(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: net.add %[[A]], %[[B]]
  // CHECK: net.add %[[B]], %[[A]]
  %0 = net.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = net.add %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @other_attributes_stay_apart
func.func @other_attributes_stay_apart(%x: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  // CHECK: net.rotary {{.*}}heads = 2 : i64}
  // CHECK: net.rotary {{.*}}heads = 2 : i64, inverse}
  %0 = net.rotary %x {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.rotary %x {heads = 2 : i64, base = 1.0e4 : f64, inverse}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %0, %1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @unused_ops_go
// CHECK-SAME: %[[X:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @unused_ops_go(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<2x3x8xf32> {
  %y = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %z = net.swiglu %y, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %x : tensor<2x3x8xf32>
}
