// RUN: isobath-opt %s --split-input-file --verify-diagnostics

func.func @static_read_c1(%p: tensor<2x3x8xf32>) {
  // expected-error @below {{expected at least one mixture and one closed source}}
  %a = depth.static_read mixtures( : tensor<1xf32>)
    closed(%p : tensor<2x3x8xf32>)
  return
}

// -----

func.func @static_read_c1_generic(%m: tensor<1xf32>, %e: tensor<2x3x8xf32>,
                                  %a: tensor<1x2x3x1x1xf32>) {
  // expected-error @below {{'depth.static_read' op expected at least one closed source}}
  %0:2 = "depth.static_read"(%m, %e)
    <{operandSegmentSizes = array<i32: 1, 0, 1>}>
    : (tensor<1xf32>, tensor<2x3x8xf32>)
      -> (tensor<2x3x8xf32>, tensor<1x2x3x1x1xf32>)
  return
}

// -----

func.func @static_read_c1_no_mixture(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.static_read' op expected at least one mixture}}
  %a = "depth.static_read"(%e)
    <{operandSegmentSizes = array<i32: 0, 1, 0>}>
    : (tensor<2x3x8xf32>) -> tensor<1x2x3x1x1xf32>
  return
}

// -----

func.func @static_read_c2(%m: tensor<2xf32>, %e: tensor<2x3x8xf32>,
                          %p: tensor<2x3x4xf32>) {
  // expected-error @below {{expected the partial of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>'}}
  %h, %a = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x4xf32>)
  return
}

// -----

func.func @static_read_c2_closed(%m: tensor<2xf32>, %e: tensor<2x3x8xf32>,
                                 %b: tensor<2x3x4xf32>) {
  // expected-error @below {{expected every closed source of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 1}}
  %0:2 = "depth.static_read"(%m, %e, %b)
    <{operandSegmentSizes = array<i32: 1, 2, 0>}>
    : (tensor<2xf32>, tensor<2x3x8xf32>, tensor<2x3x4xf32>)
      -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>)
  return
}

// -----

func.func @static_read_c3(%m: tensor<2xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected every mixture of type 'tensor<3xf32>', got 'tensor<2xf32>' at index 0}}
  %h, %a = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e, %e : tensor<2x3x8xf32>) partial(%e : tensor<2x3x8xf32>)
  return
}

// -----

func.func @static_read_c3_arithmetic(%m: tensor<1xf32>, %e: tensor<2x3x8xf64>) {
  // expected-error @below {{expected every mixture of type 'tensor<1xf64>', got 'tensor<1xf32>' at index 0}}
  %h, %a = depth.static_read mixtures(%m : tensor<1xf32>)
    closed(%e : tensor<2x3x8xf64>)
  return
}

// -----

func.func @static_read_c4(%m: tensor<1xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected one of the 'groups' for each of the 1 mixtures, got 2}}
  %h, %a = depth.static_read mixtures(%m : tensor<1xf32>)
    closed(%e : tensor<2x3x8xf32>) {groups = ["qk", "v"]}
  return
}

// -----

func.func @static_read_of_vectors(%m: tensor<1xf32>) {
  // expected-error @below {{expected a closed source to be a static floating-point tensor with 3 axes, got 'tensor<1xf32>'}}
  %h, %a = depth.static_read mixtures(%m : tensor<1xf32>)
    closed(%m : tensor<1xf32>)
  return
}

// -----

func.func @static_read_adjoint_c1(%m: tensor<1xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.static_read_adjoint' op expected 1 gradients, got 2}}
  %ge, %gm = depth.static_read_adjoint mixtures(%m : tensor<1xf32>)
    gradients(%e, %e : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
  return
}

// -----

func.func @static_read_adjoint_c1_sources(%m: tensor<1xf32>,
                                          %e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected at least one mixture and one closed source}}
  %gm = depth.static_read_adjoint mixtures(%m : tensor<1xf32>)
    gradients(%e : tensor<2x3x8xf32>) closed( : tensor<2x3x8xf32>)
  return
}

// -----

func.func @static_read_adjoint_c2(%m: tensor<1xf32>, %g: tensor<2x3x4xf32>,
                                  %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.static_read_adjoint' op expected every gradient of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 0}}
  %ge, %gm = depth.static_read_adjoint mixtures(%m : tensor<1xf32>)
    gradients(%g : tensor<2x3x4xf32>) closed(%e : tensor<2x3x8xf32>)
  return
}

// -----

func.func @static_read_adjoint_c3(%m: tensor<3xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.static_read_adjoint' op expected every mixture of type 'tensor<1xf32>', got 'tensor<3xf32>' at index 0}}
  %ge, %gm = depth.static_read_adjoint mixtures(%m : tensor<3xf32>)
    gradients(%e : tensor<2x3x8xf32>) closed(%e : tensor<2x3x8xf32>)
  return
}
