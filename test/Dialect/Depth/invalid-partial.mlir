// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation. Lists whose types differ are written in the generic form, since
// the custom one has a single type for each list.

//===----------------------------------------------------------------------===//
// Partial
//===----------------------------------------------------------------------===//

func.func @partial_c1(%w: tensor<8xf32>) {
  // expected-error @below {{expected at least one query and one closed source}}
  %o, %lse, %l, %r = depth.partial queries(%w : tensor<8xf32>)
    closed( : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @partial_c1_generic(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.partial' op expected at least one query}}
  %0:3 = "depth.partial"(%e) <{operandSegmentSizes = array<i32: 0, 1>,
      heads = 1 : i64, epsilon = 1.0e-6 : f64}>
    : (tensor<2x3x8xf32>)
    -> (tensor<0x2x3x1xf32>, tensor<0x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_c2(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                      %b0: tensor<3x2x8xf32>) {
  // expected-error @below {{'depth.partial' op expected every closed source of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 1}}
  %0:4 = "depth.partial"(%w, %e, %b0) <{operandSegmentSizes = array<i32: 1, 2>,
      heads = 1 : i64, epsilon = 1.0e-6 : f64}>
    : (tensor<8xf32>, tensor<2x3x8xf32>, tensor<3x2x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1xf32>, tensor<1x2x3x1x2xf32>,
        tensor<2x3x2xf32>)
  return
}

// -----

func.func @partial_c3(%w: tensor<7xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.partial' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %o, %lse, %l, %r = depth.partial queries(%w : tensor<7xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @partial_c4(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.partial' op expected 'heads' to divide the 8 channels of a source, got 3}}
  %o, %lse, %l, %r = depth.partial queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(3) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @partial_c5(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.partial' op expected 'epsilon' to be positive and finite in f32, got -1}}
  %o, %lse, %l, %r = depth.partial queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = -1.0 : f64}
  return
}

// -----

//===----------------------------------------------------------------------===//
// Adjoint of partial
//===----------------------------------------------------------------------===//

func.func @partial_adjoint_c1_closed(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                     %lse: tensor<1x2x3x1xf32>,
                                     %l: tensor<1x2x3x1x1xf32>,
                                     %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected at least one closed source}}
  %0 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed( : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_query(%s: tensor<2x3x8xf32>,
                                    %lse: tensor<1x2x3x1xf32>,
                                    %l: tensor<1x2x3x1x1xf32>,
                                    %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected at least one query}}
  %0 = depth.partial_adjoint queries( : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_gradients(%w: tensor<8xf32>,
                                        %s: tensor<2x3x8xf32>,
                                        %lse: tensor<1x2x3x1xf32>,
                                        %l: tensor<1x2x3x1x1xf32>,
                                        %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 1 gradients, got 2}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s, %s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_mixes(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                    %lse: tensor<1x2x3x1xf32>,
                                    %l: tensor<1x2x3x1x1xf32>,
                                    %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 1 mixes, got 0}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes( : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_gradient_type(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %g: tensor<2x3x4xf32>,
                                            %lse: tensor<1x2x3x1xf32>,
                                            %l: tensor<1x2x3x1x1xf32>,
                                            %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected every gradient of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 0}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%g : tensor<2x3x4xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_mix_type(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                       %o: tensor<2x3x4xf32>,
                                       %lse: tensor<1x2x3x1xf32>,
                                       %l: tensor<1x2x3x1x1xf32>,
                                       %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected every mix of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 0}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%o : tensor<2x3x4xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c1_closed_type(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %b0: tensor<3x2x8xf32>,
                                          %lse: tensor<1x2x3x1xf32>,
                                          %l: tensor<1x2x3x1x2xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected every closed source of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 1}}
  %0:3 = "depth.partial_adjoint"(%w, %s, %s, %s, %b0, %lse, %lse, %l, %r)
    <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 1, 1, 1, 1>}>
    : (tensor<8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
       tensor<3x2x8xf32>, tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
       tensor<1x2x3x1x2xf32>, tensor<2x3x2xf32>)
    -> (tensor<2x3x8xf32>, tensor<3x2x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @partial_adjoint_c2(%w: tensor<7xf32>, %s: tensor<2x3x8xf32>,
                              %lse: tensor<1x2x3x1xf32>,
                              %l: tensor<1x2x3x1x1xf32>,
                              %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<7xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c3_heads(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                    %lse: tensor<1x2x3x3xf32>,
                                    %l: tensor<1x2x3x3x1xf32>,
                                    %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected the heads of 'lse' to divide the 8 channels of a source, got 3}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>,
          tensor<1x2x3x3x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c3_lse_gradient(%w: tensor<8xf32>,
                                           %s: tensor<2x3x8xf32>,
                                           %glse: tensor<2x2x3x1xf32>,
                                           %lse: tensor<1x2x3x1xf32>,
                                           %l: tensor<1x2x3x1x1xf32>,
                                           %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 'lse_gradient' of type 'tensor<1x2x3x1xf32>', got 'tensor<2x2x3x1xf32>'}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%glse, %lse, %l, %r : tensor<2x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c3_lse(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                  %glse: tensor<1x2x3x1xf32>,
                                  %lse: tensor<1x3x2x1xf32>,
                                  %l: tensor<1x2x3x1x1xf32>,
                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 'lse' of type 'tensor<1x2x3x1xf32>', got 'tensor<1x3x2x1xf32>'}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%glse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x3x2x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c3_logits(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                     %lse: tensor<1x2x3x1xf32>,
                                     %l: tensor<1x2x3x1x2xf32>,
                                     %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 'logits' of type 'tensor<1x2x3x1x1xf32>', got 'tensor<1x2x3x1x2xf32>'}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x2xf32>, tensor<2x3x1xf32>)
  return
}

// -----

func.func @partial_adjoint_c3_rstd(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                   %lse: tensor<1x2x3x1xf32>,
                                   %l: tensor<1x2x3x1x1xf32>,
                                   %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.partial_adjoint' op expected 'rstd' of type 'tensor<2x3x1xf32>', got 'tensor<2x3x2xf32>'}}
  %0:2 = depth.partial_adjoint queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    closed(%s : tensor<2x3x8xf32>)
    saved(%lse, %lse, %l, %r : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>,
          tensor<1x2x3x1x1xf32>, tensor<2x3x2xf32>)
  return
}
