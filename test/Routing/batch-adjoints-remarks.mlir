// RUN: isobath-opt %s --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints --remarks-filter=isobath-batch-adjoints -o /dev/null 2>&1 | FileCheck %s
// RUN: isobath-opt %s --isobath-differentiate --canonicalize --cse --isobath-batch-adjoints=schedule=each --remarks-filter=isobath-batch-adjoints -o /dev/null 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: isobath-opt %S/batch-adjoints-declined.mlir --isobath-batch-adjoints=schedule=batched --remarks-filter=isobath-batch-adjoints -o /dev/null 2>&1 | FileCheck %s --check-prefix=DECLINED

// Two sources of 8 f32, which are read and whose gradients are read and
// written: 2 · 96 bytes less; two gradients of a mix are written and read once
// more. The last route reads a source that no other one does.
// CHECK-DAG: remark: [Passed] Batched | Category:isobath-batch-adjoints | Function=gradient | Remark="2 routes add to the gradients of 2 sources together, which saves 192 bytes (64 written) a token and adds 128 bytes (64 written)", Sites="y, x"
// CHECK-DAG: remark: [Missed] NotBatched | Category:isobath-batch-adjoints | Function=gradient | Reason="no other route can add to the gradients of its sources with it", Sites=z
// EACH: remark: [Missed] NotBatched | {{.*}} | Reason="the schedule asks for each by itself: that 2 routes add to the gradients of 2 sources together saves 192 bytes (64 written) a token and adds 128 bytes (64 written)", Sites="y, x"
func.func @loss(%w0: tensor<8xf32>, %w1: tensor<8xf32>, %w2: tensor<8xf32>,
                %e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h0, %a0, %l0, %r0 = depth.route queries(%w0 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64, site = "x"}
  %h1, %a1, %l1, %r1 = depth.route queries(%w1 : tensor<8xf32>)
    closed(%e, %b : tensor<2x3x8xf32>) partial(%h0 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64, site = "y"}
  %p1 = net.add %h0, %h1
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %h2, %a2, %l2, %r2 = depth.route queries(%w2 : tensor<8xf32>)
    closed(%e, %b, %p1 : tensor<2x3x8xf32>)
    heads(2) {epsilon = 1.0e-6 : f64, site = "z"}
  return %h2 : tensor<2x3x8xf32>
}

// DECLINED: remark: [Missed] NotBatched | {{.*}}Function=needs_query_gradient | Reason="the last one needs what is made of a query's gradient", Sites="a route without a site"
// DECLINED: remark: [Missed] NotBatched | {{.*}}Function=used_apart | Reason="a source's gradient is needed between them"
// DECLINED: remark: [Missed] NotBatched | {{.*}}Function=unknown_epsilon | Reason="it cannot be told where r comes from"
