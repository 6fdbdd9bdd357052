// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows | FileCheck %s

// A row of an activation is a token.
// CHECK-LABEL: func.func @activations
// CHECK-NEXT: %[[FACTOR:.*]] = arith.constant dense<5.000000e-01> : tensor<1xf32>
// CHECK-NEXT: %[[SUM:.*]] = row.call @add(%arg0, %arg1) {rows = 6 : i64}
// CHECK-NEXT: %[[SHIFTED:.*]] = row.call @add_vector(%[[SUM]], %arg2) {rows = 6 : i64}
// CHECK-NEXT: %[[GATED:.*]] = row.call @swiglu(%[[SHIFTED]], %arg1) {rows = 6 : i64}
// CHECK-NEXT: row.call @scale(%[[GATED]], %[[FACTOR]]) {rows = 6 : i64}
// CHECK-LABEL: row.kernel private @add(%a: !row.matrix<8xf32>, %b: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>)
// CHECK-NEXT: %[[A:.*]] = row.load %a
// CHECK-NEXT: %[[B:.*]] = row.load %b
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: row.store %[[Y]], %y
// CHECK-NEXT: row.return
// CHECK-LABEL: row.kernel private @add_vector(%x: !row.matrix<8xf32>, %u: !row.vector<8xf32>)
// CHECK-LABEL: row.kernel private @swiglu(
// CHECK: math.exp
// CHECK-LABEL: row.kernel private @scale(%x: !row.matrix<8xf32>, %factor: !row.vector<1xf32>)
// CHECK: row.load_scalar %factor[%c0]
func.func @activations(%x: tensor<2x3x8xf32>, %y: tensor<2x3x8xf32>,
                       %u: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = net.add %x, %y
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.add_vector %0, %u
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %2 = net.swiglu %1, %y
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %3 = net.scale %2 {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: row.kernel private @swiglu_adjoint(
// CHECK-SAME: -> (%ggate: !row.matrix<8xf32>, %gup: !row.matrix<8xf32>)
// CHECK-LABEL: row.kernel private @sum_tokens(%x: !row.matrix<8xf32>) -> (%y: !row.sum<8xf32>)
// CHECK-NEXT: %[[X:.*]] = row.load %x
// CHECK-NEXT: row.accumulate %[[X]], %y
func.func @adjoints(%x: tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>) {
  %ggate, %gup = net.swiglu_adjoint %x, %x, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  %gu = net.sum_tokens %gup : (tensor<2x3x8xf32>) -> tensor<8xf32>
  return %ggate, %gu : tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// Of vectors only the order of elements matters: short ones are one row, long
// ones are cut into equal parts of whole cache lines. Scalars are a row of one.
// CHECK-LABEL: func.func @vectors
// CHECK: row.call @multiply(%arg0, %arg0) {rows = 1 : i64} : (tensor<64xf32>
// CHECK-NEXT: row.call @add(%arg1, %arg1) {rows = 36 : i64} : (tensor<99072xf32>
// CHECK-NEXT: row.call @broadcast(%arg2) {rows = 2 : i64} : (tensor<f32>) -> (tensor<2x3xf32>)
// CHECK-NEXT: row.call @scale(%arg2, %{{.*}}) {rows = 1 : i64} : (tensor<f32>, tensor<1xf32>)
// CHECK: row.kernel private @add(%a: !row.matrix<2752xf32>
// CHECK: row.kernel private @broadcast(%value: !row.vector<1xf32>) -> (%y: !row.matrix<3xf32>)
func.func @vectors(%short: tensor<64xf32>, %long: tensor<99072xf32>,
                   %s: tensor<f32>)
    -> (tensor<64xf32>, tensor<99072xf32>, tensor<2x3xf32>, tensor<f32>) {
  %0 = net.multiply %short, %short
    : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = net.add %long, %long
    : (tensor<99072xf32>, tensor<99072xf32>) -> tensor<99072xf32>
  %2 = net.broadcast %s : (tensor<f32>) -> tensor<2x3xf32>
  %3 = net.scale %s {factor = 2.0 : f64} : (tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3
    : tensor<64xf32>, tensor<99072xf32>, tensor<2x3xf32>, tensor<f32>
}

// -----

// A gradient of zero is a kernel that fills.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT: row.call @constant() {rows = 2 : i64} : () -> (tensor<2x3xf32>)
// CHECK: row.kernel private @constant() -> (%y: !row.matrix<3xf32>)
func.func @zeros() -> tensor<2x3xf32> {
  %0 = arith.constant dense<0.0> : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A row of parameters decays as a whole or not at all: 98,304 of 99,072 do.
// CHECK-LABEL: func.func @optimiser
// CHECK-NEXT: row.call @adamw({{.*}}) {rows = 129 : i64}
// CHECK-NEXT: row.call @squared_norm(%arg1) {rows = 36 : i64} : (tensor<99072xf32>) -> (tensor<f64>)
// CHECK-LABEL: row.kernel private @adamw(%parameters: !row.matrix<768xf32>
// CHECK-SAME: %scalars: !row.vector<4xf32>)
// CHECK-DAG: %[[DECAYING:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ROW:.*]] = row.index
// CHECK: %[[DECAYS:.*]] = arith.cmpi ult, %[[ROW]], %[[DECAYING]]
// CHECK: arith.select %[[DECAYS]], %{{.*}}, %[[ZERO]] : f32
// CHECK: row.store %{{.*}}, %new_parameters
// CHECK: row.store %{{.*}}, %new_first_moment
// CHECK: row.store %{{.*}}, %new_second_moment
// CHECK-LABEL: row.kernel private @squared_norm(%x: !row.matrix<2752xf32>) -> (%y: !row.sum<1xf64>)
// CHECK: arith.extf %{{.*}} : vector<2752xf32> to vector<2752xf64>
// CHECK: vector.reduction <add>, %{{.*}} : vector<2752xf64> into f64
// CHECK: row.accumulate %{{.*}}, %y : vector<1xf64>
func.func @optimiser(%p: tensor<99072xf32>, %g: tensor<99072xf32>,
                     %m: tensor<99072xf32>, %v: tensor<99072xf32>,
                     %s: tensor<4xf32>)
    -> (tensor<99072xf32>, tensor<99072xf32>, tensor<99072xf32>, tensor<f64>) {
  %0:3 = net.adamw %p, %g, %m, %v, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 98304 : i64}
    : (tensor<99072xf32>, tensor<99072xf32>, tensor<99072xf32>,
       tensor<99072xf32>, tensor<4xf32>)
    -> (tensor<99072xf32>, tensor<99072xf32>, tensor<99072xf32>)
  %1 = net.squared_norm %g : (tensor<99072xf32>) -> tensor<f64>
  return %0#0, %0#1, %0#2, %1
    : tensor<99072xf32>, tensor<99072xf32>, tensor<99072xf32>, tensor<f64>
}
