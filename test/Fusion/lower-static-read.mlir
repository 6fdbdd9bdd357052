// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows | FileCheck %s

// Weights from the mixtures, with scalars alone; then one pass over the sources
// for both mixes. The partial comes after the loop.
// CHECK-LABEL: func.func @read
// CHECK-NEXT: row.call @static_read(%arg0, %arg1, [%arg2, %arg3], %arg4) {rows = 6 : i64}
// CHECK-LABEL: row.kernel private @static_read(
// CHECK-SAME: %mixture0: !row.vector<?xf32>, %mixture1: !row.vector<?xf32>, %closed: !row.list<8xf32>, %partial: !row.matrix<8xf32>)
// CHECK-SAME: -> (%mix0: !row.matrix<8xf32>, %mix1: !row.matrix<8xf32>, %weights: !row.scalars<2xf32>)
// CHECK-COUNT-2: math.exp
// CHECK-NOT: vector.reduction
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK-COUNT-1: row.load %closed
// CHECK-NOT: row.load %closed
// CHECK-COUNT-1: row.load %partial
// CHECK-NOT: row.load %partial
// CHECK: row.store %{{.*}}, %mix0
// CHECK: row.store %{{.*}}, %mix1
func.func @read(%m: tensor<3xf32>, %n: tensor<3xf32>, %e: tensor<2x3x8xf32>,
                %b: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a = depth.static_read mixtures(%m, %n : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Sources are read for the dots alone; their gradients need g.
// CHECK-LABEL: func.func @adjoint
// CHECK-NEXT: %[[ALL:.*]]:5 = row.call @static_read_adjoint(%arg0, %arg1, [%arg2, %arg3])
// CHECK-NEXT: return %[[ALL]]#0, %[[ALL]]#1, %[[ALL]]#2
// CHECK-LABEL: row.kernel private @static_read_adjoint(
// CHECK-SAME: %mixture: !row.vector<?xf32>, %g: !row.matrix<8xf32>, %closed: !row.list<8xf32>)
// CHECK-SAME: -> (%gclosed: !row.list<8xf32>, %gmixture: !row.sum<?xf32>, %weights: !row.scalars<f32>, %dots: !row.scalars<f32>)
// CHECK: scf.for
// CHECK: row.load %closed
// CHECK: vector.reduction
// CHECK-NOT: row.load %closed
// CHECK: row.accumulate %{{.*}}, %gmixture
// CHECK: row.store %{{.*}}, %gclosed
func.func @adjoint(%m: tensor<2xf32>, %g: tensor<2x3x8xf32>,
                   %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xf32>) {
  %ge, %gb, %gm = depth.static_read_adjoint mixtures(%m : tensor<2xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e, %b : tensor<2x3x8xf32>)
  return %ge, %gb, %gm : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xf32>
}

// -----

// One kernel, whatever the number of sources.
// CHECK-LABEL: func.func @counts
// CHECK-NEXT: row.call @[[READ:static_read]](%arg0, [%arg2, %arg2])
// CHECK-NEXT: row.call @[[READ]](%arg1, [%arg2, %arg2, %arg2])
// CHECK-NEXT: row.call @[[ADJOINT:static_read_adjoint]](%arg0, %arg2, [%arg2, %arg2])
// CHECK-NEXT: row.call @[[ADJOINT]](%arg1, %arg2, [%arg2, %arg2, %arg2])
// CHECK-COUNT-2: row.kernel private
// CHECK-NOT: row.kernel
func.func @counts(%m: tensor<2xf32>, %n: tensor<3xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xf32>, tensor<3xf32>) {
  %h0, %a0 = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e, %e : tensor<2x3x8xf32>)
  %h1, %a1 = depth.static_read mixtures(%n : tensor<3xf32>)
    closed(%e, %e, %e : tensor<2x3x8xf32>)
  %g0:2, %gm = depth.static_read_adjoint mixtures(%m : tensor<2xf32>)
    gradients(%e : tensor<2x3x8xf32>) closed(%e, %e : tensor<2x3x8xf32>)
  %g1:3, %gn = depth.static_read_adjoint mixtures(%n : tensor<3xf32>)
    gradients(%e : tensor<2x3x8xf32>) closed(%e, %e, %e : tensor<2x3x8xf32>)
  return %h0, %h1, %gm, %gn
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2xf32>, tensor<3xf32>
}
