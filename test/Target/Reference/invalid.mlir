// RUN: isobath-opt %s --split-input-file --verify-diagnostics --isobath-lower-to-reference

func.func @no_lowering(%x: tensor<4xf32> {net.name = "x"})
    -> (tensor<4xf32> {net.name = "y"}) {
  // expected-error @below {{'arith.addf' op expected an op with a reference lowering}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @constant_not_a_splat() -> (tensor<2xf32> {net.name = "y"}) {
  // expected-error @below {{'arith.constant' op expected a floating-point constant with one value throughout}}
  %y = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @below {{'func.func' op expected a name for result 0}}
func.func @unnamed_result(%x: tensor<4xf32> {net.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected the gradient of a parameter of type 'tensor<4xf32>' as result 0, got 'w'}}
func.func @gradient_of_nothing(%x: tensor<4xf32> {net.name = "x"})
    -> (tensor<4xf32> {net.gradient = "w"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected the gradient of a parameter of type 'tensor<4xf32>' as result 0, got 'w'}}
func.func @gradient_of_another_type(%x: tensor<4xf32> {net.name = "x"},
    %w: tensor<5xf32> {net.parameter = #net.parameter<name = "w", initial = ones>})
    -> (tensor<4xf32> {net.gradient = "w"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected straight-line code, got 2 blocks}}
func.func @branch(%x: tensor<4xf32> {net.name = "x"})
    -> (tensor<4xf32> {net.name = "y"}) {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected arguments that are static tensors, got 'f32'}}
func.func @scalar_argument(%x: f32 {net.name = "x"}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected arguments that are static tensors, got 'memref<4xf32>'}}
func.func @lowered_twice(%x: memref<4xf32> {net.name = "x"}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected arguments that are static tensors, got 'tensor<?xf32>'}}
func.func @dynamic_argument(%x: tensor<?xf32> {net.name = "x"}) {
  return
}

// -----

func.func @scalar_value(%x: tensor<4xf32> {net.name = "x"}) {
  // expected-error @below {{'arith.constant' op expected results that are static tensors, got 'f32'}}
  %c = arith.constant 1.0 : f32
  return
}

// -----

// expected-error @below {{expected parameters of different names, got 'w' twice}}
func.func @names(
    %a: tensor<4xf32> {net.parameter = #net.parameter<name = "w", initial = ones>},
    %b: tensor<4xf32> {net.parameter = #net.parameter<name = "w", initial = ones>}) {
  return
}

// -----

// expected-error @below {{'func.func' op expected result 0, which updates an argument, to be computed, got an argument}}
func.func @update_by_argument(%a: tensor<4xf32> {net.name = "a"},
                              %b: tensor<4xf32> {net.name = "b"})
    -> (tensor<4xf32> {net.updates = 0 : i64}) {
  return %b : tensor<4xf32>
}
