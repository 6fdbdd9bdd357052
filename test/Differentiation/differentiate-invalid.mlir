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
