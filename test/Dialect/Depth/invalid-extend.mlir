// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

func.func @extend_c1_query(%s: tensor<2x3x8xf32>, %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected at least one query}}
  %a, %l, %r = depth.extend queries( : tensor<8xf32>)
    mixes( : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c1_mixes(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected 1 older mixes, got 2}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s, %s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c1_newer(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{expected at least one newer source}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer( : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c1_type(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %o: tensor<3x2x8xf32>, %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected every older mix of type 'tensor<2x3x8xf32>', got 'tensor<3x2x8xf32>' at index 0}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%o : tensor<3x2x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c2(%s: tensor<2x3x8xf32>, %w: tensor<7xf32>,
    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected every query of type 'tensor<8xf32>', got 'tensor<7xf32>' at index 0}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<7xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c3_queries(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected 'first_query' such that 1 of the 1 queries of 'lse' follow, got 1}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 1 : i64}
  return
}

// -----

func.func @extend_c3_heads(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x2x3x3xf32>) {
  // expected-error @below {{'depth.extend' op expected the heads of 'lse' to divide the 8 channels of a source, got 3}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x3xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c3_tokens(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x3x2x1xf32>) {
  // expected-error @below {{'depth.extend' op expected 'lse' of type 'tensor<1x2x3x1xf32>', got 'tensor<1x3x2x1xf32>'}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x3x2x1xf32>) {epsilon = 1.0e-6 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @extend_c4(%s: tensor<2x3x8xf32>, %w: tensor<8xf32>,
    %lse: tensor<1x2x3x1xf32>) {
  // expected-error @below {{'depth.extend' op expected 'epsilon' to be positive and finite in f32, got 0}}
  %h, %a, %l, %r = depth.extend queries(%w : tensor<8xf32>)
    mixes(%s : tensor<2x3x8xf32>) newer(%s : tensor<2x3x8xf32>)
    lse(%lse : tensor<1x2x3x1xf32>) {epsilon = 0.0 : f64, first_query = 0 : i64}
  return
}

// -----

func.func @statistics_c1_queries(
    %lse: tensor<1x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x2xf32>,
    %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x3xf32>, %r: tensor<2x3x3xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'first_query' such that 1 of the 1 queries of 'logits' follow, got 1}}
  %0:3 = depth.extended_statistics from 1 lse(%lse : tensor<1x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x2xf32>)
    newer(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @statistics_c1_lse(
    %lse: tensor<2x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x2xf32>,
    %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x3xf32>, %r: tensor<2x3x3xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'lse' of type 'tensor<1x2x3x1xf32>', got 'tensor<2x2x3x1xf32>'}}
  %0:3 = depth.extended_statistics from 0 lse(%lse : tensor<2x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x2xf32>)
    newer(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @statistics_c1_rstd(
    %lse: tensor<1x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x3xf32>,
    %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x3xf32>, %r: tensor<2x3x3xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'rstd' of type 'tensor<2x3x2xf32>', got 'tensor<2x3x3xf32>'}}
  %0:3 = depth.extended_statistics from 0 lse(%lse : tensor<1x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x3xf32>)
    newer(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @statistics_c2_weights(
    %lse: tensor<1x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x2xf32>,
    %a: tensor<1x3x2x1x3xf32>, %l: tensor<1x2x3x1x3xf32>, %r: tensor<2x3x3xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'new_weights' of type 'tensor<1x2x3x1x3xf32>', got 'tensor<1x3x2x1x3xf32>'}}
  %0:3 = depth.extended_statistics from 0 lse(%lse : tensor<1x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x2xf32>)
    newer(%a, %l, %r : tensor<1x3x2x1x3xf32>, tensor<1x2x3x1x3xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @statistics_c2_logits(
    %lse: tensor<1x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x2xf32>,
    %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x2xf32>, %r: tensor<2x3x3xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'new_logits' of type 'tensor<1x2x3x1x3xf32>', got 'tensor<1x2x3x1x2xf32>'}}
  %0:3 = depth.extended_statistics from 0 lse(%lse : tensor<1x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x2xf32>)
    newer(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x2xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @statistics_c2_rstd(
    %lse: tensor<1x2x3x1xf32>, %logits: tensor<1x2x3x1x2xf32>, %rstd: tensor<2x3x2xf32>,
    %a: tensor<1x2x3x1x3xf32>, %l: tensor<1x2x3x1x3xf32>, %r: tensor<2x3x2xf32>) {
  // expected-error @below {{'depth.extended_statistics' op expected 'new_rstd' of type 'tensor<2x3x3xf32>', got 'tensor<2x3x2xf32>'}}
  %0:3 = depth.extended_statistics from 0 lse(%lse : tensor<1x2x3x1xf32>)
    logits(%logits : tensor<1x2x3x1x2xf32>) rstd(%rstd : tensor<2x3x2xf32>)
    newer(%a, %l, %r : tensor<1x2x3x1x3xf32>, tensor<1x2x3x1x3xf32>, tensor<2x3x2xf32>)
  return
}
