// RUN: isobath-opt %s --isobath-lower-to-reference | FileCheck %s

// Ops that differ only in what they are called with share one kernel, over all
// entries of a module.

// CHECK-LABEL: func.func @first
// CHECK: call @[[LINEAR:reference.net.linear.[0-9]+]](
// CHECK: call @[[LINEAR]](
// CHECK: call @[[WIDER:reference.net.linear.[0-9]+]](
func.func @first(%x: tensor<2x3x8xf32> {net.name = "x"},
                 %w: tensor<8x8xf32> {net.name = "w"},
                 %u: tensor<9x8xf32> {net.name = "u"})
    -> (tensor<2x3x9xf32> {net.name = "y"}) {
  %0 = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %1 = net.linear %0, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %2 = net.linear %1, %u
    : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  return %2 : tensor<2x3x9xf32>
}

// CHECK-LABEL: func.func @second
// CHECK: call @[[LINEAR]](
func.func @second(%x: tensor<2x3x8xf32> {net.name = "x"},
                  %w: tensor<8x8xf32> {net.name = "w"})
    -> (tensor<2x3x8xf32> {net.name = "y"}) {
  %0 = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// The names in reports do not matter. Attributes with a meaning do, and so does
// which of the sources is the partial.
// CHECK-LABEL: func.func @routes
// CHECK: call @[[ROUTE:reference.depth.route.[0-9]+]](
// CHECK: call @[[ROUTE]](
// CHECK: call @[[EPSILON:reference.depth.route.[0-9]+]](
// CHECK: call @[[PARTIAL:reference.depth.route.[0-9]+]](
// CHECK: call @[[FIXED:reference.depth.fixed_read.[0-9]+]](
// CHECK: call @[[FIXED]](
func.func @routes(%w: tensor<8xf32> {net.name = "w"},
                  %e: tensor<2x3x8xf32> {net.name = "e"},
                  %p: tensor<2x3x8xf32> {net.name = "p"})
    -> (tensor<2x3x8xf32> {net.name = "a"}, tensor<2x3x8xf32> {net.name = "b"},
        tensor<2x3x8xf32> {net.name = "c"}, tensor<2x3x8xf32> {net.name = "d"},
        tensor<2x3x8xf32> {net.name = "f"}, tensor<2x3x8xf32> {net.name = "g"}) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>) heads(1)
    {epsilon = 1.0e-6 : f64, site = "layers.0.attn", groups = ["qk"]}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%p, %e : tensor<2x3x8xf32>) heads(1)
    {epsilon = 1.0e-6 : f64, site = "layers.0.mlp", groups = ["v"]}
  %h2, %a2, %l2, %r2 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-5 : f64}
  %h3, %a3, %l3, %r3 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %v0 = depth.fixed_read uniform closed(%e, %p : tensor<2x3x8xf32>)
    {site = "layers.0.attn", group = "v"}
  %v1 = depth.fixed_read uniform closed(%p, %e : tensor<2x3x8xf32>)
    {site = "layers.1.attn", group = "v"}
  return %h0, %h1, %h2, %h3, %v0, %v1
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
      tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Each kernel once, and no other.
// CHECK-DAG: func.func private @[[LINEAR]](
// CHECK-DAG: func.func private @[[WIDER]](
// CHECK-DAG: func.func private @[[ROUTE]](
// CHECK-DAG: func.func private @[[EPSILON]](
// CHECK-DAG: func.func private @[[PARTIAL]](
// CHECK-DAG: func.func private @[[FIXED]](
// CHECK-NOT: func.func
