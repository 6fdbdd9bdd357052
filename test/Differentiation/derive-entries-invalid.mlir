// RUN: isobath-opt %s --split-input-file --verify-diagnostics --isobath-derive-entries=entries=gradient,update

// expected-error @below {{expected a function '@model' of straight-line code}}
module {
}

// -----

// expected-error @below {{expected a function '@model' of straight-line code}}
module {
  func.func private @model(tensor<2x3xi32>) -> tensor<2x3x5xf32>
}

// -----

// expected-error @below {{'func.func' op expected the type (tensor<BxTxi32>, parameters…) -> tensor<BxTxVx…>, got '(tensor<2x3xf32>) -> tensor<2x3x5xf32>'}}
func.func @model(%x: tensor<2x3xf32>) -> tensor<2x3x5xf32> {
  %0 = arith.constant dense<0.0> : tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// expected-error @below {{'func.func' op expected the type (tensor<BxTxi32>, parameters…) -> tensor<BxTxVx…>, got '(tensor<2x3xi32>) -> ()'}}
func.func @model(%x: tensor<2x3xi32>) {
  return
}

// -----

// expected-error @below {{'func.func' op expected parameters for the entry 'update'}}
func.func @model(%tokens: tensor<2x3xi32>) -> tensor<2x3x5xf32> {
  %0 = arith.constant dense<0.0> : tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// expected-error @below {{expected 'net.train' with 'betas', 'adam_epsilon' and 'weight_decay' to derive the entry 'update'}}
module {
  func.func @model(%tokens: tensor<2x3xi32>,
                   %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = zeros>})
      -> tensor<2x3x5xf32> {
    %e = net.embedding %table, %tokens
      : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
    %y = net.linear %e, %table
      : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
    return %y : tensor<2x3x5xf32>
  }
}

// -----

// expected-error @below {{expected 'net.train' with 'betas', 'adam_epsilon' and 'weight_decay' to derive the entry 'update'}}
module attributes {net.train = {adam_epsilon = 1.0e-08 : f64, betas = [9.0e-01], weight_decay = 1.0e-01 : f64}} {
  func.func @model(%tokens: tensor<2x3xi32>,
                   %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = zeros>})
      -> tensor<2x3x5xf32> {
    %e = net.embedding %table, %tokens
      : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
    %y = net.linear %e, %table
      : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
    return %y : tensor<2x3x5xf32>
  }
}

// -----

// expected-error @below {{expected parameters of different names, got 'w' twice}}
func.func @model(%tokens: tensor<2x3xi32>,
                 %a: tensor<5x8xf32> {net.parameter = #net.parameter<name = "w", initial = zeros>},
                 %b: tensor<5x8xf32> {net.parameter = #net.parameter<name = "w", initial = zeros>})
    -> tensor<2x3x5xf32> {
  %0 = arith.constant dense<0.0> : tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// expected-error @below {{expected parameters of one element type, got 'f32' and 'f64' for 'b'}}
func.func @model(%tokens: tensor<2x3xi32>,
                 %a: tensor<5x8xf32> {net.parameter = #net.parameter<name = "a", initial = zeros>},
                 %b: tensor<5x8xf64> {net.parameter = #net.parameter<name = "b", initial = zeros>})
    -> tensor<2x3x5xf32> {
  %0 = arith.constant dense<0.0> : tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

func.func @model(%tokens: tensor<2x3xi32>,
                 %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = zeros>})
    -> tensor<2x3x5xf32> {
  %e = net.embedding %table, %tokens
    : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  // expected-error @below {{'arith.addf' op expected to be differentiable, since a gradient passes through it}}
  %f = arith.addf %e, %e : tensor<2x3x8xf32>
  %y = net.linear %f, %table
    : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
