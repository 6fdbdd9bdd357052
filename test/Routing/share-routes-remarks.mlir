// RUN: isobath-opt %s --isobath-share-routes --remarks-filter=isobath-share-routes -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: [Passed] Shared | Category:isobath-share-routes | Function=equal_queries | Remark="equal queries are one: 1 where 2 would be", Sites=layers.0.attn
func.func @equal_queries(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                         %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%w, %w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64, site = "layers.0.attn"}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// The third one's query is made of the first one's mix.
// CHECK: remark: [Passed] Shared | Category:isobath-share-routes | Function=same_sources | Remark="one route where two would read the same 3 sources", Sites="x, y"
// CHECK: remark: [Missed] NotShared | Category:isobath-share-routes | Function=same_sources | Reason="the later one's query cannot be computed before the earlier one", Sites="x, y, z"
func.func @same_sources(%w: tensor<8xf32>, %u: tensor<8xf32>,
                        %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                        %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x"}
  %h1, %a1, %l1, %r1 = depth.route queries(%u : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y"}
  %late = net.sum_tokens %h0 : (tensor<2x3x8xf32>) -> tensor<8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%late : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "z"}
  return %h1, %h2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// CHECK: remark: [Passed] Shared | Category:isobath-share-routes | Function=static_reads | Remark="equal mixtures are one: 1 where 2 would be", Sites=x
// CHECK: remark: [Passed] Shared | Category:isobath-share-routes | Function=static_reads | Remark="one static read where two would read the same 2 sources", Sites="x, y"
func.func @static_reads(%m: tensor<2xf32>, %n: tensor<2xf32>,
                        %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0:2, %a0 = depth.static_read mixtures(%m, %m : tensor<2xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) {site = "x"}
  %1, %a1 = depth.static_read mixtures(%n : tensor<2xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) {site = "y"}
  return %0#0, %1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}
