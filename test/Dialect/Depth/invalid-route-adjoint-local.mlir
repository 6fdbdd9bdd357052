// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation. Lists whose types differ are written in the generic form, since
// the custom one has a single type for each list.

func.func @route_adjoint_local_c1_query(%s: tensor<2x3x8xf32>,
                                        %a: tensor<1x2x3x1x2xf32>,
                                        %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected at least one query}}
  %dots = depth.route_adjoint_local queries( : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c1_no_gradient(%w: tensor<8xf32>,
                                              %a: tensor<1x2x3x1x2xf32>,
                                              %r: tensor<2x3x2xf32>) {
  // expected-error @below {{expected at least one gradient}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients( : tensor<2x3x8xf32>) mixes( : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c1_generic(%w: tensor<8xf32>,
                                          %a: tensor<1x2x3x1x2xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 1 gradients, got 0}}
  %dots = "depth.route_adjoint_local"(%w, %a, %a, %r)
    <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1, 1>}>
    : (tensor<8xf32>, tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
       tensor<2x3x2xf32>) -> tensor<1x2x3x1xf32>
  return
}

// -----

func.func @route_adjoint_local_c1_gradients(%w: tensor<8xf32>,
                                            %s: tensor<2x3x8xf32>,
                                            %a: tensor<1x2x3x1x2xf32>,
                                            %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 1 gradients, got 2}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s, %s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c1_mixes(%w: tensor<8xf32>,
                                        %s: tensor<2x3x8xf32>,
                                        %a: tensor<1x2x3x1x2xf32>,
                                        %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 1 mixes, got 2}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s, %s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c1_mix_type(%w: tensor<8xf32>,
                                           %s: tensor<2x3x8xf32>,
                                           %h: tensor<3x2x8xf32>,
                                           %a: tensor<1x2x3x1x2xf32>,
                                           %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected every mix of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 0}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%h : tensor<3x2x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c1_gradient_type(%w: tensor<8xf32>,
                                                %s: tensor<2x3x8xf32>,
                                                %h: tensor<3x2x8xf32>,
                                                %a: tensor<2x2x3x1x2xf32>,
                                                %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected every gradient of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 1}}
  %dots = "depth.route_adjoint_local"(%w, %w, %s, %h, %s, %s, %a, %a, %r)
    <{operandSegmentSizes = array<i32: 2, 2, 2, 0, 1, 1, 1>}>
    : (tensor<8xf32>, tensor<8xf32>, tensor<2x3x8xf32>, tensor<3x2x8xf32>,
       tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x1x2xf32>,
       tensor<2x2x3x1x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x3x1xf32>
  return
}

// -----

func.func @route_adjoint_local_c1_partial(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %p: tensor<3x2x8xf32>,
                                          %a: tensor<1x2x3x1x2xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected the partial of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>'}}
  %dots, %gp, %gw = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    partial(%p : tensor<3x2x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c2(%w: tensor<7xf32>, %s: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x1x2xf32>,
                                  %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %dots = depth.route_adjoint_local queries(%w : tensor<7xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c3_heads(%w: tensor<8xf32>,
                                        %s: tensor<2x3x8xf32>,
                                        %a: tensor<1x2x3x3x2xf32>,
                                        %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected the heads of 'weights' to divide the 8 channels of a gradient, got 3}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x3x2xf32>, tensor<1x2x3x3x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c3_weights(%w: tensor<8xf32>,
                                          %s: tensor<2x3x8xf32>,
                                          %a: tensor<2x2x3x1x2xf32>,
                                          %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 'weights' of type 'tensor<1x2x3x1x2xf32>', got 'tensor<2x2x3x1x2xf32>'}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<2x2x3x1x2xf32>, tensor<2x2x3x1x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c3_logits(%w: tensor<8xf32>,
                                         %s: tensor<2x3x8xf32>,
                                         %a: tensor<1x2x3x1x2xf32>,
                                         %l: tensor<1x2x3x2x2xf32>,
                                         %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 'logits' of type 'tensor<1x2x3x1x2xf32>', got 'tensor<1x2x3x2x2xf32>'}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %l, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x2x2xf32>,
          tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_adjoint_local_c3_rstd(%w: tensor<8xf32>, %s: tensor<2x3x8xf32>,
                                       %a: tensor<1x2x3x1x2xf32>,
                                       %r: tensor<2x4x2xf32>) {
  // expected-error @below {{'depth.route_adjoint_local' op expected 'rstd' of type 'tensor<2x3x2xf32>', got 'tensor<2x4x2xf32>'}}
  %dots = depth.route_adjoint_local queries(%w : tensor<8xf32>)
    gradients(%s : tensor<2x3x8xf32>) mixes(%s : tensor<2x3x8xf32>)
    saved(%a, %a, %r : tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
          tensor<2x4x2xf32>)
  return
}
