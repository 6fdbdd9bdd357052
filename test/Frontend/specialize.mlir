// RUN: isobath-opt %s --isobath-specialize="batch=5 element-type=f64" | FileCheck %s
// RUN: isobath-opt %s --isobath-specialize | FileCheck %s --check-prefix=SAME

// The types of the arguments change, and with them those of every value.

// CHECK-LABEL: func.func @model
// CHECK-SAME: %[[TOKENS:.*]]: tensor<5x3xi32>
// CHECK-SAME: %[[TABLE:.*]]: tensor<7x8xf64>
// CHECK-SAME: net.parameter = #net.parameter<name = "embed.weight"
// CHECK-SAME: -> (tensor<5x3x7xf64>
// CHECK: %[[E:.*]] = net.embedding %[[TABLE]], %[[TOKENS]] : (tensor<7x8xf64>, tensor<5x3xi32>) -> tensor<5x3x8xf64>
// CHECK: depth.fixed_read uniform closed(%[[E]] : tensor<5x3x8xf64>)
// CHECK: net.linear {{.*}} -> tensor<5x3x7xf64>
// CHECK: return {{.*}} : tensor<5x3x7xf64>

// SAME-LABEL: func.func @model
// SAME-SAME: tensor<2x3xi32>
// SAME-SAME: -> (tensor<2x3x7xf32>
func.func @model(
    %tokens: tensor<2x3xi32> {net.name = "tokens"},
    %table: tensor<7x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = normal, std = 2.0e-02>})
    -> (tensor<2x3x7xf32> {net.name = "logits"}) {
  %e = net.embedding %table, %tokens : (tensor<7x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  %mix = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
  %y = net.linear %mix, %table : (tensor<2x3x8xf32>, tensor<7x8xf32>) -> tensor<2x3x7xf32>
  return %y : tensor<2x3x7xf32>
}
