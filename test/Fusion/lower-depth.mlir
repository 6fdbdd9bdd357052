// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows | FileCheck %s

// Two queries: one load of each source for all logits and one for both mixes,
// nothing but scalars in between. The partial comes after each loop.
// CHECK-LABEL: func.func @read
// CHECK-NEXT: row.call @route(%arg0, %arg1, [%arg2, %arg3], %arg4) {rows = 6 : i64}
// CHECK-SAME: -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x1x3xf32>, tensor<2x2x3x1x3xf32>, tensor<2x3x3xf32>)
// CHECK-LABEL: row.kernel private @route(
// CHECK-SAME: %query0: !row.vector<8xf32>, %query1: !row.vector<8xf32>, %closed: !row.list<8xf32>, %partial: !row.matrix<8xf32>)
// CHECK-SAME: -> (%mix0: !row.matrix<8xf32>, %mix1: !row.matrix<8xf32>, %weights: !row.scalars<2xf32>, %logits: !row.scalars<2xf32>, %rstd: !row.scalars<f32>)
// CHECK: %[[CLOSED:.*]] = row.count %closed
// CHECK: %[[SOURCES:.*]] = arith.addi %[[CLOSED]], %c1
// CHECK: scf.for %[[I:.*]] = %c0 to %[[CLOSED]] step %c1 {
// CHECK-NEXT: %[[S:.*]] = row.load %closed[%[[I]]]
// CHECK-NOT: row.load %closed
// CHECK: vector.reduction <add>
// CHECK: row.store_scalar %{{.*}}, %rstd[%[[I]]]
// CHECK: row.load %query0
// CHECK: row.store_scalar %{{.*}}, %logits[%[[I]]] plane(%c0)
// CHECK: row.load %query1
// CHECK: row.store_scalar %{{.*}}, %logits[%[[I]]] plane(%c1)
// CHECK: %[[P:.*]] = row.load %partial
// CHECK: row.store_scalar %{{.*}}, %rstd[%[[CLOSED]]]
// CHECK: row.store_scalar %{{.*}}, %logits[%[[CLOSED]]] plane(%c1)
// CHECK-NOT: vector<8xf32>
// CHECK: %[[LARGEST:.*]] = scf.for %{{.*}} to %[[SOURCES]] {{.*}} -> (f32)
// CHECK-NOT: vector<8xf32>
// CHECK: %[[TOTAL:.*]] = scf.for
// CHECK: math.exp
// CHECK: row.store_scalar %{{.*}}, %weights[%{{.*}}] plane(%c0)
// CHECK: scf.for
// CHECK: arith.divf %{{.*}}, %[[TOTAL]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: row.store_scalar %{{.*}}, %weights[%{{.*}}] plane(%c1)
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[CLOSED]] step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK-NEXT: row.load %closed[%[[I]]]
// CHECK-NEXT: row.load_scalar %weights[%[[I]]] plane(%c0)
// CHECK-NOT: row.load %
// CHECK-NOT: vector.reduction
// CHECK: scf.yield
// CHECK: row.load_scalar %weights[%[[CLOSED]]] plane(%c0)
// CHECK-NEXT: vector.broadcast
// CHECK-NEXT: arith.mulf %{{.*}}, %[[P]]
// CHECK: row.store %{{.*}}, %mix0
// CHECK-NEXT: row.store %{{.*}}, %mix1
// CHECK-NEXT: row.return
func.func @read(%u: tensor<8xf32>, %w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                %b: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x1x3xf32>) {
  %h:2, %a, %l, %r = depth.route queries(%u, %w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h#0, %h#1, %a
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x1x3xf32>
}

// -----

// One kernel, whatever the site and the number of sources. A route that runs
// for its cost alone is a call that nobody may merge with another.
// CHECK-LABEL: func.func @sites
// CHECK-NEXT: %[[FIRST:.*]]:4 = row.call @[[ROUTE:route]](%arg0, %arg1) {rows = 6 : i64}
// CHECK-NEXT: %[[SECOND:.*]]:4 = row.call @[[ROUTE]](%arg0, [%arg1, %arg2]) {rows = 6 : i64}
// CHECK-NEXT: %[[AGAIN:.*]]:4 = row.call @[[ROUTE]](%arg0, [%arg1, %arg2]) {repeated, rows = 6 : i64}
// CHECK-NEXT: return %[[FIRST]]#0, %[[SECOND]]#0, %[[AGAIN]]#0
// CHECK: row.kernel private @[[ROUTE]](
// CHECK-NOT: row.kernel
func.func @sites(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                 %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0, %a0, %l0, %r0 = depth.route queries(%u : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "first", groups = ["qkv"]}
  %1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "second"}
  %2, %a2, %l2, %r2 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "second", repeated}
  return %0, %1, %2
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Depth heads are loops around the dots of one: r is over all channels. The mix
// is made whole, each channel weighed by its head's number.
// CHECK-LABEL: func.func @heads
// CHECK-LABEL: row.kernel private @route(
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT:.*]] step %c1 {
// CHECK-NEXT: %[[S:.*]] = row.load %closed[%[[I]]] : !row.list<8xf32> -> vector<8xf32>
// CHECK: scf.for %[[HEAD:.*]] = %c0 to %c2 step %c1 {
// CHECK: %[[COLUMN:.*]] = arith.muli %[[HEAD]], %c4
// CHECK-NEXT: row.load %closed[%[[I]]] columns(%[[COLUMN]]) : !row.list<8xf32> -> vector<4xf32>
// CHECK: row.load %query columns(%{{.*}}) : !row.vector<8xf32> -> vector<4xf32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[HEAD]], %[[COUNT]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: row.store_scalar %{{.*}}, %logits[%[[PLACE]]]
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0 to %[[COUNT]] step %c1 iter_args(%{{.*}}) -> (vector<8xf32>)
// CHECK: row.load %closed[%[[I]]] : !row.list<8xf32> -> vector<8xf32>
// CHECK-NEXT: row.spread %weights[%[[I]]] stride(%[[COUNT]]) groups(2) : !row.scalars<f32> -> vector<8xf32>
// CHECK: row.store %[[SUM]], %mix : vector<8xf32>, !row.matrix<8xf32>
func.func @heads(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                 %b: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: func.func @fixed
// CHECK-NEXT: row.call @fixed_read(%arg0, %arg1)
// CHECK-NEXT: row.call @fixed_read_0(%arg1)
// CHECK-NEXT: row.call @fixed_read_0(%arg0)
// CHECK-NEXT: row.call @fixed_distribution() {rows = 6 : i64} : () -> (tensor<1x2x3x1x2xf32>)
// CHECK-LABEL: row.kernel private @fixed_read(%closed: !row.list<8xf32>, %partial: !row.matrix<8xf32>)
// CHECK: %[[COUNT:.*]] = row.count %closed
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: row.load %partial
// CHECK: arith.addi %[[COUNT]], %c1
// CHECK: arith.divf
// CHECK-LABEL: row.kernel private @fixed_read_0(%source: !row.matrix<8xf32>) -> (%mix: !row.matrix<8xf32>)
// CHECK-LABEL: row.kernel private @fixed_distribution() -> (%weights: !row.scalars<f32>)
// CHECK: %[[COUNT:.*]] = row.width %weights
// CHECK: scf.for %[[I:.*]] = %c0 to %[[COUNT]]
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: arith.cmpi eq, %[[I]], %[[LAST]]
func.func @fixed(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
        tensor<1x2x3x1x2xf32>) {
  %0 = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  %1 = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  %2 = depth.fixed_read embedding closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  %3 = depth.fixed_distribution newest of 2 sources like %e
    : tensor<2x3x8xf32>
  return %0, %1, %2, %3
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
      tensor<1x2x3x1x2xf32>
}

// -----

// The merge of the second of two queries: its kernel is that of any other.
// CHECK-LABEL: func.func @phases
// CHECK-NEXT: %[[CLOSED:.*]]:6 = row.call @partial(%arg0, %arg0, [%arg1, %arg2])
// CHECK-NEXT: %[[LSE:.*]] = net.take_tokens %[[CLOSED]]#2 {count = 2 : i64, first = 2 : i64}
// CHECK-NEXT: row.call @merge(%arg0, %[[CLOSED]]#1, %arg3, %[[LSE]])
// CHECK-LABEL: row.kernel private @partial(
// CHECK-SAME: -> (%mix0: !row.matrix<8xf32>, %mix1: !row.matrix<8xf32>, %lse: !row.scalars<2xf32>, %logits: !row.scalars<2xf32>, %rstd: !row.scalars<f32>, %weights: !row.scalars<2xf32>)
// CHECK: math.log
// CHECK: row.store_scalar %{{.*}}, %lse[%c0] plane(%c0)
// CHECK-LABEL: row.kernel private @merge(
// CHECK-SAME: %query: !row.vector<8xf32>, %closed_mix: !row.matrix<8xf32>, %partial: !row.matrix<8xf32>, %lse: !row.scalars<f32>)
// CHECK: row.load_scalar %lse[%c0] :
// CHECK: %[[O:.*]] = row.load %closed_mix
// CHECK: arith.subf %{{.*}}, %[[O]]
func.func @phases(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                  %b: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %o:2, %lse, %l, %r = depth.partial queries(%u, %u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h, %a, %l1, %r1 = depth.merge queries(%u : tensor<8xf32>)
    mixes(%o#1 : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<2x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 1 : i64}
  return %h : tensor<2x3x8xf32>
}

// -----

// An extension of the second of two queries by sources that are a list: one
// loop for their numbers and one for the mix, which starts with the older one.
// CHECK-LABEL: func.func @extension
// CHECK: %[[LSE:.*]] = net.take_tokens %{{.*}}#2 {count = 2 : i64, first = 2 : i64}
// CHECK: row.call @extend(%arg0, %{{.*}}#1, [%arg3, %arg4], %[[LSE]])
// CHECK-LABEL: row.kernel private @extend(
// CHECK-SAME: %query: !row.vector<8xf32>, %older_mix: !row.matrix<8xf32>, %newer: !row.list<8xf32>, %lse: !row.scalars<f32>)
// CHECK: scf.for
// CHECK: row.load_scalar %lse[%c0] :
// CHECK: arith.maximumf
// CHECK: %[[START:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @extension(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                     %b: tensor<2x3x8xf32>, %c: tensor<2x3x8xf32>,
                     %d: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %o:2, %lse, %l, %r = depth.partial queries(%u, %u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h, %a, %l1, %r1 = depth.extend queries(%u : tensor<8xf32>)
    mixes(%o#1 : tensor<2x3x8xf32>) newer(%c, %d : tensor<2x3x8xf32>)
    lse(%lse : tensor<2x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 1 : i64}
  return %h : tensor<2x3x8xf32>
}

// -----

// The second of two queries, merged.
// CHECK-LABEL: func.func @statistics
// CHECK-NEXT: %[[LSE:.*]] = net.take_tokens %arg0 {count = 2 : i64, first = 2 : i64}
// CHECK-NEXT: %[[LOGITS:.*]] = net.take_tokens %arg1 {count = 2 : i64, first = 2 : i64}
// CHECK-NEXT: row.call @closed_statistics(%[[LSE]], %[[LOGITS]], %arg2) {rows = 6 : i64}
// CHECK-SAME: -> (tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>)
// CHECK-LABEL: row.kernel private @closed_statistics(
// CHECK-SAME: %lse: !row.scalars<f32>, %logits: !row.scalars<f32>, %merged: !row.scalars<f32>) -> (%weights: !row.scalars<f32>, %closed_logits: !row.scalars<f32>)
// CHECK: %[[L:.*]] = row.load_scalar %lse[%c0] :
// CHECK: %[[A:.*]] = row.load_scalar %merged[%c0]
// CHECK: %[[SHARE:.*]] = arith.subf %{{.*}}, %[[A]]
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[LOGIT:.*]] = row.load_scalar %logits[%[[I]]] :
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[LOGIT]], %[[L]]
// CHECK: %[[EXP:.*]] = math.exp %[[DIFFERENCE]]
// CHECK: %[[WEIGHT:.*]] = arith.mulf %[[SHARE]], %[[EXP]]
// CHECK: row.store_scalar %[[WEIGHT]], %weights[%[[I]]]
// CHECK: row.store_scalar %[[LOGIT]], %closed_logits[%[[I]]]
func.func @statistics(%lse: tensor<2x2x3x1xf32>,
                             %logits: tensor<2x2x3x1x2xf32>,
                             %a: tensor<1x2x3x1x1xf32>)
    -> (tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>) {
  %weights, %l = depth.closed_statistics of 1 queries from 1
    lse(%lse : tensor<2x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
    merged(%a : tensor<1x2x3x1x1xf32>)
  return %weights, %l : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>
}

// -----

// What runs for its cost alone is a call that stays.
// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: row.call @partial({{.*}}) {repeated, rows = 6 : i64}
// CHECK-NEXT: row.call @merge({{.*}}) {repeated, rows = 6 : i64}
func.func @repeated(%u: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                    %p: tensor<2x3x8xf32>) {
  %o, %lse, %l, %r = depth.partial queries(%u : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64, repeated}
  %h, %a, %l1, %r1 = depth.merge queries(%u : tensor<8xf32>)
    mixes(%o : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64, repeated}
  return
}
