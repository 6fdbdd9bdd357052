// RUN: isobath-opt %s --cse --isobath-share-routes --canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// What becomes one
//===----------------------------------------------------------------------===//

// Equal queries are one query; the groups that use it are one group.
// CHECK-LABEL: func.func @equal_queries
// CHECK-SAME: (%[[W:[a-z0-9_]+]]: tensor<8xf32>,
// CHECK: %[[H:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %{{.*}} = depth.route queries(%[[W]] : tensor<8xf32>)
// CHECK-SAME: groups = ["qkv"], site = "layers.0.attn"
// CHECK-NEXT: return %[[H]], %[[H]]
func.func @equal_queries(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                         %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64, site = "layers.0.attn",
              groups = ["qk", "v"]}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// A gain is an op in front of the query: equal ones are one value.
// CHECK-LABEL: func.func @equal_gains
// CHECK: %[[U:[a-z0-9_]+]] = net.multiply
// CHECK-NOT: net.multiply
// CHECK: depth.route queries(%[[U]] : tensor<8xf32>)
func.func @equal_gains(%w: tensor<8xf32>, %g: tensor<8xf32>,
                       %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %u0 = net.multiply %g, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %u1 = net.multiply %g, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %q, %v, %a, %l, %r = depth.route queries(%u0, %u1 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Three routes over the same sources are one, where the first stands. The gain
// of the second moves there; the third has the first one's query.
// CHECK-LABEL: func.func @different_queries
// CHECK-SAME: (%[[W:[a-z0-9_]+]]: tensor<8xf32>, %[[G:[a-z0-9_]+]]: tensor<8xf32>,
// CHECK-NEXT: %[[U:[a-z0-9_]+]] = net.multiply %[[G]], %[[W]]
// CHECK-NEXT: %[[H:[a-z0-9_]+]]:2, %{{.*}}, %{{.*}}, %{{.*}} = depth.route queries(%[[W]], %[[U]] : tensor<8xf32>)
// CHECK-SAME: {epsilon = 9.9999999999999995E-7 : f64, groups = ["ac", "b"], site = "x, y"}
// CHECK-NEXT: %[[SUM:[a-z0-9_]+]] = net.add %[[H]]#0, %[[H]]#1
// CHECK-NEXT: return %[[SUM]], %[[H]]#0
func.func @different_queries(%w: tensor<8xf32>, %g: tensor<8xf32>,
                             %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                             %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x", groups = ["a"]}
  %u = net.multiply %g, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x", groups = ["b"]}
  %sum = net.add %h0, %h1 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y", groups = ["c"]}
  return %sum, %h2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

//===----------------------------------------------------------------------===//
// What does not
//===----------------------------------------------------------------------===//

// A query that is made of another route's mix comes after it. The third route
// can stand where the second does.
// CHECK-LABEL: func.func @dependent_query
// CHECK: depth.route queries(%{{[a-z0-9_]+}} : tensor<3xf32>)
// CHECK: net.sum_tokens
// CHECK: depth.route queries(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<3xf32>)
// CHECK-NOT: depth.route
func.func @dependent_query(%w: tensor<3xf32>, %x: tensor<3xf32>,
                           %e: tensor<2x3x3xf32>, %b: tensor<2x3x3xf32>)
    -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x3xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %u = net.sum_tokens %h0 : (tensor<2x3x3xf32>) -> tensor<3xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x3xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h2, %a2, %l2, %r2 = depth.route queries(%x : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x3xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h0, %h1, %h2 : tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

// A repeated route runs.
// CHECK-LABEL: func.func @repeated
// CHECK: depth.route queries(%{{[a-z0-9_]+}} : tensor<8xf32>)
// CHECK: depth.route queries(%{{[a-z0-9_]+}} : tensor<8xf32>)
// CHECK-SAME: repeated
func.func @repeated(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                    %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %v, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// A distribution has a plane for each group that was asked about.
// CHECK-LABEL: func.func @statistics
// CHECK: depth.route queries(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<8xf32>)
// CHECK: depth.route queries(%{{[a-z0-9_]+}} : tensor<8xf32>)
func.func @statistics(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                      %b: tensor<2x3x8xf32>)
    -> (tensor<2x2x3x1x2xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %a, %h : tensor<2x2x3x1x2xf32>, tensor<2x3x8xf32>
}

// Routes differ in sources, their order, what is closed, heads or epsilon.
// CHECK-LABEL: func.func @different_reading
// CHECK-COUNT-6: depth.route
func.func @different_reading(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                             %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
        tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%b, %e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%b : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  %h4, %a4, %l4, %r4 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-5 : f64}
  %h5, %a5, %l5, %r5 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %b : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h0, %h1, %h2, %h3, %h4, %h5
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
      tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

//===----------------------------------------------------------------------===//
// Static reads
//===----------------------------------------------------------------------===//

// Three reads of the same sources are one, with each mixture once.
// CHECK-LABEL: func.func @static_reads
// CHECK-SAME: (%[[M:[a-z0-9_]+]]: tensor<3xf32>, %[[N:[a-z0-9_]+]]: tensor<3xf32>,
// CHECK-NEXT: %[[H:[a-z0-9_]+]]:2, %{{.*}} = depth.static_read mixtures(%[[M]], %[[N]] : tensor<3xf32>)
// CHECK-SAME: {groups = ["ac", "b"], site = "x, y"}
// CHECK-NEXT: return %[[H]]#0, %[[H]]#1, %[[H]]#0
func.func @static_reads(%m: tensor<3xf32>, %n: tensor<3xf32>,
                        %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                        %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0, %a0 = depth.static_read mixtures(%m : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    {site = "x", groups = ["a"]}
  %1, %a1 = depth.static_read mixtures(%n : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    {site = "x", groups = ["b"]}
  %2, %a2 = depth.static_read mixtures(%m : tensor<3xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    {site = "y", groups = ["c"]}
  return %0, %1, %2
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Other sources; weights in use.
// CHECK-LABEL: func.func @static_reads_apart
// CHECK-COUNT-3: depth.static_read mixtures(
func.func @static_reads_apart(%m: tensor<2xf32>, %n: tensor<2xf32>,
                              %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>) {
  %0, %a0 = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
  %1, %a1 = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%b : tensor<2x3x8xf32>)
  %2, %a2 = depth.static_read mixtures(%n : tensor<2xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
  return %0, %1, %a2
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>
}
