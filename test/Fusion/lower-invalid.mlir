// RUN: isobath-opt %s --split-input-file --verify-diagnostics --isobath-lower-to-rows

func.func @f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error@+1 {{'net.add' op expected f32 or bf16, in which row kernels store, got 'tensor<4xf64>'}}
  %0 = net.add %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @f64_product(%x: tensor<2x3x8xf64>, %w: tensor<8x8xf64>)
    -> tensor<2x3x8xf64> {
  // expected-error@+1 {{'net.linear' op expected f32 or bf16, in which row kernels store, got 'tensor<2x3x8xf64>'}}
  %0 = net.linear %x, %w
    : (tensor<2x3x8xf64>, tensor<8x8xf64>) -> tensor<2x3x8xf64>
  return %0 : tensor<2x3x8xf64>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tensor.cast' op expected an op with a row kernel}}
  %0 = tensor.cast %x : tensor<4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @constant() -> tensor<2xf32> {
  // expected-error@+1 {{'arith.constant' op expected a floating-point constant with one value throughout}}
  %0 = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected straight-line code, got 2 blocks}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
