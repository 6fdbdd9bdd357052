// RUN: isobath-opt %s --split-input-file --verify-diagnostics --isobath-specialize=element-type=f64

// expected-error @below {{expected a function '@model' of straight-line code}}
module {
  func.func private @model(tensor<2x3xi32>)
}

// -----

// expected-error @below {{expected tokens of type tensor<BxTxi32> as first argument, got '(tensor<2x3xf32>) -> ()'}}
func.func @model(%x: tensor<2x3xf32>) {
  return
}

// -----

func.func @model(%tokens: tensor<2x3xi32>) {
  // expected-error @below {{expected an op whose result types follow from its operands}}
  %0 = tensor.empty() : tensor<2xf32>
  return
}
