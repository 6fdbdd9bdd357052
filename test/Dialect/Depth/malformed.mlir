// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The parser infers result types before it verifies anything: what an op's
// inference reads may be missing or of any type, and must not crash it.

func.func @route_without_heads(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    // expected-error @below {{expected 'heads'}}
    closed(%e : tensor<2x3x8xf32>) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_without_epsilon(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op requires attribute 'epsilon'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1)
  return
}

// -----

func.func @route_over_scalars(%w: tensor<8xf32>, %e: f32) {
  // expected-error @below {{expected a closed source to be a static floating-point tensor with 3 axes, got 'f32'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>) closed(%e : f32)
    heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_over_vectors(%w: tensor<8xf32>) {
  // expected-error @below {{expected a closed source to be a static floating-point tensor with 3 axes, got 'tensor<8xf32>'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%w : tensor<8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_over_ids(%w: tensor<8xf32>, %e: tensor<2x3x8xi32>) {
  // expected-error @below {{expected a closed source to be a static floating-point tensor with 3 axes, got 'tensor<2x3x8xi32>'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xi32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_of_dynamic_shape(%w: tensor<8xf32>, %e: tensor<?x3x8xf32>) {
  // expected-error @below {{expected a closed source to be a static floating-point tensor with 3 axes, got 'tensor<?x3x8xf32>'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<?x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_with_scalar_query(%w: f32, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op operand #0 must be variadic of static floating-point vector}}
  %h, %a, %l, %r = depth.route queries(%w : f32) closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @partial_without_epsilon(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.partial' op requires attribute 'epsilon'}}
  %o, %lse, %l, %r = depth.partial queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1)
  return
}

// -----

func.func @fixed_distribution_like_a_vector(%w: tensor<8xf32>) {
  // expected-error @below {{expected 'source' to be a static floating-point tensor with 3 axes, got 'tensor<8xf32>'}}
  %a = depth.fixed_distribution newest of 3 sources like %w : tensor<8xf32>
  return
}

// -----

func.func @route_adjoint_local_of_scalars(%w: tensor<8xf32>, %s: f32,
                                          %a: tensor<1x2x3x1x2xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{expected a gradient to be a static floating-point tensor with 3 axes, got 'f32'}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : f32) mixes(%s : f32)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_with_flat_weights(%w: tensor<8xf32>,
                                                 %s: tensor<2x3x8xf32>,
                                                 %a: tensor<2xf32>,
                                                 %r: tensor<2x3x2xf32>) {
  // expected-error @below {{expected 'weights' to be a static floating-point tensor with 5 axes, got 'tensor<2xf32>'}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<2xf32>, tensor<2xf32>, tensor<2x3x2xf32>)
  return
}

// -----

func.func @merge_with_flat_partial(%w: tensor<8xf32>, %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{expected 'partial' to be a static floating-point tensor with 3 axes, got 'tensor<8xf32>'}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%w : tensor<8xf32>) partial(%w : tensor<8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>)
    {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_with_flat_lse(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                               %lse: tensor<6xf32>) {
  // expected-error @below {{expected 'lse' to be a static floating-point tensor with 4 axes, got 'tensor<6xf32>'}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<6xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @merge_without_first_query(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>,
                                     %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.merge' op requires attribute 'first_query'}}
  %h, %a, %l, %r = depth.merge queries(%w : tensor<8xf32>)
    mixes(%p : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @merge_adjoint_with_negative_lse_queries(%w: tensor<8xf32>,
                                                   %s: tensor<2x3x8xf32>,
                                                   %a: tensor<1x2x3x1x1xf32>,
                                                   %r: tensor<2x3x1xf32>) {
  // expected-error @below {{expected 'lse_queries' to be positive, got -1}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(-1) {first_query = 0 : i64}
  return
}

// -----

func.func @merge_adjoint_of_a_vector(%w: tensor<8xf32>,
                                     %a: tensor<1x2x3x1x1xf32>,
                                     %r: tensor<2x3x1xf32>) {
  // expected-error @below {{expected 'partial' to be a static floating-point tensor with 3 axes, got 'tensor<8xf32>'}}
  %gp, %glse, %go, %gw = depth.merge_adjoint queries(%w : tensor<8xf32>)
    gradients(%w : tensor<8xf32>) mixes(%w : tensor<8xf32>)
    partial(%w : tensor<8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
          tensor<2x3x1xf32>)
    queries_of_lse(1) {first_query = 0 : i64}
  return
}
