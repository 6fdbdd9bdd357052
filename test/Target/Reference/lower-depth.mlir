// RUN: isobath-opt %s --split-input-file --isobath-lower-to-reference | FileCheck %s

// A route over nine sources: loops count through a table of pointers to them,
// so the kernel does not grow with their number, and none is copied.
// CHECK-LABEL: func.func private @reference.depth.route
// CHECK-SAME: %[[MIX:[a-z0-9]+]]: memref<2x3x8xf32> {llvm.noalias}, %[[WEIGHTS:[a-z0-9]+]]: memref<1x2x3x2x9xf32> {llvm.noalias}, %[[LOGITS:[a-z0-9]+]]: memref<1x2x3x2x9xf32> {llvm.noalias}, %[[RSTD:[a-z0-9]+]]: memref<2x3x9xf32> {llvm.noalias})
// CHECK-NOT: memref.alloc
// CHECK: %[[NINE:[0-9]+]] = llvm.mlir.constant(9 : i64)
// CHECK-NEXT: llvm.alloca %[[NINE]] x !llvm.ptr
// r of every source, once, over all 8 channels.
// CHECK: scf.for %[[B:[a-z0-9]+]] = %c0{{.*}} to %c2
// CHECK: scf.for %[[T:[a-z0-9]+]] = %c0{{.*}} to %c3
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0{{.*}} to %c9
// CHECK: scf.for %{{.*}} to %c8
// CHECK: math.sqrt
// CHECK: %[[R:[0-9]+]] = arith.divf
// CHECK: memref.store %[[R]], %[[RSTD]][%[[B]], %[[T]], %[[I]]]
// The logits: r times the dot product over the 4 channels of a head.
// CHECK: scf.for %[[Q:[a-z0-9]+]] = %c0{{.*}} to %c1
// CHECK: scf.for %[[HEAD:[a-z0-9]+]] = %c0{{.*}} to %c2
// CHECK: %[[DOT:[0-9]+]] = scf.for %{{.*}} to %c4
// CHECK: %[[LOGIT:[0-9]+]] = arith.mulf %[[R]], %[[DOT]]
// CHECK: memref.store %[[LOGIT]], %[[LOGITS]][%[[Q]], %[[B]], %[[T]], %[[HEAD]], %[[I]]]
// The softmax subtracts the largest logit; every mix is stored once.
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: math.exp
// CHECK: memref.store %{{.*}}, %[[WEIGHTS]]
// CHECK: scf.for %{{.*}} to %c4
// CHECK: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @route(%w: tensor<8xf32> {net.name = "w"},
                 %e: tensor<2x3x8xf32> {net.name = "e"},
                 %p: tensor<2x3x8xf32> {net.name = "p"})
    -> (tensor<2x3x8xf32> {net.name = "h"}) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p, %e, %p, %e, %p, %e, %p : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

// -----

// Keys of a bf16 route are not rounded: the mix is computed in f32, and rounded
// once when it is copied.
// CHECK-LABEL: func.func @route_bf16
// CHECK: call @[[ROUTE:reference.depth.route.[0-9]+]](%arg0, %arg1, %arg1, %[[WIDE:alloc_[0-9]+]],
// CHECK: call @reference.net.cast.{{[0-9]+}}(%[[WIDE]], %arg2)
// CHECK: func.func private @[[ROUTE]](
// CHECK: arith.extui %{{.*}} : i16 to i32
// CHECK-NOT: i32 to i16
// CHECK: return
func.func @route_bf16(%w: tensor<8xf32> {net.name = "w"},
                      %e: tensor<2x3x8xbf16> {net.name = "e"})
    -> (tensor<2x3x8xbf16> {net.name = "h"}) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xbf16>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xbf16>
}

// -----

// A uniform read adds, then divides by the number of sources.
// CHECK-LABEL: func.func private @reference.depth.fixed_read
// CHECK: arith.addf
// CHECK: %[[N:[a-z0-9_]+]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[MEAN:[0-9]+]] = arith.divf %{{.*}}, %[[N]]
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
// CHECK-SAME: %[[GS:[a-z0-9]+]]: memref<2x3x8xf32> {llvm.noalias}, %[[GU:[a-z0-9]+]]: memref<8xf32> {llvm.noalias})
// CHECK: memref.store %cst{{.*}}, %[[GS]]
// CHECK: memref.store %cst{{.*}}, %[[GU]]
// CHECK-NOT: memref.store %cst
// CHECK: return
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
