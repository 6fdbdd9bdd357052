// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

func.func @take_tokens_c1_before(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{expected a part of the 6 tokens of 'input', got 2 tokens from number -1 on}}
  // expected-error @below {{'net.take_tokens' op failed to infer returned types}}
  %y = net.take_tokens %x {first = -1 : i64, count = 2 : i64}
    : (tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  return
}

// -----

func.func @take_tokens_c1_empty(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{expected a part of the 6 tokens of 'input', got 0 tokens from number 1 on}}
  // expected-error @below {{'net.take_tokens' op failed to infer returned types}}
  %y = net.take_tokens %x {first = 1 : i64, count = 0 : i64}
    : (tensor<2x3x4xf32>) -> tensor<1x0x4xf32>
  return
}

// -----

func.func @take_tokens_c1_behind(%x: tensor<2x3xi32>) {
  // expected-error @below {{expected a part of the 6 tokens of 'input', got 3 tokens from number 4 on}}
  // expected-error @below {{'net.take_tokens' op failed to infer returned types}}
  %y = net.take_tokens %x {first = 4 : i64, count = 3 : i64}
    : (tensor<2x3xi32>) -> tensor<1x3xi32>
  return
}

// -----

func.func @take_tokens_type(%x: tensor<6xf32>) {
  // expected-error @below {{'net.take_tokens' op operand #0 must be static tensor with numbers for every token}}
  %y = net.take_tokens %x {first = 0 : i64, count = 3 : i64}
    : (tensor<6xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @take_tokens_result(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'net.take_tokens' op inferred type(s) 'tensor<1x4x4xf32>' are incompatible with return type(s) of operation 'tensor<2x2x4xf32>'}}
  // expected-error @below {{'net.take_tokens' op failed to infer returned types}}
  %y = net.take_tokens %x {first = 0 : i64, count = 4 : i64}
    : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @join_tokens_c1_none() {
  // expected-error @below {{expected at least one part}}
  // expected-error @below {{'net.join_tokens' op failed to infer returned types}}
  %y = "net.join_tokens"() {sequences = 1 : i64} : () -> tensor<1x2xf32>
  return
}

// -----

func.func @join_tokens_c1_channels(%a: tensor<1x2x4xf32>,
                                   %b: tensor<1x2x5xf32>) {
  // expected-error @below {{expected parts that differ in their tokens alone, got 'tensor<1x2x4xf32>' and 'tensor<1x2x5xf32>'}}
  // expected-error @below {{'net.join_tokens' op failed to infer returned types}}
  %y = net.join_tokens %a, %b {sequences = 1 : i64}
    : (tensor<1x2x4xf32>, tensor<1x2x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @join_tokens_c1_types(%a: tensor<1x2xf32>, %b: tensor<1x2xbf16>) {
  // expected-error @below {{expected parts that differ in their tokens alone, got 'tensor<1x2xf32>' and 'tensor<1x2xbf16>'}}
  // expected-error @below {{'net.join_tokens' op failed to infer returned types}}
  %y = net.join_tokens %a, %b {sequences = 1 : i64}
    : (tensor<1x2xf32>, tensor<1x2xbf16>) -> tensor<1x4xf32>
  return
}

// -----

func.func @join_tokens_c2(%a: tensor<1x2xf32>, %b: tensor<1x3xf32>) {
  // expected-error @below {{expected 'sequences' to divide the 5 tokens of all parts, got 2}}
  // expected-error @below {{'net.join_tokens' op failed to infer returned types}}
  %y = net.join_tokens %a, %b {sequences = 2 : i64}
    : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}
