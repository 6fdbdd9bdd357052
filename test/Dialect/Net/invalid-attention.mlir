// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

func.func @attention_c1_heads(%q: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.attention' op expected 'heads' to divide the 8 channels of 'query', got 3}}
  %y, %lse = net.attention %q, %q, %q {heads = 3 : i64, kv_heads = 3 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @attention_c1_kv_heads(%q: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.attention' op expected 'kv_heads' to divide the 4 heads, got 3}}
  %y, %lse = net.attention %q, %q, %q {heads = 4 : i64, kv_heads = 3 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>)
  return
}

// -----

func.func @attention_c1_negative(%q: tensor<2x3x8xf32>) {
  // expected-error @below {{'net.attention' op expected 'heads' to divide the 8 channels of 'query', got -4}}
  %y, %lse = net.attention %q, %q, %q {heads = -4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>)
  return
}

// -----

func.func @attention_c2_key(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>,
                            %v: tensor<2x3x4xf32>) {
  // expected-error @below {{'net.attention' op expected 'key' of type 'tensor<2x3x4xf32>', got 'tensor<2x3x8xf32>'}}
  %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>)
  return
}

// -----

func.func @attention_c2_value(%q: tensor<2x3x8xf32>, %k: tensor<2x3x4xf32>,
                              %v: tensor<2x5x4xf32>) {
  // expected-error @below {{'net.attention' op expected 'value' of type 'tensor<2x3x4xf32>', got 'tensor<2x5x4xf32>'}}
  %y, %lse = net.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x5x4xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x4x3xf32>)
  return
}

// -----

func.func @attention_adjoint_c1(%q: tensor<2x3x8xf32>,
                                %lse: tensor<2x3x3xf32>) {
  // expected-error @below {{'net.attention_adjoint' op expected 'heads' to divide the 8 channels of 'query', got 3}}
  %gq, %gk, %gv = net.attention_adjoint %q, %q, %q, %q, %lse, %q
    {heads = 3 : i64, kv_heads = 3 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
       tensor<2x3x8xf32>, tensor<2x3x3xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @attention_adjoint_c2(%q: tensor<2x3x8xf32>, %k: tensor<2x3x4xf32>,
                                %lse: tensor<2x4x3xf32>) {
  // expected-error @below {{'net.attention_adjoint' op expected 'key' of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>'}}
  %gq, %gk, %gv = net.attention_adjoint %q, %k, %k, %q, %lse, %q
    {heads = 4 : i64, kv_heads = 4 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>,
       tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @attention_adjoint_c3_output(%q: tensor<2x3x8xf32>,
                                       %k: tensor<2x3x4xf32>,
                                       %lse: tensor<2x4x3xf32>) {
  // expected-error @below {{'net.attention_adjoint' op expected 'query' and 'output' of one type, got 'tensor<2x3x8xf32>' and 'tensor<2x3x4xf32>'}}
  %gq, %gk, %gv = net.attention_adjoint %q, %k, %k, %k, %lse, %q
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>,
       tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @attention_adjoint_c3_gradient(%q: tensor<2x3x8xf32>,
                                         %k: tensor<2x3x4xf32>,
                                         %lse: tensor<2x4x3xf32>) {
  // expected-error @below {{'net.attention_adjoint' op expected 'query' and 'gradient' of one type, got 'tensor<2x3x8xf32>' and 'tensor<2x3x4xf32>'}}
  %gq, %gk, %gv = net.attention_adjoint %q, %k, %k, %q, %lse, %k
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>,
       tensor<2x3x8xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return
}

// -----

func.func @attention_adjoint_c3_lse(%q: tensor<2x3x8xf32>,
                                    %k: tensor<2x3x4xf32>,
                                    %lse: tensor<2x3x4xf32>) {
  // expected-error @below {{'net.attention_adjoint' op expected 'lse' of type 'tensor<2x4x3xf32>', got 'tensor<2x3x4xf32>'}}
  %gq, %gk, %gv = net.attention_adjoint %q, %k, %k, %q, %lse, %q
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>,
       tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

func.func @cross_entropy_c1(%logits: tensor<2x3x5xf32>, %t: tensor<3x2xi32>) {
  // expected-error @below {{'net.cross_entropy' op expected 'targets' with the 2x3 tokens of 'logits', got 3x2}}
  %losses, %lse = net.cross_entropy %logits, %t
    : (tensor<2x3x5xf32>, tensor<3x2xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @cross_entropy_adjoint_c1(%logits: tensor<2x3x5xf32>,
                                    %t: tensor<3x2xi32>,
                                    %lse: tensor<2x3xf32>) {
  // expected-error @below {{'net.cross_entropy_adjoint' op expected 'targets' with the 2x3 tokens of 'logits', got 3x2}}
  %g = net.cross_entropy_adjoint %logits, %t, %lse, %lse
    : (tensor<2x3x5xf32>, tensor<3x2xi32>, tensor<2x3xf32>, tensor<2x3xf32>)
    -> tensor<2x3x5xf32>
  return
}

// -----

func.func @cross_entropy_adjoint_c2_lse(%logits: tensor<2x3x5xf32>,
                                        %t: tensor<2x3xi32>,
                                        %lse: tensor<3x2xf32>,
                                        %gradient: tensor<2x3xf32>) {
  // expected-error @below {{'net.cross_entropy_adjoint' op expected 'lse' of type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %g = net.cross_entropy_adjoint %logits, %t, %lse, %gradient
    : (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<3x2xf32>, tensor<2x3xf32>)
    -> tensor<2x3x5xf32>
  return
}

// -----

func.func @cross_entropy_adjoint_c2_gradient(%logits: tensor<2x3x5xbf16>,
                                             %t: tensor<2x3xi32>,
                                             %lse: tensor<2x3xf32>,
                                             %gradient: tensor<2x3xbf16>) {
  // expected-error @below {{'net.cross_entropy_adjoint' op expected 'gradient' of type 'tensor<2x3xf32>', got 'tensor<2x3xbf16>'}}
  %g = net.cross_entropy_adjoint %logits, %t, %lse, %gradient
    : (tensor<2x3x5xbf16>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xbf16>)
    -> tensor<2x3x5xbf16>
  return
}
