// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation. Lists whose types differ are written in the generic form, since
// the custom one has a single type for each list.

//===----------------------------------------------------------------------===//
// Route
//===----------------------------------------------------------------------===//

func.func @route_c1_no_query(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected at least one query and one closed source}}
  %a, %l, %r = depth.route queries( : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c1_no_closed_source(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>) {
  // expected-error @below {{expected at least one query and one closed source}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed( : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c1_generic(%w: tensor<8xf32>, %p: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected at least one closed source}}
  %0:4 = "depth.route"(%w, %p) <{operandSegmentSizes = array<i32: 1, 0, 1>,
      heads = 1 : i64, epsilon = 1.0e-6 : f64}>
    : (tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x1xf32>, tensor<1x2x3x1x1xf32>,
        tensor<2x3x1xf32>)
  return
}

// -----

func.func @route_c2_closed(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                           %b0: tensor<3x2x8xf32>) {
  // expected-error @below {{'depth.route' op expected every closed source of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 1}}
  %0:4 = "depth.route"(%w, %e, %b0) <{operandSegmentSizes = array<i32: 1, 2, 0>,
      heads = 1 : i64, epsilon = 1.0e-6 : f64}>
    : (tensor<8xf32>, tensor<2x3x8xf32>, tensor<3x2x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
        tensor<2x3x2xf32>)
  return
}

// -----

func.func @route_c2_partial(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                            %p: tensor<2x3x8xf64>) {
  // expected-error @below {{'depth.route' op expected the partial of type 'tensor<2x3x8xf32>', got 'tensor<2x3x8xf64>'}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf64>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c3_length(%w: tensor<9xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected every query of type 'tensor<8xf32>', got 'tensor<9xf32>' at index 0}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<9xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c3_arithmetic(%w: tensor<8xbf16>, %e: tensor<2x3x8xbf16>) {
  // expected-error @below {{'depth.route' op expected every query of type 'tensor<8xf32>', got 'tensor<8xbf16>' at index 0}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xbf16>)
    closed(%e : tensor<2x3x8xbf16>) heads(1) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c4_divides(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected 'heads' to divide the 8 channels of a source, got 3}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(3) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c4_zero(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected 'heads' to be positive, got 0}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(0) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c4_negative(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected 'heads' to be positive, got -2}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(-2) {epsilon = 1.0e-6 : f64}
  return
}

// -----

func.func @route_c5_zero(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected 'epsilon' to be positive and finite in f32, got 0}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 0.0 : f64}
  return
}

// -----

func.func @route_c5_infinite(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected 'epsilon' to be positive and finite in f32, got +Inf}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 0x7FF0000000000000 : f64}
  return
}

// -----

func.func @route_c6(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op expected one of the 'groups' for each of the 1 queries, got 2}}
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, groups = ["qk", "v"]}
  return
}

// -----

func.func @route_result_types(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.route' op inferred type(s)}}
  // expected-error @below {{'depth.route' op failed to infer returned types}}
  %0:4 = "depth.route"(%w, %e) <{operandSegmentSizes = array<i32: 1, 1, 0>,
      heads = 1 : i64, epsilon = 1.0e-6 : f64}>
    : (tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x2xf32>, tensor<1x2x3x1x2xf32>,
        tensor<2x3x2xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

func.func @fixed_read_c1(%p: tensor<2x3x8xf32>) {
  // expected-error @below {{expected at least one closed source}}
  %v = depth.fixed_read newest closed( : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return
}

// -----

func.func @fixed_read_c1_generic(%p: tensor<2x3x8xf32>) {
  // expected-error @below {{'depth.fixed_read' op expected at least one closed source}}
  %v = "depth.fixed_read"(%p) <{operandSegmentSizes = array<i32: 0, 1>,
      rule = #depth<rule newest>}> : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @fixed_read_c2(%e: tensor<2x3x8xf32>, %p: tensor<2x3x4xf32>) {
  // expected-error @below {{'depth.fixed_read' op expected every source of type 'tensor<2x3x8xf32>', got 'tensor<2x3x4xf32>' at index 1}}
  %v = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x4xf32>)
  return
}

// -----

func.func @fixed_read_rule(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected ::isobath::depth::FixedRule to be one of: uniform, newest, embedding}}
  // expected-error @below {{custom op 'depth.fixed_read' failed to parse Depth_FixedRuleAttr parameter 'value'}}
  %v = depth.fixed_read oldest closed(%e : tensor<2x3x8xf32>)
  return
}

// -----

func.func @running_sum_types(%s: tensor<2x3x8xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error @below {{'depth.running_sum' op failed to verify that all of {older, source} have same type}}
  %0 = "depth.running_sum"(%s, %b)
    : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  return
}

// -----

func.func @fixed_distribution_c1(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected 'source_count' to be positive, got 0}}
  %a = depth.fixed_distribution newest of 0 sources like %e : tensor<2x3x8xf32>
  return
}

// -----

func.func @fixed_distribution_c1_generic(%e: tensor<2x3x8xf32>) {
  // expected-error @below {{expected 'source_count' to be positive, got -1}}
  // expected-error @below {{'depth.fixed_distribution' op failed to infer returned types}}
  %a = "depth.fixed_distribution"(%e)
    <{rule = #depth<rule newest>, source_count = -1 : i64}>
    : (tensor<2x3x8xf32>) -> tensor<1x2x3x1x1xf32>
  return
}
