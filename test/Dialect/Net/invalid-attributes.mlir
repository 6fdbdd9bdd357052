// RUN: isobath-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// #net.parameter
//===----------------------------------------------------------------------===//

func.func @empty_name(
  // expected-error @below {{expected a parameter name in UTF-8, got ""}}
  %w: tensor<4xf32> {net.parameter = #net.parameter<name = "", initial = ones>}) {
  return
}

// -----

func.func @normal_without_std(
  // expected-error @below {{expected 'std' with, and only with, the initial values 'normal', got 'normal'}}
  %w: tensor<4xf32> {net.parameter = #net.parameter<name = "w", initial = normal>}) {
  return
}

// -----

func.func @std_without_normal(
  // expected-error @below {{expected 'std' with, and only with, the initial values 'normal', got 'zeros'}}
  %w: tensor<4xf32> {net.parameter = #net.parameter<name = "w", initial = zeros, std = 1.0>}) {
  return
}

// -----

func.func @negative_std(
  // expected-error @below {{expected 'std' to be finite and not negative, got -1.0}}
  %w: tensor<4xf32> {net.parameter = #net.parameter<name = "w", initial = normal, std = -1.0>}) {
  return
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of arguments
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 'net.parameter' to be a #net.parameter attribute, got "w"}}
func.func @not_a_parameter(%w: tensor<4xf32> {net.parameter = "w"}) {
  return
}

// -----

// expected-error @below {{expected a parameter to be a static floating-point vector or matrix, got 'tensor<2x3x4xf32>' as argument 0}}
func.func @parameter_rank(%w: tensor<2x3x4xf32> {net.parameter = #net.parameter<name = "w", initial = ones>}) {
  return
}

// -----

// expected-error @below {{expected a parameter to be a static floating-point vector or matrix, got 'tensor<?xf32>' as argument 0}}
func.func @parameter_dynamic(%w: tensor<?xf32> {net.parameter = #net.parameter<name = "w", initial = ones>}) {
  return
}

// -----

// expected-error @below {{expected a parameter to be a static floating-point vector or matrix, got 'tensor<4xi32>' as argument 1}}
func.func @parameter_element(%x: tensor<4xf32>, %w: tensor<4xi32> {net.parameter = #net.parameter<name = "w", initial = ones>}) {
  return
}

// -----

// expected-error @below {{expected 'net.name' to be a non-empty string in UTF-8, got ""}}
func.func @argument_name(%x: tensor<4xf32> {net.name = ""}) {
  return
}

// -----

// expected-error @below {{unknown argument attribute 'net.paramter'}}
func.func @unknown_argument_attribute(%x: tensor<4xf32> {net.paramter = "w"}) {
  return
}

// -----

// expected-error @below {{expected 'net.distribution' to be a dictionary with the arrays 'groups' and 'sources', got {groups = ["qk"]}}}
func.func @argument_distribution(%x: memref<4xf32> {net.distribution = {groups = ["qk"]}}) {
  return
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of results
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 'net.name' to be a non-empty string in UTF-8, got 1 : i64}}
func.func @result_name(%x: tensor<4xf32>) -> (tensor<4xf32> {net.name = 1 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected 'net.gradient' to be a non-empty string in UTF-8, got unit}}
func.func @result_gradient(%x: tensor<4xf32>) -> (tensor<4xf32> {net.gradient}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected 'net.updates' to be the index of an argument of the result's type, got 1 : i64}}
func.func @updates_range(%x: tensor<4xf32>) -> (tensor<4xf32> {net.updates = 1 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected 'net.updates' to be the index of an argument of the result's type, got 0 : i64}}
func.func @updates_type(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<5xf32> {net.updates = 0 : i64}) {
  return %y : tensor<5xf32>
}

// -----

// expected-error @below {{expected 'net.distribution' to be a dictionary with the arrays 'groups' and 'sources', got "qk"}}
func.func @result_distribution(%x: tensor<4xf32>) -> (tensor<4xf32> {net.distribution = "qk"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{unknown result attribute 'net.parameter'}}
func.func @unknown_result_attribute(%x: tensor<4xf32>) -> (tensor<4xf32> {net.parameter = "w"}) {
  return %x : tensor<4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of ops
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 'net.train' to be a dictionary, got 1 : i64}}
module attributes {net.train = 1 : i64} {
}

// -----

// expected-error @below {{unknown attribute 'net.trian'}}
module attributes {net.trian = {}} {
}

// -----

// expected-error @below {{'func.func' op expected 'net.name' to be a non-empty string in UTF-8, got "emb\FFed"}}
func.func private @name_not_utf8(tensor<4xf32> {net.name = "emb\FFed"})

// -----

func.func private @parameter_not_utf8(
    // expected-error @below {{expected a parameter name in UTF-8, got "emb}}
    tensor<4xf32> {net.parameter = #net.parameter<name = "emb\FFed", initial = ones>})
