// RUN: isobath-opt %s --isobath-differentiate="function=square result=square_gradient" | FileCheck %s

// CHECK-LABEL: func.func @square(
// CHECK-LABEL: func.func @square_gradient(
// CHECK-LABEL: func.func @other(
// CHECK-NOT: func.func
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = net.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
