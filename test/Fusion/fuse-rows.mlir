// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows --isobath-fuse-rows | FileCheck %s

// The residual sum, the route and the norms of all roles are one kernel. The sum
// is stored, since it is returned; the mixes are not.
// CHECK-LABEL: func.func @sublayer
// CHECK-NEXT: %[[ALL:.*]]:5 = row.call @add.route.rms_norm(%arg2, %arg3, %arg0, %arg1, [%arg4, %arg5], %arg6) {rows = 6 : i64}
// CHECK-NEXT: return
// CHECK-LABEL: row.kernel private @add.route.rms_norm(
// CHECK-SAME: %a: !row.matrix<8xf32>, %b: !row.matrix<8xf32>, %query0: !row.vector<8xf32>, %query1: !row.vector<8xf32>, %closed: !row.list<8xf32>, %weight: !row.vector<8xf32>)
// CHECK-SAME: -> (%y: !row.matrix<8xf32>, %weights: !row.scalars<2xf32>, %logits: !row.scalars<2xf32>, %y_0: !row.matrix<8xf32>, %y_1: !row.matrix<8xf32>)
// CHECK: %[[A:.*]] = row.load %a
// CHECK: %[[B:.*]] = row.load %b
// CHECK: %[[P:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: row.store %[[P]], %y :
// CHECK-NOT: row.load %partial
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK-NEXT: row.load %closed[%[[I]]]
// CHECK-NOT: row.load %closed
// CHECK: arith.mulf %[[P]], %[[P]]
// CHECK: %[[MIXES:.*]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK-NEXT: row.load %closed
// CHECK-NOT: row.load %closed
// CHECK: scf.yield
// CHECK: %[[H0:.*]] = arith.addf %[[MIXES]]#0, %{{.*}}
// CHECK: %[[H1:.*]] = arith.addf %[[MIXES]]#1, %{{.*}}
// CHECK-NOT: row.store %[[H0]]
// CHECK: arith.mulf %[[H0]], %[[H0]]
// CHECK: row.load %weight
// CHECK: row.store %{{.*}}, %y_0
// CHECK: arith.mulf %[[H1]], %[[H1]]
// CHECK-NOT: row.load
// CHECK: row.store %{{.*}}, %y_1
// CHECK-NEXT: row.return
// CHECK-NOT: row.kernel
func.func @sublayer(%u: tensor<8xf32>, %w: tensor<8xf32>,
                    %p: tensor<2x3x8xf32>, %f: tensor<2x3x8xf32>,
                    %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                    %weight: tensor<8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %sum = net.add %p, %f
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h:2, %a, %l, %r = depth.route queries(%u, %w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%sum : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %x0 = net.rms_norm %h#0, %weight {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %x1 = net.rms_norm %h#1, %weight {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %sum, %x0, %x1
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// The same with depth heads.
// CHECK-LABEL: func.func @sublayer_heads
// CHECK-NEXT: %[[ALL:.*]]:4 = row.call @[[KERNEL:add.route.rms_norm]](
// CHECK-NEXT: return %[[ALL]]#0, %[[ALL]]#3
// CHECK: row.kernel private @[[KERNEL]](
// CHECK: row.store %{{.*}}, %y : vector<8xf32>
// CHECK: %[[MIX:.*]] = scf.for {{.*}} -> (vector<8xf32>)
// CHECK-NEXT: row.load %closed
// CHECK-NEXT: row.spread %weights
// CHECK: %[[H:.*]] = arith.addf %[[MIX]], %{{.*}}
// CHECK-NOT: row.store %[[H]]
// CHECK: arith.mulf %[[H]], %[[H]]
// CHECK: row.store %{{.*}}, %y_0 : vector<8xf32>
// CHECK-NEXT: row.return
// CHECK-NOT: row.kernel
func.func @sublayer_heads(%u: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                          %f: tensor<2x3x8xf32>, %e: tensor<2x3x8xf32>,
                          %b: tensor<2x3x8xf32>, %weight: tensor<8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %sum = net.add %p, %f
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h, %a, %l, %r = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%sum : tensor<2x3x8xf32>)
    heads(4) {epsilon = 1.0e-6 : f64}
  %x = net.rms_norm %h, %weight {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %sum, %x : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// In two phases: the merge and the norm behind it.
// CHECK-LABEL: func.func @merge_heads
// CHECK-NEXT: row.call @merge.rms_norm(
// CHECK-NEXT: return
// CHECK: row.kernel private @merge.rms_norm(
// CHECK-NOT: %mix
// CHECK: row.spread %weights[%c0] stride(%c1) groups(2)
// CHECK: row.store %{{.*}}, %y
// CHECK-NEXT: row.return
// CHECK-NOT: row.kernel
func.func @merge_heads(%u: tensor<8xf32>, %o: tensor<2x3x8xf32>,
                       %p: tensor<2x3x8xf32>, %lse: tensor<1x2x3x2xf32>,
                       %weight: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.merge queries(%u : tensor<8xf32>)
    mixes(%o : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x2xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  %x = net.rms_norm %h, %weight {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %x : tensor<2x3x8xf32>
}

// -----

// Gradients of sources are added to those that they have, with depth heads too.
// CHECK-LABEL: func.func @adjoint_heads
// CHECK-NEXT: row.call @route_adjoint_deferred.add(
// CHECK-NEXT: return
// CHECK: row.kernel private @route_adjoint_deferred.add(
// CHECK: %[[OLD:.*]] = row.load %gclosed_a[%[[I:.*]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[OLD]], %{{.*}}
// CHECK-NEXT: row.store %[[NEW]], %gclosed[%[[I]]]
// CHECK-NOT: row.kernel
func.func @adjoint_heads(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                         %b: tensor<2x3x8xf32>, %g: tensor<2x3x8xf32>,
                         %ge: tensor<2x3x8xf32>, %gb: tensor<2x3x8xf32>,
                         %a: tensor<1x2x3x2x2xf32>, %d: tensor<1x2x3x2xf32>,
                         %r: tensor<2x3x2xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>) {
  %de, %db, %gu = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e, %b : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x2x2xf32>) logits(%a : tensor<1x2x3x2x2xf32>)
    dots(%d : tensor<1x2x3x2xf32>) rstd(%r : tensor<2x3x2xf32>)
  %0 = net.add %ge, %de
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.add %gb, %db
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %0, %1, %gu : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// The adjoint of a sublayer's reading is one kernel too: the sum of what two
// products give, the norm's adjoint, both parts of the route's, and the sources'
// gradients added to those they have. What the query gets from the partial and
// from the closed sources is one sum over rows.
// CHECK-LABEL: func.func @adjoint
// CHECK-NEXT: %[[ALL:.*]]:8 = row.call @[[KERNEL:add.rms_norm_adjoint.route_adjoint_local.route_adjoint_deferred]](
// CHECK-SAME: {rows = 6 : i64}
// CHECK-NEXT: return
// CHECK: row.kernel private @[[KERNEL]](
// CHECK-SAME: %closed: !row.list<8xf32>, %gclosed_a: !row.list<8xf32>
// CHECK-SAME: %gquery: !row.sum<8xf32>
// CHECK-SAME: %gclosed: !row.list<8xf32>
// CHECK-NOT: !row.sum
// CHECK: row.store %[[G:.*]], %gx
// CHECK: row.accumulate %{{.*}}, %gweight
// CHECK-NOT: row.load %gx
// CHECK: row.accumulate %{{.*}}, %gquery
// CHECK: scf.for
// CHECK: row.load %closed
// CHECK-NOT: row.load %closed
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0
// CHECK-NEXT: row.load %closed[%[[I]]]
// CHECK: %[[OLD:.*]] = row.load %gclosed_a[%[[I]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[OLD]], %{{.*}}
// CHECK-NEXT: row.store %[[NEW]], %gclosed[%[[I]]]
// CHECK: row.accumulate %[[SUM]], %gquery
// CHECK: row.return
// CHECK-NOT: row.kernel
func.func @adjoint(%u: tensor<8xf32>, %weight: tensor<8xf32>,
                   %h: tensor<2x3x8xf32>, %g0: tensor<2x3x8xf32>,
                   %g1: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>,
                   %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                   %ge: tensor<2x3x8xf32>, %gb: tensor<2x3x8xf32>,
                   %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x3xf32>,
                   %r: tensor<2x3x3xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
        tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %g = net.add %g0, %g1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gh, %gweight = net.rms_norm_adjoint %h, %weight, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>)
  %dots, %gp, %gu0 = depth.route_adjoint_local queries(%u : tensor<8xf32>)
    gradients(%gh : tensor<2x3x8xf32>) mixes(%h : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>,
          tensor<2x3x3xf32>)
  %ge1, %gb1, %gu1 = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%gh : tensor<2x3x8xf32>) closed(%e, %b : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x3xf32>) logits(%l : tensor<1x2x3x1x3xf32>)
    dots(%dots : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x3xf32>)
  %gu = net.add %gu1, %gu0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %ge2 = net.add %ge, %ge1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gb2 = net.add %gb, %gb1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %gh, %gp, %ge2, %gb2, %gweight, %gu
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
      tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A chain of sums is one kernel, which adds in the order of the chain.
// CHECK-LABEL: func.func @sums
// CHECK-NEXT: row.call @add(%arg0, %arg1, %arg2)
// CHECK-NEXT: return
// CHECK-LABEL: row.kernel private @add(
// CHECK: %[[X:.*]] = row.load %a
// CHECK: %[[Y:.*]] = row.load %b
// CHECK: %[[FIRST:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: %[[Z:.*]] = row.load
// CHECK: arith.addf %[[FIRST]], %[[Z]]
func.func @sums(%x: tensor<2x3x8xf32>, %y: tensor<2x3x8xf32>,
                %z: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = net.add %x, %y
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.add %0, %z
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// A consumer of a part of a row computes that part alone.
// CHECK-LABEL: func.func @head
// CHECK: row.call @rms_norm.rotary(%arg0, %arg1, %{{.*}}) {rows = 12 : i64}
// CHECK-NEXT: return
// CHECK-LABEL: row.kernel private @rms_norm.rotary(
// CHECK: row.load %x : !row.matrix<4xf32> -> vector<4xf32>
// CHECK: vector.reduction
// CHECK: %[[X:.*]] = row.load %x columns(%c0) : !row.matrix<4xf32> -> vector<2xf32>
// CHECK: arith.mulf %[[X]], %{{.*}} : vector<2xf32>
// CHECK: row.load %weight columns(%c0) : !row.vector<4xf32> -> vector<2xf32>
// CHECK: row.load %x columns(%c2)
// CHECK-NOT: row.store %{{.*}} : vector<4xf32>
// CHECK: row.return
func.func @head(%x: tensor<2x3x8xf32>, %w: tensor<4xf32>)
    -> tensor<2x3x8xf32> {
  %0 = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<4xf32>) -> tensor<2x3x8xf32>
  %1 = net.rotary %0 {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// A number of a row that is stored at a constant place is not read back.
// CHECK-LABEL: func.func @losses
// CHECK-NEXT: row.call @cross_entropy.cross_entropy_adjoint(%arg0, %arg1, %arg2)
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x3x16xf32>)
// CHECK-LABEL: row.kernel private @cross_entropy.cross_entropy_adjoint(
// CHECK-SAME: -> (%losses: !row.scalars<f32>, %glogits: !row.matrix<16xf32>)
// CHECK: row.load %logits : !row.matrix<16xf32>
// CHECK-NOT: row.load %logits : !row.matrix<16xf32>
// CHECK: row.return
func.func @losses(%l: tensor<2x3x16xf32>, %t: tensor<2x3xi32>,
                  %g: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3x16xf32>) {
  %losses, %lse = net.cross_entropy %l, %t
    : (tensor<2x3x16xf32>, tensor<2x3xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %gl = net.cross_entropy_adjoint %l, %t, %lse, %g
    : (tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>)
    -> tensor<2x3x16xf32>
  return %losses, %gl : tensor<2x3xf32>, tensor<2x3x16xf32>
}

// -----

// What bf16 rounds between two ops it rounds in the kernel of both.
// CHECK-LABEL: row.kernel private @add.scale(
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]]
// CHECK: arith.extf %[[ROUNDED]]
func.func @rounding(%x: tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16> {
  %0 = net.add %x, %x
    : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %1 = net.scale %0 {factor = 0.5 : f64}
    : (tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  return %1 : tensor<2x3x8xbf16>
}

// -----

// A product that was stored is not rounded together with the consumer's sum.
// CHECK-LABEL: row.kernel private @scale.add(
// CHECK: %[[X:.*]] = row.load %x
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[X]] : vector<8xf32>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[X]] fastmath<contract>
func.func @product(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = net.scale %x {factor = 0.5 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.add %0, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// Sums over the rows of one kernel that are only added are one sum, however many.
// CHECK-LABEL: func.func @roles
// CHECK-NEXT: %{{.*}} = row.call @rms_norm_adjoint.add(
// CHECK-SAME: -> (tensor<8xf32>, tensor<2x3x8xf32>)
// CHECK-NEXT: return
// CHECK-LABEL: row.kernel private @rms_norm_adjoint.add(
// CHECK-COUNT-2: row.accumulate %{{.*}}, %gweight :
func.func @roles(%x: tensor<2x3x8xf32>, %y: tensor<2x3x8xf32>,
                 %w: tensor<8xf32>, %g: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>) {
  %gx, %gw0 = net.rms_norm_adjoint %x, %w, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>)
  %gy, %gw1 = net.rms_norm_adjoint %y, %w, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>)
  %sum = net.add %gx, %gy
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %gw = net.add %gw0, %gw1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %sum, %gw : tensor<2x3x8xf32>, tensor<8xf32>
}
