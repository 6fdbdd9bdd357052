// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows --isobath-fuse-rows | FileCheck %s

// Not through a row read by number: the consumer needs rows of other tokens.
// CHECK-LABEL: func.func @gather
// CHECK: row.call @scale(
// CHECK: row.call @embedding_adjoint(
func.func @gather(%g: tensor<2x3x8xf32>, %ids: tensor<2x3xi32>)
    -> tensor<6x8xf32> {
  %0 = net.scale %g {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.embedding_adjoint %0, %ids {rows = 6 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Not through a sum over rows, which is complete only after the last of them.
// CHECK-LABEL: func.func @complete
// CHECK: row.call @sum_tokens(
// CHECK-NEXT: row.call @scale(
func.func @complete(%x: tensor<1x1x8xf32>) -> tensor<8xf32> {
  %0 = net.sum_tokens %x : (tensor<1x1x8xf32>) -> tensor<8xf32>
  %1 = net.scale %0 {factor = 0.5 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Not into another number of rows.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: row.call @add({{.*}}) {rows = 6 : i64}
// CHECK-NEXT: row.call @rms_norm({{.*}}) {rows = 12 : i64}
func.func @rows(%x: tensor<2x3x8xf32>, %w: tensor<4xf32>)
    -> tensor<2x3x8xf32> {
  %0 = net.add %x, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.rms_norm %0, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<4xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// Not across a product, even one that has nothing to do with either.
// CHECK-LABEL: func.func @product
// CHECK: row.call @add(
// CHECK-NEXT: net.linear
// CHECK-NEXT: row.call @scale(
func.func @product(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = net.add %x, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %2 = net.scale %0 {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1, %2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Not around a call that must come between the two. The first and that call are
// fused instead, but for what is in the way of the last.
// CHECK-LABEL: func.func @between
// CHECK: %[[BOTH:.*]]:2 = row.call @scale.sum_tokens(%arg0, %{{.*}})
// CHECK-NEXT: %[[Y:.*]] = row.call @add_vector(%[[BOTH]]#0, %[[BOTH]]#1)
// CHECK-NEXT: return %[[Y]]
func.func @between(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = net.scale %x {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.sum_tokens %0 : (tensor<2x3x8xf32>) -> tensor<8xf32>
  %2 = net.add_vector %0, %1
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %2 : tensor<2x3x8xf32>
}

// -----

// Not into the sources of a route, which are read by number. A source that is
// gone with its only reader is not computed at all.
// CHECK-LABEL: func.func @source
// CHECK: %[[B:.*]] = row.call @scale(%arg1, %{{.*}})
// CHECK-NEXT: row.call @route(%arg0, [%arg1, %[[B]]])
// CHECK-NEXT: return
func.func @source(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %b = net.scale %e {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %dead = net.add %e, %e
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %dead_norm = net.rms_norm %dead, %u {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %h, %a, %l, %r = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

// -----

// A route that runs for its cost alone stays, with its norm, and apart from the
// route it repeats.
// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: row.call @route(%arg0, [%arg1, %arg1]) {repeated, rows = 6 : i64}
// CHECK-NEXT: row.call @route.rms_norm(%arg0, [%arg1, %arg1]) {rows = 6 : i64}
// CHECK-NEXT: row.call @route.rms_norm(%arg0, [%arg1, %arg1]) {repeated, rows = 6 : i64}
// CHECK-NEXT: return
func.func @repeated(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0, %a0, %l0, %r0 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  %2, %a2, %l2, %r2 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  %x0 = net.rms_norm %0, %u {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %x1 = net.rms_norm %1, %u {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %x0, %x1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}
