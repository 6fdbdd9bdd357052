// RUN: isobath-opt %s --load-pass-plugin=%build/lib/libCountRoutes.so \
// RUN:   --pass-pipeline="builtin.module(func.func(count-routes))" \
// RUN:   --verify-diagnostics -o /dev/null

// A pass that comes in a plugin sees our ops.

// expected-remark@below {{2 routes with 3 queries}}
func.func @routes(%q: tensor<8xf32>, %v: tensor<8xf32>,
                  %e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h:2, %a, %l, %r = depth.route queries(%q, %v : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %m, %b, %n, %s = depth.route queries(%q : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>) heads(1)
    {epsilon = 1.0e-6 : f64}
  return %h#0, %h#1, %m
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// expected-remark@below {{0 routes with 0 queries}}
func.func @none() {
  return
}
