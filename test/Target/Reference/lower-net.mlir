// RUN: isobath-opt %s --split-input-file --isobath-lower-to-reference | FileCheck %s

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

// Arguments and named results become buffers, in that order; what lies between
// is allocated, and every op is one call.
// CHECK-LABEL: func.func @entry
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: memref<4xf32> {net.name = "x"}, %[[Z:[a-z0-9_]+]]: memref<4xf32> {net.name = "z"})
// CHECK-NEXT: %[[Y:[a-z0-9_]+]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: call @[[ADD:[a-z0-9_.]+]](%[[X]], %[[X]], %[[Y]])
// CHECK-NEXT: call @[[MULTIPLY:[a-z0-9_.]+]](%[[Y]], %[[X]], %[[Z]])
// CHECK-NEXT: return
// CHECK: func.func private @[[ADD]](%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32> {llvm.noalias})
// CHECK: func.func private @[[MULTIPLY]](
func.func @entry(%x: tensor<4xf32> {net.name = "x"})
    -> (tensor<4xf32> {net.name = "z"}) {
  %y = net.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = net.multiply %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// A result that replaces an argument is computed elsewhere and copied when all
// is done: until then the argument may still be read.
// CHECK-LABEL: func.func @update
// CHECK-SAME: (%[[S:[a-z0-9_]+]]: memref<4xf32> {net.name = "state"}, %[[Y:[a-z0-9_]+]]: memref<4xf32> {net.name = "y"})
// CHECK-NEXT: %[[NEW:[a-z0-9_]+]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: call @{{.*}}(%[[S]], %[[S]], %[[NEW]])
// CHECK-NEXT: call @{{.*}}(%[[NEW]], %[[S]], %[[Y]])
// CHECK-NEXT: memref.copy %[[NEW]], %[[S]]
// CHECK-NEXT: return
func.func @update(%s: tensor<4xf32> {net.name = "state"})
    -> (tensor<4xf32> {net.updates = 0 : i64},
        tensor<4xf32> {net.name = "y"}) {
  %new = net.add %s, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = net.multiply %new, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %new, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

// An argument that is returned, and a value that is returned twice, are copied.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: memref<4xf32> {net.name = "x"}, %[[A:[a-z0-9_]+]]: memref<4xf32> {net.name = "a"}, %[[B:[a-z0-9_]+]]: memref<4xf32> {net.name = "b"}, %[[C:[a-z0-9_]+]]: memref<4xf32> {net.name = "c"})
// CHECK-NEXT: call @{{.*}}(%[[X]], %[[X]], %[[A]])
// CHECK-NEXT: memref.copy %[[A]], %[[B]]
// CHECK-NEXT: memref.copy %[[X]], %[[C]]
// CHECK-NEXT: return
func.func @copies(%x: tensor<4xf32> {net.name = "x"})
    -> (tensor<4xf32> {net.name = "a"}, tensor<4xf32> {net.name = "b"},
        tensor<4xf32> {net.name = "c"}) {
  %y = net.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %y, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Parameters are views into one buffer of bytes, the matrices first: 5·8 floats
// padded to 192 bytes, then vectors padded to 64. Gradients have the same
// layout, whatever the order of the results.
// CHECK-LABEL: func.func @parameters
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: memref<2x3x8xf32> {net.name = "x"}, %[[P:[a-z0-9_]+]]: memref<320xi8> {net.name = "parameters", net.vector_of = f32}, %[[G:[a-z0-9_]+]]: memref<320xi8> {net.name = "gradients", net.vector_of = f32})
// CHECK-DAG: memref.view %[[P]][%c0{{.*}}] : memref<320xi8> to memref<5x8xf32>
// CHECK-DAG: %[[A:[a-z0-9_]+]] = memref.view %[[P]][%c192{{.*}}] : memref<320xi8> to memref<8xf32>
// CHECK-DAG: %[[B:[a-z0-9_]+]] = memref.view %[[P]][%c256{{.*}}] : memref<320xi8> to memref<8xf32>
// CHECK-DAG: %[[GW:[a-z0-9_]+]] = memref.view %[[G]][%c0{{.*}}] : memref<320xi8> to memref<5x8xf32>
// CHECK-DAG: %[[GA:[a-z0-9_]+]] = memref.view %[[G]][%c192{{.*}}] : memref<320xi8> to memref<8xf32>
// CHECK-DAG: %[[GB:[a-z0-9_]+]] = memref.view %[[G]][%c256{{.*}}] : memref<320xi8> to memref<8xf32>
// CHECK: call @reference.arith.constant.{{.*}}(%[[GW]])
// CHECK: call @{{.*}}(%[[A]], %[[B]], %[[GB]])
// CHECK: call @{{.*}}(%[[B]], %[[A]], %[[GA]])
func.func @parameters(%x: tensor<2x3x8xf32> {net.name = "x"},
    %a: tensor<8xf32> {net.parameter = #net.parameter<name = "a", initial = ones>},
    %w: tensor<5x8xf32> {net.parameter = #net.parameter<name = "w", initial = zeros>},
    %b: tensor<8xf32> {net.parameter = #net.parameter<name = "b", initial = ones>})
    -> (tensor<8xf32> {net.gradient = "b"}, tensor<8xf32> {net.gradient = "a"},
        tensor<5x8xf32> {net.gradient = "w"}) {
  %gw = arith.constant dense<0.0> : tensor<5x8xf32>
  %gb = net.multiply %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %ga = net.add %b, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %gb, %ga, %gw : tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// y[b,t,o] = Σ_i x[b,t,i] W[o,i], summed from 0 in the order of i, with neither
// fused nor reordered arithmetic.
// CHECK-LABEL: func.func private @reference.net.linear
// CHECK-SAME: (%[[X:[a-z0-9_]+]]: memref<2x3x8xf32>, %[[W:[a-z0-9_]+]]: memref<5x8xf32>, %[[Y:[a-z0-9_]+]]: memref<2x3x5xf32>
// CHECK: scf.for %[[B:[a-z0-9_]+]] = %c0{{.*}} to %c2
// CHECK: scf.for %[[T:[a-z0-9_]+]] = %c0{{.*}} to %c3
// CHECK: scf.for %[[O:[a-z0-9_]+]] = %c0{{.*}} to %c5
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[SUM:[a-z0-9_]+]] = scf.for %[[I:[a-z0-9_]+]] = %c0{{.*}} to %c8{{.*}} iter_args(%[[TOTAL:[a-z0-9_]+]] = %[[ZERO]]) -> (f32)
// CHECK-NEXT: %[[XV:[a-z0-9_]+]] = memref.load %[[X]][%[[B]], %[[T]], %[[I]]]
// CHECK-NEXT: %[[WV:[a-z0-9_]+]] = memref.load %[[W]][%[[O]], %[[I]]]
// CHECK-NEXT: %[[TERM:[a-z0-9_]+]] = arith.mulf %[[XV]], %[[WV]] : f32
// CHECK-NEXT: %[[NEXT:[a-z0-9_]+]] = arith.addf %[[TOTAL]], %[[TERM]] : f32
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: memref.store %[[SUM]], %[[Y]][%[[B]], %[[T]], %[[O]]]
func.func @linear(%x: tensor<2x3x8xf32> {net.name = "x"},
                  %w: tensor<5x8xf32> {net.name = "w"})
    -> (tensor<2x3x5xf32> {net.name = "y"}) {
  %y = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// A target of −1 has no loss, and its logits are not read at that index.
// CHECK-LABEL: func.func private @reference.net.cross_entropy
// CHECK-SAME: %[[LOSSES:[a-z0-9_]+]]: memref<2x3xf32> {llvm.noalias}, %{{.*}}: memref<2x3xf32>
// CHECK: memref.store %cst{{.*}}, %[[LOSSES]]
// CHECK: %[[TARGET:[a-z0-9_]+]] = memref.load %{{.*}} : memref<2x3xi32>
// CHECK: %[[COUNTS:[a-z0-9_]+]] = arith.cmpi sge, %[[TARGET]], %{{.*}} : i32
// CHECK-NEXT: scf.if %[[COUNTS]] {
// CHECK-NEXT: arith.index_cast %[[TARGET]]
// CHECK: memref.store %{{.*}}, %[[LOSSES]]
func.func @cross_entropy(%logits: tensor<2x3x5xf32> {net.name = "logits"},
                         %targets: tensor<2x3xi32> {net.name = "targets"})
    -> (tensor<2x3xf32> {net.name = "losses"}) {
  %losses, %lse = net.cross_entropy %logits, %targets
    : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %losses : tensor<2x3xf32>
}

// -----

// An f32 kernel has no f64 in it.
// CHECK-LABEL: func.func private @reference.net.rms_norm
// CHECK-NOT: f64
// CHECK: return
func.func @no_f64(%x: tensor<2x3x8xf32> {net.name = "x"},
                  %w: tensor<8xf32> {net.name = "w"})
    -> (tensor<2x3x8xf32> {net.name = "y"}) {
  %n = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %n : tensor<2x3x8xf32>
}

// -----

// The angle of a rotation is taken in f64, the rotation in f32.
// CHECK-LABEL: func.func private @reference.net.rotary
// CHECK: math.cos %{{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.mulf {{.*}} : f32
func.func @angle_in_f64(%x: tensor<2x3x8xf32> {net.name = "x"})
    -> (tensor<2x3x8xf32> {net.name = "y"}) {
  %y = net.rotary %x {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// The square of the norm is summed in f64 from the first element on.
// CHECK-LABEL: func.func private @reference.net.squared_norm
// CHECK: %[[X:[a-z0-9_]+]] = memref.load %{{.*}} : memref<16xf32>
// CHECK-NEXT: %[[WIDE:[a-z0-9_]+]] = arith.extf %[[X]] : f32 to f64
// CHECK-NEXT: arith.mulf %[[WIDE]], %[[WIDE]] : f64
// CHECK-NEXT: arith.addf %{{.*}} : f64
func.func @norm(%x: tensor<16xf32> {net.name = "x"})
    -> (tensor<f64> {net.name = "norm"}) {
  %y = net.squared_norm %x : (tensor<16xf32>) -> tensor<f64>
  return %y : tensor<f64>
}
