// RUN: isobath-opt %s --isobath-store-activations --canonicalize --cse | FileCheck %s

// Roundings of a bf16 model. What a product reads is rounded, weights too; what
// it returns is bf16, and readers that are no products extend it again.
// CHECK-LABEL: func.func @products
// CHECK-SAME: %[[X:.*]]: tensor<1x2x8xf32>, %[[W:.*]]: tensor<8x8xf32>
// CHECK-DAG: %[[NARROW_W:.*]] = net.cast %[[W]] : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// CHECK-DAG: %[[NARROW_X:.*]] = net.cast %[[X]] : (tensor<1x2x8xf32>) -> tensor<1x2x8xbf16>
// CHECK: %[[Y:.*]] = net.linear %[[NARROW_X]], %[[NARROW_W]] : (tensor<1x2x8xbf16>, tensor<8x8xbf16>) -> tensor<1x2x8xbf16>
// CHECK: %[[WIDE_Y:.*]] = net.cast %[[Y]] : (tensor<1x2x8xbf16>) -> tensor<1x2x8xf32>
// CHECK: %[[Z:.*]] = net.swiglu %[[WIDE_Y]], %[[WIDE_Y]]
// CHECK: %[[NARROW_Z:.*]] = net.cast %[[Z]]
// A product of a product takes the result as it is.
// CHECK: net.linear %[[NARROW_Z]], %[[NARROW_W]] : (tensor<1x2x8xbf16>, tensor<8x8xbf16>) -> tensor<1x2x8xbf16>
func.func @products(%x: tensor<1x2x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<1x2x8xf32> {
  %y = net.linear %x, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  %z = net.swiglu %y, %y
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %v = net.linear %z, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  %r = net.add %v, %x
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %r : tensor<1x2x8xf32>
}

// Logits stay f32, and so does the gradient of a weight, of bf16 operands.
// CHECK-LABEL: func.func @logits
// CHECK: net.linear %{{.*}}, %{{.*}} : (tensor<1x2x8xbf16>, tensor<5x8xbf16>) -> tensor<1x2x5xf32>
// CHECK: net.linear_weight_adjoint %{{.*}}, %{{.*}} : (tensor<1x2x5xbf16>, tensor<1x2x8xbf16>) -> tensor<5x8xf32>
// CHECK: net.linear_input_adjoint %{{.*}}, %{{.*}} : (tensor<1x2x5xbf16>, tensor<5x8xbf16>) -> tensor<1x2x8xf32>
func.func @logits(%x: tensor<1x2x8xf32>, %w: tensor<5x8xf32>,
                  %targets: tensor<1x2xi32>, %g: tensor<1x2xf32>)
    -> (tensor<1x2xf32>, tensor<5x8xf32>, tensor<1x2x8xf32>) {
  %l = net.linear %x, %w
    : (tensor<1x2x8xf32>, tensor<5x8xf32>) -> tensor<1x2x5xf32>
  %losses, %lse = net.cross_entropy %l, %targets
    : (tensor<1x2x5xf32>, tensor<1x2xi32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  %gl = net.cross_entropy_adjoint %l, %targets, %lse, %g
    : (tensor<1x2x5xf32>, tensor<1x2xi32>, tensor<1x2xf32>, tensor<1x2xf32>)
    -> tensor<1x2x5xf32>
  %gw = net.linear_weight_adjoint %gl, %x
    : (tensor<1x2x5xf32>, tensor<1x2x8xf32>) -> tensor<5x8xf32>
  %gx = net.linear_input_adjoint %gl, %w
    : (tensor<1x2x5xf32>, tensor<5x8xf32>) -> tensor<1x2x8xf32>
  return %losses, %gw, %gx : tensor<1x2xf32>, tensor<5x8xf32>, tensor<1x2x8xf32>
}

// What a product adds to stays f32.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: tensor<5x8xf32>
// CHECK: net.linear_weight_adjoint %{{.*}}, %{{.*}}, %[[SUM]] : (tensor<1x2x5xbf16>, tensor<1x2x8xbf16>, tensor<5x8xf32>) -> tensor<5x8xf32>
func.func @sum(%g: tensor<1x2x5xf32>, %x: tensor<1x2x8xf32>,
               %sum: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %gw = net.linear_weight_adjoint %g, %x, %sum
    : (tensor<1x2x5xf32>, tensor<1x2x8xf32>, tensor<5x8xf32>)
    -> tensor<5x8xf32>
  return %gw : tensor<5x8xf32>
}

// Sources of a route are rounded once, its mixes and statistics are not.
// CHECK-LABEL: func.func @route
// CHECK: %[[E:.*]] = net.embedding
// CHECK: %[[NARROW:.*]] = net.cast %[[E]] : (tensor<1x2x8xf32>) -> tensor<1x2x8xbf16>
// CHECK: %[[STORED:.*]] = net.cast %[[NARROW]] : (tensor<1x2x8xbf16>) -> tensor<1x2x8xf32>
// CHECK: depth.route queries(%{{.*}} : tensor<8xf32>) closed(%[[STORED]], %[[STORED]] : tensor<1x2x8xf32>)
func.func @route(%ids: tensor<1x2xi32>, %table: tensor<5x8xf32>,
                 %q: tensor<8xf32>) -> tensor<1x2x8xf32> {
  %e = net.embedding %table, %ids
    : (tensor<5x8xf32>, tensor<1x2xi32>) -> tensor<1x2x8xf32>
  %h, %a, %l, %r = depth.route queries(%q : tensor<8xf32>)
    closed(%e, %e : tensor<1x2x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<1x2x8xf32>
}

// In two phases the same ones are: closed sources and the partial. The mix over
// the closed sources, which is on its way to the route's, is not.
// CHECK-LABEL: func.func @phases
// CHECK: %[[E:.*]] = net.embedding
// CHECK: %[[NARROW_E:.*]] = net.cast %[[E]] : (tensor<1x2x8xf32>) -> tensor<1x2x8xbf16>
// CHECK: %[[STORED_E:.*]] = net.cast %[[NARROW_E]]
// CHECK: %[[O:.*]], %[[LSE:.*]], %{{.*}}, %{{.*}} = depth.partial queries(%{{.*}} : tensor<8xf32>) closed(%[[STORED_E]] :
// CHECK-NOT: net.cast
// CHECK: %[[P:.*]] = net.swiglu
// CHECK: %[[NARROW_P:.*]] = net.cast %[[P]] : (tensor<1x2x8xf32>) -> tensor<1x2x8xbf16>
// CHECK: %[[STORED_P:.*]] = net.cast %[[NARROW_P]]
// CHECK: %[[H:.*]], %{{.*}}, %{{.*}}, %{{.*}} = depth.merge queries(%{{.*}} : tensor<8xf32>) mixes(%[[O]] : tensor<1x2x8xf32>) partial(%[[STORED_P]] :
// CHECK: return %[[H]]
func.func @phases(%ids: tensor<1x2xi32>, %table: tensor<5x8xf32>,
                  %x: tensor<1x2x8xf32>, %q: tensor<8xf32>)
    -> tensor<1x2x8xf32> {
  %e = net.embedding %table, %ids
    : (tensor<5x8xf32>, tensor<1x2xi32>) -> tensor<1x2x8xf32>
  %o, %lse, %l, %r = depth.partial queries(%q : tensor<8xf32>)
    closed(%e : tensor<1x2x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %p = net.swiglu %x, %x
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %h, %a, %pl, %pr = depth.merge queries(%q : tensor<8xf32>)
    mixes(%o : tensor<1x2x8xf32>) partial(%p : tensor<1x2x8xf32>)
    lse(%lse : tensor<1x1x2x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return %h : tensor<1x2x8xf32>
}

// Sources are rounded, whatever reads them; their sums are not.
// CHECK-LABEL: func.func @running_sums
// CHECK-SAME: (%[[E:.*]]: tensor<1x2x8xf32>, %[[B:.*]]: tensor<1x2x8xf32>, %[[P:.*]]: tensor<1x2x8xf32>)
// CHECK-COUNT-3: net.cast %{{.*}} : (tensor<1x2x8xf32>) -> tensor<1x2x8xbf16>
// CHECK: %[[SUM:.*]] = depth.running_sum %{{.*}} with %{{.*}} : tensor<1x2x8xf32>
// CHECK-NEXT: %[[TOTAL:.*]] = depth.running_sum %[[SUM]] with %{{.*}} : tensor<1x2x8xf32>
// CHECK-NEXT: return %[[TOTAL]]
func.func @running_sums(%e: tensor<1x2x8xf32>, %b: tensor<1x2x8xf32>,
                        %p: tensor<1x2x8xf32>) -> tensor<1x2x8xf32> {
  %e1 = net.add %e, %b
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %b1 = net.add %b, %p
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %p1 = net.add %p, %e
    : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %s = depth.running_sum %e1 with %b1 : tensor<1x2x8xf32>
  %t = depth.running_sum %s with %p1 : tensor<1x2x8xf32>
  return %t : tensor<1x2x8xf32>
}
