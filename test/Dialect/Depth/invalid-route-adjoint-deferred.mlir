// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation. Lists whose types differ are written in the generic form, since
// the custom one has a single type for each list.

func.func @route_adjoint_deferred_c1_closed(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %a: tensor<1x2x3x1x2xf32>,
                                            %d: tensor<1x2x3x1xf32>,
                                            %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected at least one closed source}}
  %0 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed( : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c1_closed_type(%w: tensor<8xf32>,
                                                 %s: tensor<2x3x8xf32>,
                                                 %t: tensor<3x2x8xf32>,
                                                 %a: tensor<1x2x3x1x2xf32>,
                                                 %d: tensor<1x2x3x1xf32>,
                                                 %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected every closed source of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 1}}
  %0:3 = "depth.route_adjoint_deferred"(%w, %s, %s, %t, %a, %a, %d, %r)
    <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 1, 1, 1>}>
    : (tensor<8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x2x8xf32>,
       tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>, tensor<1x2x3x1xf32>,
       tensor<2x3x2xf32>)
    -> (tensor<2x3x8xf32>, tensor<3x2x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c1_gradient_type(%w: tensor<8xf32>,
                                                   %s: tensor<2x3x8xf32>,
                                                   %g: tensor<3x2x8xf32>,
                                                   %a: tensor<1x2x3x1x2xf32>,
                                                   %d: tensor<1x2x3x1xf32>,
                                                   %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected every gradient of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 0}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%g : tensor<3x2x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c2_no_route(%s: tensor<2x3x8xf32>,
                                              %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected at least one route}}
  %0 = "depth.route_adjoint_deferred"(%s, %r)
    <{operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0, 1>}>
    : (tensor<2x3x8xf32>, tensor<2x3x2xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @route_adjoint_deferred_c2_logits(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %a: tensor<1x2x3x1x2xf32>,
                                            %d: tensor<1x2x3x1xf32>,
                                            %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 1 tensors of logits, got 2}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>)
    logits(%a, %a : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c2_dots(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %a: tensor<1x2x3x1x2xf32>,
                                          %d: tensor<1x2x3x1xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 1 tensors of dots, got 2}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>)
    rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c2_queries(%w: tensor<8xf32>,
                                             %s: tensor<2x3x8xf32>,
                                             %a: tensor<2x2x3x1x2xf32>,
                                             %d: tensor<2x2x3x1xf32>,
                                             %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 2 queries, got 1}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<2x2x3x1x2xf32>) logits(%a : tensor<2x2x3x1x2xf32>)
    dots(%d : tensor<2x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c2_gradients(%w: tensor<8xf32>,
                                               %s: tensor<2x3x8xf32>,
                                               %a: tensor<2x2x3x1x2xf32>,
                                               %d: tensor<2x2x3x1xf32>,
                                               %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 2 gradients, got 1}}
  %0:3 = depth.route_adjoint_deferred queries(%w, %w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<2x2x3x1x2xf32>) logits(%a : tensor<2x2x3x1x2xf32>)
    dots(%d : tensor<2x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_query(%w: tensor<7xf32>,
                                           %s: tensor<2x3x8xf32>,
                                           %a: tensor<1x2x3x1x2xf32>,
                                           %d: tensor<1x2x3x1xf32>,
                                           %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<7xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_sources(%w: tensor<8xf32>,
                                             %s: tensor<2x3x8xf32>,
                                             %a: tensor<1x2x3x1x1xf32>,
                                             %d: tensor<1x2x3x1xf32>,
                                             %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected weights of at least the 2 closed sources, got 1}}
  %0:3 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s, %s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x1xf32>) logits(%a : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_heads(%w: tensor<8xf32>,
                                           %s: tensor<2x3x8xf32>,
                                           %a: tensor<1x2x3x5x2xf32>,
                                           %d: tensor<1x2x3x5xf32>,
                                           %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected the heads of 'weights' to divide the 8 channels of a source, got 5}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x5x2xf32>) logits(%a : tensor<1x2x3x5x2xf32>)
    dots(%d : tensor<1x2x3x5xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_weights(%w: tensor<8xf32>,
                                             %s: tensor<2x3x8xf32>,
                                             %a: tensor<1x3x2x1x2xf32>,
                                             %d: tensor<1x2x3x1xf32>,
                                             %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected weights of type 'tensor<1x2x3x1x2xf32>', got 'tensor<1x3x2x1x2xf32>'}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x3x2x1x2xf32>) logits(%a : tensor<1x3x2x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_logits(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %a: tensor<1x2x3x1x2xf32>,
                                            %l: tensor<1x2x3x2x2xf32>,
                                            %d: tensor<1x2x3x1xf32>,
                                            %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected logits of type 'tensor<1x2x3x1x2xf32>', got 'tensor<1x2x3x2x2xf32>'}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%l : tensor<1x2x3x2x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_few_logits(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %a: tensor<1x2x3x1x2xf32>,
                                            %l: tensor<1x2x3x1x1xf32>,
                                            %d: tensor<1x2x3x1xf32>,
                                            %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected logits of at least the 2 closed sources, got 1}}
  %0:3 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s, %s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%l : tensor<1x2x3x1x1xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_dots(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %a: tensor<1x2x3x2x2xf32>,
                                          %d: tensor<1x2x3x1xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected dots of type 'tensor<1x2x3x2xf32>', got 'tensor<1x2x3x1xf32>'}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x2x2xf32>) logits(%a : tensor<1x2x3x2x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_rstd_sources(%w: tensor<8xf32>,
                                                  %s: tensor<2x3x8xf32>,
                                                  %a: tensor<1x2x3x1x2xf32>,
                                                  %d: tensor<1x2x3x1xf32>,
                                                  %r: tensor<2x3x1xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 'rstd' of at least the 2 closed sources, got 1}}
  %0:3 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s, %s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<2x3x1xf32>)
  return
}

// -----

func.func @route_adjoint_deferred_c3_rstd_tokens(%w: tensor<8xf32>,
                                                 %s: tensor<2x3x8xf32>,
                                                 %a: tensor<1x2x3x1x2xf32>,
                                                 %d: tensor<1x2x3x1xf32>,
                                                 %r: tensor<3x2x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_deferred' op expected 'rstd' of type 'tensor<2x3x2xf32>', got 'tensor<3x2x2xf32>'}}
  %0:2 = depth.route_adjoint_deferred queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) closed(%s : tensor<2x3x8xf32>)
    weights(%a : tensor<1x2x3x1x2xf32>) logits(%a : tensor<1x2x3x1x2xf32>)
    dots(%d : tensor<1x2x3x1xf32>) rstd(%r : tensor<3x2x2xf32>)
  return
}
