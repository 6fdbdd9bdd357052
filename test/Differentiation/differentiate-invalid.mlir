// RUN: isobath-opt %s --split-input-file --verify-diagnostics --isobath-differentiate

// expected-error @below {{expected a function '@loss' with a body to differentiate}}
module {
  func.func @other() {
    return
  }
}

// -----

// expected-error @below {{expected a function '@loss' with a body to differentiate}}
module {
  func.func private @loss(tensor<4xf32>) -> tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected straight-line code, got 2 blocks}}
func.func @loss(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected '@gradient' to be free for the derivative}}
module {
  func.func @loss(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @gradient() {
    return
  }
}

// -----

// Not differentiable, and a gradient passes through it.
func.func @loss(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.addf' op expected to be differentiable, since a gradient passes through it}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Ops that no gradient passes through need not be differentiable.
func.func @loss(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %1 = net.add %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// An adjoint has no adjoint of its own.
func.func @loss(%g: tensor<2x3x4xf32>, %w: tensor<6x4xf32>)
    -> tensor<6x4xf32> {
  %y = net.linear %g, %w
    : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  // expected-error @below {{'net.linear_weight_adjoint' op expected to be differentiable}}
  %0 = net.linear_weight_adjoint %y, %g
    : (tensor<2x3x6xf32>, tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func private @helper(tensor<4xf32>) -> tensor<4xf32>
func.func @loss(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op expected to be differentiable}}
  %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The log-sum-exp of attention is there for its adjoint alone.
func.func @loss(%q: tensor<2x3x8xf32>) -> tensor<2x2x3xf32> {
  // expected-error @below {{'net.attention' op expected no gradient of result 1, which is not differentiable}}
  %y, %lse = net.attention %q, %q, %q {heads = 2 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x2x3xf32>)
  return %lse : tensor<2x2x3xf32>
}

// -----

func.func @loss(%logits: tensor<2x3x5xf32>, %targets: tensor<2x3xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // expected-error @below {{'net.cross_entropy' op expected no gradient of result 1, which is not differentiable}}
  %losses, %lse = net.cross_entropy %logits, %targets
    : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %losses, %lse : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// So are a route's weights, for reports and for its adjoint.
func.func @loss(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>) {
  // expected-error @below {{'depth.route' op expected no gradient of result 1, which is not differentiable}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h, %a : tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>
}

// -----

// What a region reads is not among an op's operands.
func.func @loss(%x: tensor<4xf32>, %condition: i1) -> tensor<4xf32> {
  // expected-error @below {{'scf.if' op expected straight-line code, got an op with regions}}
  %y = scf.if %condition -> tensor<4xf32> {
    %0 = net.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
