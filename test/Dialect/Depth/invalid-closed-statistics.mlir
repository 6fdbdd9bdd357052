// RUN: isobath-opt %s --split-input-file --verify-diagnostics

func.func @closed_statistics_c1_count(
    %lse: tensor<2x2x3x1xf32>,
    %logits: tensor<2x2x3x1x2xf32>) {
  // expected-error @below {{expected 'query_count' to be positive, got 0}}
  %alpha, %cl = depth.closed_statistics of 0 queries from 0
    lse(%lse : tensor<2x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
  return
}

// -----

func.func @closed_statistics_c1_above(
    %lse: tensor<2x2x3x1xf32>,
    %logits: tensor<2x2x3x1x2xf32>) {
  // expected-error @below {{'depth.closed_statistics' op expected 'first_query' such that 2 of the 2 queries of 'logits' follow, got 1}}
  %alpha, %cl = depth.closed_statistics of 2 queries from 1
    lse(%lse : tensor<2x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
  return
}

// -----

func.func @closed_statistics_c1_negative(
    %lse: tensor<2x2x3x1xf32>,
    %logits: tensor<2x2x3x1x2xf32>) {
  // expected-error @below {{'depth.closed_statistics' op expected 'first_query' such that 1 of the 2 queries of 'logits' follow, got -1}}
  %alpha, %cl = depth.closed_statistics of 1 queries from -1
    lse(%lse : tensor<2x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
  return
}

// -----

func.func @closed_statistics_c2(
    %lse: tensor<1x2x3x1xf32>,
    %logits: tensor<2x2x3x1x2xf32>) {
  // expected-error @below {{'depth.closed_statistics' op expected 'lse' of type 'tensor<2x2x3x1xf32>', got 'tensor<1x2x3x1xf32>'}}
  %alpha, %cl = depth.closed_statistics of 1 queries from 0
    lse(%lse : tensor<1x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
  return
}

// -----

func.func @closed_statistics_c2_type(
    %lse: tensor<2x2x3x1xf64>,
    %logits: tensor<2x2x3x1x2xf32>) {
  // expected-error @below {{'depth.closed_statistics' op expected 'lse' of type 'tensor<2x2x3x1xf32>', got 'tensor<2x2x3x1xf64>'}}
  %alpha, %cl = depth.closed_statistics of 1 queries from 0
    lse(%lse : tensor<2x2x3x1xf64>) logits(%logits : tensor<2x2x3x1x2xf32>)
  return
}

// -----

func.func @closed_statistics_c3(
    %lse: tensor<2x2x3x1xf32>,
    %logits: tensor<2x2x3x1x2xf32>,
    %a: tensor<1x2x3x1x2xf32>) {
  // expected-error @below {{'depth.closed_statistics' op expected 'merged' of type 'tensor<1x2x3x1x1xf32>', got 'tensor<1x2x3x1x2xf32>'}}
  %alpha, %cl = depth.closed_statistics of 1 queries from 0
    lse(%lse : tensor<2x2x3x1xf32>) logits(%logits : tensor<2x2x3x1x2xf32>)
    merged(%a : tensor<1x2x3x1x2xf32>)
  return
}
