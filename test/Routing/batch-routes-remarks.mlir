// RUN: isobath-opt %s --isobath-batch-routes=write-cost=1 --remarks-filter=isobath-batch-routes -o /dev/null 2>&1 | FileCheck %s
// RUN: isobath-opt %s --isobath-batch-routes=schedule=each --remarks-filter-missed=isobath-batch-routes -o /dev/null 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: isobath-opt %s --isobath-batch-routes=schedule=batched --remarks-filter-passed=isobath-batch-routes -o /dev/null 2>&1 | FileCheck %s --check-prefix=BATCHED

// Five sources of 8 f32: 5 · 32 bytes are read once and not twice; two mixes of
// 32 bytes are written and read.
// CHECK: remark: [Passed] Batched | Category:isobath-batch-routes | Function=many_sources | Remark="2 routes read 5 sources together, which saves 160 bytes a token and adds 128 bytes (64 written)", Sites="x, y"
// EACH: remark: [Missed] NotBatched | {{.*}}Function=many_sources | Reason="the schedule asks for each by itself: that 2 routes read 5 sources together saves 160 bytes a token and adds 128 bytes (64 written)", Sites="x, y"
// BATCHED: remark: [Passed] Batched | {{.*}}Function=many_sources | Remark="2 routes read 5 sources together, which saves 160 bytes a token and adds 128 bytes (64 written), as the schedule asks", Sites="x, y"
func.func @many_sources(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                        %b: tensor<2x3x8xf32>, %c: tensor<2x3x8xf32>,
                        %d: tensor<2x3x8xf32>, %f: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %c, %d, %f : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x"}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %c, %d, %f : tensor<2x3x8xf32>)
    partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y"}
  return %h1 : tensor<2x3x8xf32>
}

// CHECK: remark: [Missed] NotBatched | {{.*}}Function=few_sources | Reason="it would cost more: that 2 routes read 1 source together saves 32 bytes a token and adds 128 bytes (64 written)", Sites="x, y"
func.func @few_sources(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                       %p: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x"}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y"}
  return %h1 : tensor<2x3x8xf32>
}

// A single route, and one whose weights are reported.
// CHECK: remark: [Missed] NotBatched | {{.*}}Function=apart | Reason="its statistics are used by more than adjoints", Sites=y
// CHECK: remark: [Missed] NotBatched | {{.*}}Function=apart | Reason="no other route can read its sources with it", Sites=x
func.func @apart(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x"}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y"}
  return %h1, %a1 : tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>
}

// The second one's query is made of the first one's mix.
// CHECK: remark: [Missed] NotBatched | {{.*}}Function=late_query | Reason="its query cannot be computed before the first route", Sites=y
// CHECK: remark: [Passed] Batched | {{.*}}Function=late_query | Remark="2 routes read 7 sources together, which saves 224 bytes a token and adds 128 bytes (64 written)", Sites="x, z"
func.func @late_query(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                      %b: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %e, %b, %e, %b, %e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "x"}
  %late = net.sum_tokens %h0 : (tensor<2x3x8xf32>) -> tensor<8xf32>
  %h1, %a1, %l1, %r1 = depth.route queries(%late : tensor<8xf32>)
    closed(%e, %b, %e, %b, %e, %b, %e : tensor<2x3x8xf32>)
    partial(%h0 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "y"}
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %b, %e, %b, %e, %b, %e : tensor<2x3x8xf32>)
    partial(%h1 : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "z"}
  return %h2 : tensor<2x3x8xf32>
}
