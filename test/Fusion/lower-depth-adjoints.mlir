// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows | FileCheck %s

// Without a partial only the dots are computed, and only what they need is read.
// CHECK-LABEL: func.func @local
// CHECK-NEXT: row.call @route_adjoint_local(%arg1, %arg2) {rows = 6 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> (tensor<1x2x3x1xf32>)
// CHECK-LABEL: row.kernel private @route_adjoint_local(%g: !row.matrix<8xf32>, %mix: !row.matrix<8xf32>) -> (%dots: !row.scalars<f32>)
func.func @local(%u: tensor<8xf32>, %g: tensor<2x3x8xf32>,
                 %h: tensor<2x3x8xf32>, %a: tensor<1x2x3x1x2xf32>,
                 %l: tensor<1x2x3x1x2xf32>, %r: tensor<2x3x2xf32>)
    -> tensor<1x2x3x1xf32> {
  %dots = depth.route_adjoint_local queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) mixes(%h : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return %dots : tensor<1x2x3x1xf32>
}

// -----

// The partial's numbers are the last of those saved, of however many each has.
// CHECK-LABEL: row.kernel private @route_adjoint_local(
// CHECK-SAME: -> (%dots: !row.scalars<f32>, %gpartial: !row.matrix<8xf32>, %gquery: !row.sum<8xf32>,
// CHECK: %[[COUNT:.*]] = row.width %rstd
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: row.load_scalar %rstd[%[[LAST]]]
// CHECK: %[[DOT:.*]] = vector.reduction <add>
// CHECK: row.store_scalar %[[DOT]], %dots[%c0]
// CHECK: %[[COUNT:.*]] = row.width %weights
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: row.load_scalar %weights[%[[LAST]]]
// CHECK: vector.reduction <add>
// CHECK: %[[COUNT:.*]] = row.width %logits
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: row.load_scalar %logits[%[[LAST]]]
// CHECK-NOT: vector.reduction
// CHECK: row.store %{{.*}}, %gpartial
// CHECK: row.accumulate %{{.*}}, %gquery
func.func @local_partial(%u: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                         %g: tensor<2x3x8xf32>, %h: tensor<2x3x8xf32>,
                         %a: tensor<1x2x3x1x2xf32>, %l: tensor<1x2x3x1x2xf32>,
                         %r: tensor<2x3x2xf32>)
    -> (tensor<1x2x3x1xf32>, tensor<2x3x8xf32>, tensor<8xf32>) {
  %dots, %gp, %gu = depth.route_adjoint_local queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) mixes(%h : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return %dots, %gp, %gu
    : tensor<1x2x3x1xf32>, tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// First all numbers, with one load of each source; then all gradients, with one
// more and no reduction, while the queries' gradients are carried along.
// CHECK-LABEL: func.func @deferred
// CHECK-NEXT: row.call @route_adjoint_deferred(%arg0, %arg1, %arg4, %arg5, [%arg2, %arg3], %arg6, %arg7, %arg6, %arg7, %arg8, %arg8, %arg9)
// CHECK-SAME: -> ([tensor<2x3x8xf32>, tensor<2x3x8xf32>], tensor<8xf32>, tensor<8xf32>, tensor<2x6x2xf32>, tensor<1x6x2xf32>)
// CHECK-LABEL: row.kernel private @route_adjoint_deferred(
// CHECK: %[[COUNT:.*]] = row.count %closed
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT]] step %c1 {
// CHECK: row.load %closed[%[[I]]]
// CHECK-NOT: row.load %closed
// CHECK: row.load_scalar %weights0[%[[I]]]
// CHECK: row.load_scalar %dots0[%c0]
// CHECK: row.store_scalar %{{.*}}, %slopes[%[[I]]] plane(%c0)
// CHECK: row.load_scalar %weights1[%[[I]]]
// CHECK: row.store_scalar %{{.*}}, %slopes[%[[I]]] plane(%c1)
// CHECK: row.store_scalar %{{.*}}, %shrinks[%[[I]]]
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[COUNT]] step %c1 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK-NEXT: row.load %closed[%[[I]]]
// CHECK-NOT: vector.reduction
// CHECK: row.store %{{.*}}, %gclosed[%[[I]]]
// CHECK: scf.yield
// CHECK: row.accumulate %[[SUMS]]#0, %gquery0
// CHECK-NEXT: row.accumulate %[[SUMS]]#1, %gquery1
func.func @deferred(%u: tensor<8xf32>, %w: tensor<8xf32>,
                    %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                    %g: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>,
                    %a0: tensor<1x2x3x1x3xf32>, %a1: tensor<1x2x3x1x2xf32>,
                    %d: tensor<1x2x3x1xf32>, %r: tensor<2x3x3xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %ge, %gb, %gu, %gw = depth.route_adjoint_deferred
    queries(%u, %w : tensor<8xf32>) gradients(%g, %k : tensor<2x3x8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    weights(%a0, %a1 : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x2xf32>)
    logits(%a0, %a1 : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x2xf32>)
    dots(%d, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>)
    rstd(%r : tensor<2x3x3xf32>)
  return %ge, %gb, %gu, %gw
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A route that read more sources than these has saved its heads further apart.
// CHECK-LABEL: row.kernel private @route_adjoint_deferred(
// CHECK: %[[WIDTH:.*]] = row.width %weights
// CHECK: %[[SAVED:.*]] = arith.divui %[[WIDTH]], %c2
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: scf.for %[[HEAD:.*]] = %c0 to %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[HEAD]], %[[SAVED]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: row.load_scalar %weights[%[[PLACE]]]
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0 {{.*}} -> (vector<8xf32>)
// CHECK: row.spread %weights[%[[I]]] stride(%[[SAVED]]) groups(2)
// CHECK: row.store %{{.*}}, %gclosed[%[[I]]] : vector<8xf32>, !row.list<8xf32>
// CHECK: row.accumulate %[[SUM]], %gquery : vector<8xf32>, !row.sum<8xf32>
func.func @deferred_heads(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                          %b: tensor<2x3x8xf32>, %g: tensor<2x3x8xf32>,
                          %a: tensor<1x2x3x2x3xf32>, %d: tensor<1x2x3x2xf32>,
                          %r: tensor<2x3x3xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>) {
  %ge, %gb, %gu = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e, %b : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x2x3xf32>) logits(%a : tensor<1x2x3x2x3xf32>)
    dots(%d : tensor<1x2x3x2xf32>) rstd(%r : tensor<2x3x3xf32>)
  return %ge, %gb, %gu : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// The newest sources: their numbers end where the route's end.
// CHECK-LABEL: row.kernel private @route_adjoint_deferred(
// CHECK: %[[COUNT:.*]] = row.count %closed
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT]]
// CHECK: %[[SKIPPED:.*]] = arith.subi %{{.*}}, %[[COUNT]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[I]], %[[SKIPPED]]
// CHECK: row.load_scalar %rstd[%[[PLACE]]]
// CHECK: row.load_scalar %weights[
// CHECK-NOT: row.load_scalar %weights[%[[I]]]
// CHECK: row.store_scalar %{{.*}}, %slopes[%[[I]]]
func.func @deferred_newest(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                           %g: tensor<2x3x8xf32>, %a: tensor<1x2x3x1x3xf32>,
                           %d: tensor<1x2x3x1xf32>, %r: tensor<2x3x3xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>) {
  %ge, %gu = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x3xf32>) logits(%a : tensor<1x2x3x1x3xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x3xf32>) {newest}
  return %ge, %gu : tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// Of two queries of the log-sum-exp the second was merged: the first has no
// gradient.
// CHECK-LABEL: row.kernel private @merge_adjoint(
// CHECK: %[[O:.*]] = row.load %closed_mix
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %{{.*}}, %[[O]]
// CHECK: row.store_scalar %{{.*}}, %glse[%c0] plane(%c1)
// CHECK: row.store_scalar %cst{{.*}}, %glse[%c0] plane(%c0)
// CHECK: row.store %{{.*}}, %gclosed_mix
// CHECK: row.store %{{.*}}, %gpartial
// CHECK: row.accumulate %{{.*}}, %gquery
// CHECK-LABEL: row.kernel private @partial_adjoint(
// CHECK: row.store_scalar %{{.*}}, %shifts[%c0]
// CHECK: scf.for
// CHECK: math.exp
// CHECK: row.store_scalar %{{.*}}, %weights[%{{.*}}]
// CHECK: row.load_scalar %shifts[%c0]
// CHECK: scf.for
// CHECK: row.store %{{.*}}, %gclosed[%{{.*}}]
func.func @phases(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                  %p: tensor<2x3x8xf32>, %o: tensor<2x3x8xf32>,
                  %g: tensor<2x3x8xf32>, %lse: tensor<1x2x3x1xf32>,
                  %a: tensor<1x2x3x1x1xf32>, %r: tensor<2x3x1xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>) {
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) mixes(%o : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(2) {first_query = 1 : i64}
  %ge, %gu = depth.partial_adjoint queries(%u : tensor<8xf32>)
    gradients(%go : tensor<2x3x8xf32>) mixes(%o : tensor<2x3x8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    saved(%lse, %lse, %a, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return %gp, %gu, %ge : tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>
}
