// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

func.func @embedding_types(%table: tensor<5x4xf16>, %ids: tensor<2x3xi32>) {
  // expected-error @below {{'net.embedding' op operand #0 must be static floating-point matrix}}
  %y = net.embedding %table, %ids
    : (tensor<5x4xf16>, tensor<2x3xi32>) -> tensor<2x3x4xf16>
  return
}

// -----

func.func @embedding_ids(%table: tensor<5x4xf32>, %ids: tensor<2x3xi64>) {
  // expected-error @below {{'net.embedding' op operand #1 must be static tensor of 32-bit ids}}
  %y = net.embedding %table, %ids
    : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @embedding_dynamic(%table: tensor<?x4xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @below {{'net.embedding' op operand #0 must be static floating-point matrix}}
  %y = net.embedding %table, %ids
    : (tensor<?x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @embedding_result(%table: tensor<5x4xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @below {{'net.embedding' op inferred type(s) 'tensor<2x3x4xf32>' are incompatible with return type(s) of operation 'tensor<3x2x4xf32>'}}
  // expected-error @below {{'net.embedding' op failed to infer returned types}}
  %y = net.embedding %table, %ids
    : (tensor<5x4xf32>, tensor<2x3xi32>) -> tensor<3x2x4xf32>
  return
}

// -----

func.func @group_tokens_c1(%ids: tensor<2x3xi32>) {
  // expected-error @below {{expected 'vocabulary' to be positive, got 0}}
  // expected-error @below {{'net.group_tokens' op failed to infer returned types}}
  %s, %o = net.group_tokens %ids {vocabulary = 0 : i64}
    : (tensor<2x3xi32>) -> (tensor<1xi32>, tensor<6xi32>)
  return
}

// -----

func.func @embedding_adjoint_c1(%g: tensor<2x3x4xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @below {{expected 'rows' to be positive, got 0}}
  // expected-error @below {{'net.embedding_adjoint' op failed to infer returned types}}
  %t = net.embedding_adjoint %g, %ids {rows = 0 : i64}
    : (tensor<2x3x4xf32>, tensor<2x3xi32>) -> tensor<0x4xf32>
  return
}

// -----

func.func @embedding_adjoint_c2(%g: tensor<2x3x4xf32>, %ids: tensor<3x2xi32>) {
  // expected-error @below {{'net.embedding_adjoint' op expected 'gradient' with the 3x2 tokens of 'ids', got 2x3}}
  %t = net.embedding_adjoint %g, %ids {rows = 5 : i64}
    : (tensor<2x3x4xf32>, tensor<3x2xi32>) -> tensor<5x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

func.func @rms_norm_c1(%x: tensor<2x3x6xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{'net.rms_norm' op expected the length of 'weight' to divide the 6 channels of 'input', got 4}}
  %y = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x6xf32>, tensor<4xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @rms_norm_c2_zero(%x: tensor<2x3x6xf32>, %w: tensor<6xf32>) {
  // expected-error @below {{'net.rms_norm' op expected 'epsilon' to be positive and finite in f32, got 0}}
  %y = net.rms_norm %x, %w {epsilon = 0.0 : f64}
    : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @rms_norm_c2_nan(%x: tensor<2x3x6xf32>, %w: tensor<6xf32>) {
  // expected-error @below {{'net.rms_norm' op expected 'epsilon' to be positive and finite in f32, got NaN}}
  %y = net.rms_norm %x, %w {epsilon = 0x7FF8000000000000 : f64}
    : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @rms_norm_adjoint_c1(%x: tensor<2x3x6xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{'net.rms_norm_adjoint' op expected the length of 'weight' to divide the 6 channels of 'input', got 4}}
  %gx, %gw = net.rms_norm_adjoint %x, %w, %x {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x6xf32>, tensor<4xf32>, tensor<2x3x6xf32>)
    -> (tensor<2x3x6xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_adjoint_c2(%x: tensor<2x3x6xf32>, %w: tensor<6xf32>) {
  // expected-error @below {{'net.rms_norm_adjoint' op expected 'epsilon' to be positive and finite in f32, got -1}}
  %gx, %gw = net.rms_norm_adjoint %x, %w, %x {epsilon = -1.0 : f64}
    : (tensor<2x3x6xf32>, tensor<6xf32>, tensor<2x3x6xf32>)
    -> (tensor<2x3x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @rms_norm_adjoint_c3(%x: tensor<2x3x6xf32>, %w: tensor<6xf32>,
                               %g: tensor<3x2x6xf32>) {
  // expected-error @below {{'net.rms_norm_adjoint' op expected 'input' and 'gradient' of one type, got 'tensor<2x3x6xf32>' and 'tensor<3x2x6xf32>'}}
  %gx, %gw = net.rms_norm_adjoint %x, %w, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x6xf32>, tensor<6xf32>, tensor<3x2x6xf32>)
    -> (tensor<2x3x6xf32>, tensor<6xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

func.func @linear_c1(%x: tensor<2x3x4xf32>, %w: tensor<6x5xf32>) {
  // expected-error @below {{'net.linear' op expected 'weight' with the 4 channels of 'input' as columns, got 5}}
  %y = net.linear %x, %w
    : (tensor<2x3x4xf32>, tensor<6x5xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<2x3x4xf32>, %w: tensor<6x4xf64>) {
  // expected-error @below {{'net.linear' op expected 'input' and 'weight' of one element type, got 'f32' and 'f64'}}
  %y = net.linear %x, %w
    : (tensor<2x3x4xf32>, tensor<6x4xf64>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @linear_input_adjoint_c1(%g: tensor<2x3x5xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{'net.linear_input_adjoint' op expected 'weight' with the 5 channels of 'gradient' as rows, got 6}}
  %gx = net.linear_input_adjoint %g, %w
    : (tensor<2x3x5xf32>, tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @linear_input_adjoint_c2(%g: tensor<2x3x6xf64>, %w: tensor<6x4xf32>) {
  // expected-error @below {{'net.linear_input_adjoint' op expected 'gradient' and 'weight' of one element type, got 'f64' and 'f32'}}
  %gx = net.linear_input_adjoint %g, %w
    : (tensor<2x3x6xf64>, tensor<6x4xf32>) -> tensor<2x3x4xf64>
  return
}

// -----

func.func @linear_weight_adjoint_c1(%g: tensor<2x3x6xf32>,
                                    %x: tensor<3x2x4xf32>) {
  // expected-error @below {{'net.linear_weight_adjoint' op expected 'gradient' with the 3x2 tokens of 'input', got 2x3}}
  %gw = net.linear_weight_adjoint %g, %x
    : (tensor<2x3x6xf32>, tensor<3x2x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @linear_weight_adjoint_c2(%g: tensor<2x3x6xf64>,
                                    %x: tensor<2x3x4xf32>) {
  // expected-error @below {{'net.linear_weight_adjoint' op expected 'gradient' and 'input' of one element type, got 'f64' and 'f32'}}
  %gw = net.linear_weight_adjoint %g, %x
    : (tensor<2x3x6xf64>, tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @linear_weight_adjoint_c3(%g: tensor<2x3x6xf32>,
                                    %x: tensor<2x3x4xf32>,
                                    %sum: tensor<4x6xf32>) {
  // expected-error @below {{'net.linear_weight_adjoint' op expected 'sum' and the result of one type, got 'tensor<4x6xf32>' and 'tensor<6x4xf32>'}}
  %gw = net.linear_weight_adjoint %g, %x, %sum
    : (tensor<2x3x6xf32>, tensor<2x3x4xf32>, tensor<4x6xf32>)
    -> tensor<6x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Rotary
//===----------------------------------------------------------------------===//

func.func @rotary_c1_divides(%x: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.rotary' op expected 'heads' to divide the 8 channels of 'input', got 3}}
  %y = net.rotary %x {heads = 3 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @rotary_c1_zero(%x: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.rotary' op expected 'heads' to divide the 8 channels of 'input', got 0}}
  %y = net.rotary %x {heads = 0 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @rotary_c1_even(%x: tensor<2x3x6xf32>) {
  // expected-error @below {{'net.rotary' op expected heads of even size, got 3}}
  %y = net.rotary %x {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @rotary_c2(%x: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.rotary' op expected 'base' to be positive and finite in f32, got -2}}
  %y = net.rotary %x {heads = 2 : i64, base = -2.0 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return
}
