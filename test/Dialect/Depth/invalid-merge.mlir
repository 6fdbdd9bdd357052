// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

//===----------------------------------------------------------------------===//
// Merge
//===----------------------------------------------------------------------===//

func.func @merge_c1_query(%p: tensor<2x3x8xf32>, %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected at least one query}}
  %a, %l, %r = depth.merge queries( : tensor<8xf32>)
    mixes( : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c1_mixes(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                          %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected 1 closed mixes, got 2}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p, %p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c1_mix_type(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                             %o: tensor<3x2x8xf32>,
                             %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected every closed mix of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 0}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%o : tensor<3x2x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c2(%w: tensor<7xf32>, %p: tensor<2x3x8xf32>,
                    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<7xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c3_queries(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                            %lse: tensor<2x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected 'first_query' such that 1 of the 2 queries of 'lse' follow, got 2}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<2x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 2 : i64}
  return
}

// -----

func.func @merge_c3_negative(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                             %lse: tensor<2x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected 'first_query' such that 1 of the 2 queries of 'lse' follow, got -1}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<2x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = -1 : i64}
  return
}

// -----

func.func @merge_c3_heads(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                          %lse: tensor<1x2x3x3xf32>) {
  // expected-error @below {{'depth.merge' op expected the heads of 'lse' to divide the 8 channels of the partial, got 3}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x3xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c3_tokens(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                           %lse: tensor<1x3x2x1xf32>) {
  // expected-error @below {{'depth.merge' op expected 'lse' of type 'tensor<1x2x3x1xf32>', got 'tensor<1x3x2x1xf32>'}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x3x2x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_c4(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op expected 'epsilon' to be positive and finite in f32, got 0}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 0.0 : f64, first_query = 0 : i64}
  return
}

// -----

//===----------------------------------------------------------------------===//
// Adjoint of merge
//===----------------------------------------------------------------------===//

func.func @merge_adjoint_c1_query(%s: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x1x1xf32>,
                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected at least one query}}
  %gp, %glse = depth.merge_adjoint queries( : tensor<8xf32>)
    gradients( : tensor<2x3x8xf32>) mixes( : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c1_gradients(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                      %a: tensor<1x2x3x1x1xf32>,
                                      %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 1 gradients, got 2}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s, %s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c1_mixes(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x1x1xf32>,
                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 1 closed mixes, got 2}}
  %gp, %glse, %go:2, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s, %s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c1_gradient_type(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %g: tensor<2x3x4xf32>,
                                          %a: tensor<1x2x3x1x1xf32>,
                                          %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected every gradient of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 0}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%g : tensor<2x3x4xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c1_mix_type(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                     %o: tensor<2x3x4xf32>,
                                     %a: tensor<1x2x3x1x1xf32>,
                                     %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected every closed mix of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 0}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%o : tensor<2x3x4xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c2(%w: tensor<7xf32>, %s: tensor<2x3x8xf32>,
                            %a: tensor<1x2x3x1x1xf32>, %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<7xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c3_heads(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x3x1xf32>,
                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected the heads of 'weights' to divide the 8 channels of the partial, got 3}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x3x1xf32>, tensor<1x2x3x3x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c3_weights(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                    %a: tensor<1x2x3x1x2xf32>,
                                    %l: tensor<1x2x3x1x1xf32>,
                                    %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 'weights' of type 'tensor<1x2x3x1x1xf32>', got 'tensor<1x2x3x1x2xf32>'}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c3_logits(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                   %a: tensor<1x2x3x1x1xf32>,
                                   %l: tensor<2x2x3x1x1xf32>,
                                   %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 'logits' of type 'tensor<1x2x3x1x1xf32>', got 'tensor<2x2x3x1x1xf32>'}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x1xf32>, tensor<2x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c3_rstd(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                 %a: tensor<1x2x3x1x1xf32>,
                                 %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 'rstd' of type 'tensor<2x3x1xf32>', got 'tensor<2x3x2xf32>'}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x2xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_c4_above(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x1x1xf32>,
                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 'first_query' such that 1 of the 2 queries of 'lse' follow, got 2}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(2) {first_query = 2 : i64}
  return
}

// -----

func.func @merge_adjoint_c4_negative(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                     %a: tensor<1x2x3x1x1xf32>,
                                     %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.merge_adjoint' op expected 'first_query' such that 1 of the 2 queries of 'lse' follow, got -1}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(2) {first_query = -1 : i64}
  return
}
