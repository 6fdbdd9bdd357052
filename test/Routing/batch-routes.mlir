// RUN: isobath-opt %s --split-input-file --isobath-batch-routes=schedule=batched | FileCheck %s
// RUN: isobath-opt %s --split-input-file --isobath-batch-routes=schedule=each | FileCheck %s --check-prefix=EACH
// RUN: isobath-opt %s --split-input-file --isobath-batch-routes=write-cost=1 | FileCheck %s --check-prefix=AUTO
// RUN: isobath-opt %s --split-input-file --isobath-batch-routes="write-cost=1 source-bytes=2" | FileCheck %s --check-prefix=BF16
// RUN: isobath-opt %s --split-input-file --isobath-batch-routes | FileCheck %s --check-prefix=WRITES

// The closed sources are read once, with the queries of all, one of which is a
// gain's product and moves. The first route has no partial: the mix over the
// closed sources is its own.
// CHECK-LABEL: func.func @block
// CHECK-SAME: (%[[W0:[a-z0-9_]+]]: tensor<8xf32>, %[[W1:[a-z0-9_]+]]: tensor<8xf32>, %[[G:[a-z0-9_]+]]: tensor<8xf32>,
// CHECK-NEXT: %[[U:[a-z0-9_]+]] = net.multiply %[[G]], %[[W1]]
// CHECK-NEXT: %[[O:[a-z0-9_]+]]:4, %[[LSE:[a-z0-9_]+]], %{{.*}}, %{{.*}} = depth.partial queries(%[[W0]], %[[W1]], %[[U]], %[[W0]] :
// CHECK-SAME: closed(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
// CHECK-SAME: heads(2)
// CHECK-NEXT: %[[P0:[a-z0-9_]+]] = net.multiply %[[O]]#0, %[[O]]#1
// CHECK-NEXT: %[[H1:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %{{.*}} = depth.merge queries(%[[U]] :
// CHECK-SAME: mixes(%[[O]]#2 :
// CHECK-SAME: partial(%[[P0]] :
// CHECK-SAME: lse(%[[LSE]] : tensor<4x2x3x2xf32>) {epsilon = 9.99{{[0-9]+}}E-7 : f64, first_query = 2 : i64}
// CHECK-NEXT: %[[P1:[a-z0-9_]+]] = net.add %[[P0]], %[[H1]]
// CHECK-NEXT: %[[H2:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %{{.*}} = depth.merge queries(%[[W0]] :
// CHECK-SAME: mixes(%[[O]]#3 :
// CHECK-SAME: partial(%[[P1]] :
// CHECK-SAME: first_query = 3 : i64
// CHECK-NEXT: return %[[H2]]

// EACH-LABEL: func.func @block
// EACH-NOT: depth.partial
// EACH: return

// Three sources: 3 · (3 − 1) vectors read less, 2 · 3 more written and read.
// AUTO-LABEL: func.func @block
// AUTO-NOT: depth.partial
// AUTO: return
func.func @block(%w0: tensor<8xf32>, %w1: tensor<8xf32>, %g: tensor<8xf32>,
                 %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                 %c: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %v0, %a0, %l0, %r0 = depth.route queries(%w0, %w1 : tensor<8xf32>)
    closed(%e, %b, %c : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  %p0 = net.multiply %h0, %v0
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %u = net.multiply %g, %w1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b, %c : tensor<2x3x8xf32>) partial(%p0 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  %p1 = net.add %p0, %h1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%w0 : tensor<8xf32>)
    closed(%e, %b, %c : tensor<2x3x8xf32>) partial(%p1 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64}
  return %h2 : tensor<2x3x8xf32>
}

// -----

// Four sources are enough in f32, but not in bf16, where a source is half of a
// mix. More queries do not count: RD decides as its parent does.
// AUTO-LABEL: func.func @default
// AUTO: depth.partial
// BF16-LABEL: func.func @default
// BF16-NOT: depth.partial
// And not where a write costs two reads, as it does unless something else is
// said.
// WRITES-LABEL: func.func @default
// WRITES-NOT: depth.partial
func.func @default(%w: tensor<8xf32>, %u: tensor<8xf32>, %v: tensor<8xf32>,
                   %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                   %c: tensor<2x3x8xf32>, %d: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %q, %k, %x, %a0, %l0, %r0 = depth.route queries(%w, %u, %v : tensor<8xf32>)
    closed(%e, %b, %c, %d : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %p0 = net.multiply %q, %k
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b, %c, %d : tensor<2x3x8xf32>)
    partial(%p0 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %p1 = net.add %h1, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%v : tensor<8xf32>)
    closed(%e, %b, %c, %d : tensor<2x3x8xf32>)
    partial(%p1 : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h2 : tensor<2x3x8xf32>
}

// -----

// Adjoints: the local one has what it needs of the merge; the deferred one has
// the closed sources' statistics, computed in front of it.
// CHECK-LABEL: func.func @adjoints
// CHECK: %[[O:[a-z0-9_]+]]:2, %[[LSE:[a-z0-9_]+]], %[[LOGITS:[a-z0-9_]+]], %[[RSTD:[a-z0-9_]+]] = depth.partial
// CHECK: %[[H:[a-z0-9_]+]], %[[A:[a-z0-9_]+]], %[[L:[a-z0-9_]+]], %[[R:[a-z0-9_]+]] = depth.merge
// CHECK: %[[DOTS:[a-z0-9_]+]], %{{.*}}:2 = depth.route_adjoint_local
// CHECK-SAME: saved(%[[A]], %[[L]], %[[R]] : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
// CHECK-NEXT: %[[CW:[a-z0-9_]+]], %[[CL:[a-z0-9_]+]] = depth.closed_statistics of 1 queries from 1 lse(%[[LSE]] : tensor<2x2x3x1xf32>) logits(%[[LOGITS]] : tensor<2x2x3x1x2xf32>) merged(%[[A]] : tensor<1x2x3x1x1xf32>)
// CHECK-NEXT: depth.route_adjoint_deferred
// CHECK-SAME: weights(%[[CW]] : tensor<1x2x3x1x2xf32>) logits(%[[CL]] : tensor<1x2x3x1x2xf32>) dots(%[[DOTS]] : tensor<1x2x3x1xf32>) rstd(%[[RSTD]] : tensor<2x3x2xf32>)
func.func @adjoints(%w: tensor<8xf32>, %u: tensor<8xf32>,
                    %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                    %g: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %dots, %gp, %gu = depth.route_adjoint_local queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) mixes(%h1 : tensor<2x3x8xf32>)
    partial(%h0 : tensor<2x3x8xf32>)
    saved(%a1, %l1, %r1 : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>,
          tensor<2x3x3xf32>)
  %ge, %gb, %gv = depth.route_adjoint_deferred queries(%u : tensor<8xf32>)
    gradients(%g : tensor<2x3x8xf32>) closed(%e, %b : tensor<2x3x8xf32>)
    weights(%a1 : tensor<1x2x3x1x3xf32>) logits(%l1 : tensor<1x2x3x1x3xf32>)
    dots(%dots : tensor<1x2x3x1xf32>) rstd(%r1 : tensor<2x3x3xf32>)
  return %gp, %ge, %gb
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// A repeated route runs a second time, in two phases like the one it repeats,
// even where it is the only one of the block.
// CHECK-LABEL: func.func @repeated
// CHECK: depth.partial queries(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
// CHECK-NOT: repeated
// CHECK: depth.merge
// CHECK-NOT: repeated
// CHECK: %[[O:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %{{.*}} = depth.partial queries(%{{[a-z0-9_]+}} :
// CHECK-SAME: repeated
// CHECK: depth.merge
// CHECK-SAME: mixes(%[[O]] :
// CHECK-SAME: repeated
func.func @repeated(%w: tensor<8xf32>, %u: tensor<8xf32>,
                    %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %q, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %v, %a2, %l2, %r2 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Where a distribution is asked for, a route stays; one alone does, too.
// CHECK-LABEL: func.func @distribution
// CHECK-NOT: depth.partial
// CHECK-COUNT-2: depth.route
func.func @distribution(%w: tensor<8xf32>, %u: tensor<8xf32>,
                        %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h0, %a1 : tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>
}

// -----

// Nine routes are two batches.
// CHECK-LABEL: func.func @many
// CHECK: %{{[a-z0-9_]+}}:5, %{{.*}} = depth.partial
// CHECK: %{{[a-z0-9_]+}}:4, %{{.*}} = depth.partial
// CHECK-NOT: depth.partial
func.func @many(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h1 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h2 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h4, %a4, %l4, %r4 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h3 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h5, %a5, %l5, %r5 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h4 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h6, %a6, %l6, %r6 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h5 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h7, %a7, %l7, %r7 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h6 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h8, %a8, %l8, %r8 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h7 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h8 : tensor<2x3x8xf32>
}
