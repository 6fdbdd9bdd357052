// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

func.func @add_c1(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{'net.add' op expected 'left' and 'right' of one type, got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %y = net.add %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @multiply_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @below {{'net.multiply' op expected 'left' and 'right' of one type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %y = net.multiply %a, %b : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @scale_c1(%a: tensor<4xf32>) {
  // expected-error @below {{'net.scale' op expected 'factor' to be finite, got 0x7FF0000000000000 : f64}}
  %y = net.scale %a {factor = 0x7FF0000000000000 : f64}
    : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @add_vector_c1(%x: tensor<2x3x4xf32>, %u: tensor<3xf32>) {
  // expected-error @below {{'net.add_vector' op expected 'vector' with the 4 channels of 'input', got 3}}
  %y = net.add_vector %x, %u
    : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @broadcast_c1(%value: tensor<f32>) {
  // expected-error @below {{'net.broadcast' op expected 'value' and the result of one element type, got 'f32' and 'f64'}}
  %y = net.broadcast %value : (tensor<f32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @swiglu_c1(%gate: tensor<2x3x4xf32>, %up: tensor<2x3x5xf32>) {
  // expected-error @below {{'net.swiglu' op expected 'gate' and 'up' of one type, got 'tensor<2x3x4xf32>' and 'tensor<2x3x5xf32>'}}
  %y = net.swiglu %gate, %up
    : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @swiglu_adjoint_c1_up(%gate: tensor<2x3x4xf32>,
                                %up: tensor<2x3x5xf32>) {
  // expected-error @below {{'net.swiglu_adjoint' op expected 'gate' and 'up' of one type, got 'tensor<2x3x4xf32>' and 'tensor<2x3x5xf32>'}}
  %gg, %gu = net.swiglu_adjoint %gate, %up, %gate
    : (tensor<2x3x4xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @swiglu_adjoint_c1_gradient(%gate: tensor<2x3x4xf32>,
                                      %g: tensor<2x3x5xf32>) {
  // expected-error @below {{'net.swiglu_adjoint' op expected 'gate' and 'gradient' of one type, got 'tensor<2x3x4xf32>' and 'tensor<2x3x5xf32>'}}
  %gg, %gu = net.swiglu_adjoint %gate, %gate, %g
    : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x5xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

func.func @squared_norm_result(%x: tensor<4xf32>) {
  // expected-error @below {{'net.squared_norm' op result #0 must be scalar f64 tensor}}
  %y = net.squared_norm %x : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @adamw_c1(%p: tensor<8xf32>, %m: tensor<9xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected every operand before 'scalars' of type 'tensor<8xf32>', got 'tensor<9xf32>' at index 2}}
  %q, %m1, %v1 = net.adamw %p, %p, %m, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<9xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<9xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c2(%p: tensor<8xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{'net.adamw' op expected 4 'scalars', got 3}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<3xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c3_beta1(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'beta1' to be at least 0 and below 1, got 1.0}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 1.0 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c3_beta2(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'beta2' to be at least 0 and below 1, got -0.5}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = -0.5 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c3_epsilon(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'epsilon' to be positive and finite in f32, got 0}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 0.0 : f64,
     weight_decay = 0.1 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c3_weight_decay(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'weight_decay' to be finite and not negative, got -1.0}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = -1.0 : f64, decay_elements = 4 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c4_above(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'decay_elements' between 0 and 8, got 9}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = 9 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @adamw_c4_below(%p: tensor<8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'net.adamw' op expected 'decay_elements' between 0 and 8, got -1}}
  %q, %m1, %v1 = net.adamw %p, %p, %p, %p, %s
    {beta1 = 0.9 : f64, beta2 = 0.95 : f64, epsilon = 1.0e-8 : f64,
     weight_decay = 0.1 : f64, decay_elements = -1 : i64}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
       tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}
