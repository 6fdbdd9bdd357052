// RUN: isobath-opt %s --split-input-file --isobath-chunk-head=tokens=4 | FileCheck %s
// RUN: isobath-opt %s --split-input-file --isobath-chunk-head=tokens=10 | FileCheck %s --check-prefix=ONE

// One chunk is no chunk.
// ONE-NOT: take_tokens

// Ten tokens in chunks of four: the second goes on in the next sequence, the
// last is shorter. The gradient of the weight is passed on; the logits are not
// joined, and nor is what only the adjoint reads.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[X:[a-z0-9_]+]]: tensor<2x5x4xf32>, %[[W:[a-z0-9_]+]]: tensor<7x4xf32>, %[[T:[a-z0-9_]+]]: tensor<2x5xi32>, %[[G:[a-z0-9_]+]]: tensor<2x5xf32>
// CHECK: %[[X0:[a-z0-9_]+]] = net.take_tokens %[[X]] {count = 4 : i64, first = 0 : i64}
// CHECK: %[[Y0:[a-z0-9_]+]] = net.linear %[[X0]], %[[W]] : {{.*}} -> tensor<1x4x7xf32>
// CHECK: %[[T0:[a-z0-9_]+]] = net.take_tokens %[[T]] {count = 4 : i64, first = 0 : i64}
// CHECK: %[[LOSS0:[a-z0-9_]+]], %[[LSE0:[a-z0-9_]+]] = net.cross_entropy %[[Y0]], %[[T0]]
// CHECK: %[[G0:[a-z0-9_]+]] = net.take_tokens %[[G]] {count = 4 : i64, first = 0 : i64}
// CHECK: %[[GY0:[a-z0-9_]+]] = net.cross_entropy_adjoint %[[Y0]], %[[T0]], %[[LSE0]], %[[G0]]
// CHECK: %[[GX0:[a-z0-9_]+]] = net.linear_input_adjoint %[[GY0]], %[[W]]
// CHECK: %[[GW0:[a-z0-9_]+]] = net.linear_weight_adjoint %[[GY0]], %[[X0]] :
// CHECK: %[[X1:[a-z0-9_]+]] = net.take_tokens %[[X]] {count = 4 : i64, first = 4 : i64}
// CHECK: net.linear %[[X1]], %[[W]]
// CHECK: %[[LOSS1:[a-z0-9_]+]], %{{.*}} = net.cross_entropy
// CHECK: %[[GX1:[a-z0-9_]+]] = net.linear_input_adjoint
// CHECK: %[[GW1:[a-z0-9_]+]] = net.linear_weight_adjoint %{{.*}}, %[[X1]], %[[GW0]] :
// CHECK: net.take_tokens %[[X]] {count = 2 : i64, first = 8 : i64}
// CHECK: net.linear {{.*}} -> tensor<1x2x7xf32>
// CHECK: %[[LOSS2:[a-z0-9_]+]], %{{.*}} = net.cross_entropy
// CHECK: %[[GX2:[a-z0-9_]+]] = net.linear_input_adjoint
// CHECK: %[[GW:[a-z0-9_]+]] = net.linear_weight_adjoint %{{.*}}, %{{.*}}, %[[GW1]] :
// CHECK: %[[LOSS:[a-z0-9_]+]] = net.join_tokens %[[LOSS0]], %[[LOSS1]], %[[LOSS2]] {sequences = 2 : i64}
// CHECK: %[[GX:[a-z0-9_]+]] = net.join_tokens %[[GX0]], %[[GX1]], %[[GX2]] {sequences = 2 : i64}
// CHECK-NOT: net.join_tokens
// CHECK: return %[[LOSS]], %[[GX]], %[[GW]]
func.func @gradient(%x: tensor<2x5x4xf32>, %w: tensor<7x4xf32>,
                    %t: tensor<2x5xi32>, %g: tensor<2x5xf32>)
    -> (tensor<2x5xf32>, tensor<2x5x4xf32>, tensor<7x4xf32>) {
  %y = net.linear %x, %w
    : (tensor<2x5x4xf32>, tensor<7x4xf32>) -> tensor<2x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<2x5x7xf32>, tensor<2x5xi32>)
    -> (tensor<2x5xf32>, tensor<2x5xf32>)
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %g
    : (tensor<2x5x7xf32>, tensor<2x5xi32>, tensor<2x5xf32>, tensor<2x5xf32>)
    -> tensor<2x5x7xf32>
  %gx = net.linear_input_adjoint %gy, %w
    : (tensor<2x5x7xf32>, tensor<7x4xf32>) -> tensor<2x5x4xf32>
  %gw = net.linear_weight_adjoint %gy, %x
    : (tensor<2x5x7xf32>, tensor<2x5x4xf32>) -> tensor<7x4xf32>
  return %loss, %gx, %gw
    : tensor<2x5xf32>, tensor<2x5x4xf32>, tensor<7x4xf32>
}

// -----

// Without a gradient, and with a log-sum-exp that the caller reads.
// CHECK-LABEL: func.func @loss
// CHECK: net.cross_entropy {{.*}} -> (tensor<1x4xf32>, tensor<1x4xf32>)
// CHECK: net.cross_entropy {{.*}} -> (tensor<1x2xf32>, tensor<1x2xf32>)
// CHECK-NOT: net.cross_entropy
// CHECK-COUNT-2: net.join_tokens
func.func @loss(%x: tensor<3x2x4xf32>, %w: tensor<7x4xf32>,
                %t: tensor<3x2xi32>)
    -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %y = net.linear %x, %w
    : (tensor<3x2x4xf32>, tensor<7x4xf32>) -> tensor<3x2x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<3x2x7xf32>, tensor<3x2xi32>)
    -> (tensor<3x2xf32>, tensor<3x2xf32>)
  return %loss, %lse : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// As it is in bf16: the logits' gradient is rounded, the results are wide.
// CHECK-LABEL: func.func @rounded
// CHECK: net.linear {{.*}} -> tensor<1x4x7xf32>
// CHECK: %[[GY:[a-z0-9_]+]] = net.cross_entropy_adjoint
// CHECK: %[[NARROW:[a-z0-9_]+]] = net.cast %[[GY]] : (tensor<1x4x7xf32>) -> tensor<1x4x7xbf16>
// CHECK: net.linear_input_adjoint %[[NARROW]], {{.*}} -> tensor<1x4x4xf32>
// CHECK: net.linear_weight_adjoint %[[NARROW]], {{.*}} -> tensor<7x4xf32>
// CHECK: net.linear_weight_adjoint {{.*}} : (tensor<1x1x7xbf16>, tensor<1x1x4xbf16>, tensor<7x4xf32>) -> tensor<7x4xf32>
func.func @rounded(%x: tensor<1x5x4xbf16>, %w: tensor<7x4xbf16>,
                   %t: tensor<1x5xi32>, %g: tensor<1x5xf32>)
    -> (tensor<1x5x4xf32>, tensor<7x4xf32>) {
  %y = net.linear %x, %w
    : (tensor<1x5x4xbf16>, tensor<7x4xbf16>) -> tensor<1x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x5x7xf32>, tensor<1x5xi32>)
    -> (tensor<1x5xf32>, tensor<1x5xf32>)
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %g
    : (tensor<1x5x7xf32>, tensor<1x5xi32>, tensor<1x5xf32>, tensor<1x5xf32>)
    -> tensor<1x5x7xf32>
  %narrow = net.cast %gy : (tensor<1x5x7xf32>) -> tensor<1x5x7xbf16>
  %gx = net.linear_input_adjoint %narrow, %w
    : (tensor<1x5x7xbf16>, tensor<7x4xbf16>) -> tensor<1x5x4xf32>
  %gw = net.linear_weight_adjoint %narrow, %x
    : (tensor<1x5x7xbf16>, tensor<1x5x4xbf16>) -> tensor<7x4xf32>
  return %gx, %gw : tensor<1x5x4xf32>, tensor<7x4xf32>
}

// -----

// Logits that the caller gets are whole anyway, and a product without a loss
// has none.
// CHECK-LABEL: func.func @logits
// CHECK-NOT: take_tokens
func.func @logits(%x: tensor<1x5x4xf32>, %w: tensor<7x4xf32>,
                  %t: tensor<1x5xi32>)
    -> (tensor<1x5x7xf32>, tensor<1x5xf32>, tensor<1x5x7xf32>) {
  %y = net.linear %x, %w
    : (tensor<1x5x4xf32>, tensor<7x4xf32>) -> tensor<1x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x5x7xf32>, tensor<1x5xi32>)
    -> (tensor<1x5xf32>, tensor<1x5xf32>)
  %z = net.linear %x, %w
    : (tensor<1x5x4xf32>, tensor<7x4xf32>) -> tensor<1x5x7xf32>
  return %y, %loss, %z
    : tensor<1x5x7xf32>, tensor<1x5xf32>, tensor<1x5x7xf32>
}

// -----

// Nor may the logits' gradient leave the head, or a sum be rounded with every
// chunk.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: take_tokens
func.func @read_elsewhere(%x: tensor<1x5x4xf32>, %w: tensor<7x4xf32>,
                          %t: tensor<1x5xi32>, %g: tensor<1x5xf32>)
    -> (tensor<1x5x4xf32>, tensor<7xf32>) {
  %y = net.linear %x, %w
    : (tensor<1x5x4xf32>, tensor<7x4xf32>) -> tensor<1x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x5x7xf32>, tensor<1x5xi32>)
    -> (tensor<1x5xf32>, tensor<1x5xf32>)
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %g
    : (tensor<1x5x7xf32>, tensor<1x5xi32>, tensor<1x5xf32>, tensor<1x5xf32>)
    -> tensor<1x5x7xf32>
  %gx = net.linear_input_adjoint %gy, %w
    : (tensor<1x5x7xf32>, tensor<7x4xf32>) -> tensor<1x5x4xf32>
  %bias = net.sum_tokens %gy : (tensor<1x5x7xf32>) -> tensor<7xf32>
  return %gx, %bias : tensor<1x5x4xf32>, tensor<7xf32>
}

// CHECK-LABEL: func.func @narrow_sum
// CHECK-NOT: take_tokens
func.func @narrow_sum(%x: tensor<1x5x4xf32>, %w: tensor<7x4xf32>,
                      %t: tensor<1x5xi32>, %g: tensor<1x5xf32>)
    -> tensor<7x4xbf16> {
  %y = net.linear %x, %w
    : (tensor<1x5x4xf32>, tensor<7x4xf32>) -> tensor<1x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x5x7xf32>, tensor<1x5xi32>)
    -> (tensor<1x5xf32>, tensor<1x5xf32>)
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %g
    : (tensor<1x5x7xf32>, tensor<1x5xi32>, tensor<1x5xf32>, tensor<1x5xf32>)
    -> tensor<1x5x7xf32>
  %gw = net.linear_weight_adjoint %gy, %x
    : (tensor<1x5x7xf32>, tensor<1x5x4xf32>) -> tensor<7x4xbf16>
  return %gw : tensor<7x4xbf16>
}

// Something between the products needs what the first one makes.
// CHECK-LABEL: func.func @read_between
// CHECK-NOT: take_tokens
func.func @read_between(%x: tensor<1x5x4xf32>, %w: tensor<7x4xf32>,
                        %t: tensor<1x5xi32>, %g: tensor<1x5xf32>)
    -> tensor<7x4xf32> {
  %y = net.linear %x, %w
    : (tensor<1x5x4xf32>, tensor<7x4xf32>) -> tensor<1x5x7xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x5x7xf32>, tensor<1x5xi32>)
    -> (tensor<1x5xf32>, tensor<1x5xf32>)
  %weighted = net.multiply %g, %loss
    : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %weighted
    : (tensor<1x5x7xf32>, tensor<1x5xi32>, tensor<1x5xf32>, tensor<1x5xf32>)
    -> tensor<1x5x7xf32>
  %gw = net.linear_weight_adjoint %gy, %x
    : (tensor<1x5x7xf32>, tensor<1x5x4xf32>) -> tensor<7x4xf32>
  return %gw : tensor<7x4xf32>
}
