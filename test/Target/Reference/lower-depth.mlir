// RUN: isobath-opt %s --split-input-file --isobath-lower-to-reference | FileCheck %s

// logits[q,b,t,h,i] = r_i (s_i · u), with r_i stored once for each source and
// the dot product over the channels of one head. No stack of sources is made:
// each is read where it lies.
// CHECK-LABEL: func.func private @reference.depth.route
// CHECK-SAME: (%[[U:[a-z0-9_]+]]: memref<8xf32>, %[[S0:[a-z0-9_]+]]: memref<2x3x8xf32>, %[[S1:[a-z0-9_]+]]: memref<2x3x8xf32>, %[[MIX:[a-z0-9_]+]]: memref<2x3x8xf32> {llvm.noalias}, %[[WEIGHTS:[a-z0-9_]+]]: memref<1x2x3x2x2xf32> {llvm.noalias}, %[[LOGITS:[a-z0-9_]+]]: memref<1x2x3x2x2xf32> {llvm.noalias}, %[[RSTD:[a-z0-9_]+]]: memref<2x3x2xf32> {llvm.noalias})
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[B:[a-z0-9_]+]] = %c0{{.*}} to %c2
// CHECK: scf.for %[[T:[a-z0-9_]+]] = %c0{{.*}} to %c3
// CHECK: scf.for %{{.*}} to %c8
// CHECK: memref.load %[[S0]]
// CHECK: math.sqrt
// CHECK: %[[R0:[a-z0-9_]+]] = arith.divf
// CHECK: memref.store %[[R0]], %[[RSTD]][%[[B]], %[[T]], %c0{{.*}}]
// CHECK: scf.for %{{.*}} to %c8
// CHECK: memref.load %[[S1]]
// CHECK: math.sqrt
// CHECK: %[[R1:[a-z0-9_]+]] = arith.divf
// CHECK: memref.store %[[R1]], %[[RSTD]][%[[B]], %[[T]], %c1{{.*}}]
// CHECK: scf.for %[[HEAD:[a-z0-9_]+]] = %c0{{.*}} to %c2
// CHECK: memref.load %[[RSTD]][%[[B]], %[[T]], %c0{{.*}}]
// CHECK: scf.for %{{.*}} to %c4
// CHECK: memref.load %[[S0]]
// CHECK: memref.load %[[U]]
// CHECK: memref.store %{{.*}}, %[[LOGITS]][%c0{{.*}}, %[[B]], %[[T]], %[[HEAD]], %c0{{.*}}]
// The softmax subtracts the largest logit; the mix is stored once.
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: math.exp
// CHECK: memref.store %{{.*}}, %[[WEIGHTS]]
// CHECK: memref.store %{{.*}}, %[[WEIGHTS]]
// CHECK: scf.for %{{.*}} to %c4
// CHECK: memref.load %[[S0]]
// CHECK: memref.load %[[S1]]
// CHECK: memref.store %{{.*}}, %[[MIX]]
// CHECK: return
func.func @route(%w: tensor<8xf32> {net.name = "w"},
                 %e: tensor<2x3x8xf32> {net.name = "e"},
                 %p: tensor<2x3x8xf32> {net.name = "p"})
    -> (tensor<2x3x8xf32> {net.name = "h"}) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

// -----

// Keys of a bf16 route are not rounded: extended on load, one truncation at the
// store of the mix.
// CHECK-LABEL: func.func private @reference.depth.route
// CHECK-SAME: %[[S:[a-z0-9_]+]]: memref<2x3x8xbf16>, %[[MIX:[a-z0-9_]+]]: memref<2x3x8xbf16>
// CHECK: memref.load %[[S]]
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: memref.store %{{.*}}, %[[MIX]]
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @route_bf16(%w: tensor<8xf32> {net.name = "w"},
                      %e: tensor<2x3x8xbf16> {net.name = "e"})
    -> (tensor<2x3x8xbf16> {net.name = "h"}) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xbf16>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xbf16>
}

// -----

// A uniform read adds, then divides by the number of sources.
// CHECK-LABEL: func.func private @reference.depth.fixed_read
// CHECK: %[[SUM:[a-z0-9_]+]] = arith.addf
// CHECK: %[[N:[a-z0-9_]+]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[MEAN:[a-z0-9_]+]] = arith.divf %[[SUM]], %[[N]]
// CHECK: memref.store %[[MEAN]]
func.func @uniform(%e: tensor<2x3x8xf32> {net.name = "e"},
                   %p: tensor<2x3x8xf32> {net.name = "p"})
    -> (tensor<2x3x8xf32> {net.name = "h"}) {
  %h = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %h : tensor<2x3x8xf32>
}

// -----

// Every gradient is cleared before anything is added to it.
// CHECK-LABEL: func.func private @reference.depth.route_adjoint_deferred
// CHECK-SAME: %[[GS:[a-z0-9_]+]]: memref<2x3x8xf32> {llvm.noalias}, %[[GU:[a-z0-9_]+]]: memref<8xf32> {llvm.noalias})
// CHECK: memref.store %cst{{.*}}, %[[GS]]
// CHECK: memref.store %cst{{.*}}, %[[GU]]
// CHECK: %[[OLD:[a-z0-9_]+]] = memref.load %[[GS]]
// CHECK: %[[NEW:[a-z0-9_]+]] = arith.addf %[[OLD]]
// CHECK: memref.store %[[NEW]], %[[GS]]
func.func @deferred(%w: tensor<8xf32> {net.name = "w"},
                    %s: tensor<2x3x8xf32> {net.name = "s"},
                    %a: tensor<1x2x3x1x2xf32> {net.name = "a"},
                    %d: tensor<1x2x3x1xf32> {net.name = "d"},
                    %r: tensor<2x3x2xf32> {net.name = "r"})
    -> (tensor<2x3x8xf32> {net.name = "gs"}, tensor<8xf32> {net.name = "gw"}) {
  %gs, %gw = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return %gs, %gw : tensor<2x3x8xf32>, tensor<8xf32>
}
