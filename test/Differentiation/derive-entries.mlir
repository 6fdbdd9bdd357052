// RUN: isobath-opt %s --isobath-derive-entries=entries=logits,loss,gradient,routes,accumulate,norm,update | FileCheck %s
// RUN: isobath-opt %s --isobath-derive-entries=entries=norm,loss | FileCheck %s --check-prefix=SOME

// A model with a matrix, two vectors, a learned route and a fixed one.

module @tiny attributes {net.train = {adam_epsilon = 1.0e-08 : f64, betas = [9.0e-01, 9.5e-01], weight_decay = 1.0e-01 : f64}} {
  func.func @model(
      %tokens: tensor<2x3xi32> {net.name = "tokens"},
      %norm: tensor<8xf32> {net.parameter = #net.parameter<name = "norm.weight", initial = ones>},
      %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = normal, std = 2.0e-02>},
      %query: tensor<8xf32> {net.parameter = #net.parameter<name = "final.route.query", initial = zeros>})
      -> (tensor<2x3x5xf32> {net.name = "logits"}) {
    %e = net.embedding %table, %tokens
      : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
    %p = net.rms_norm %e, %norm {epsilon = 1.0e-6 : f64}
      : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    %v = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
      partial(%p : tensor<2x3x8xf32>) {site = "layers.0.attn", group = "v"}
    %h, %a, %l, %r = depth.route queries(%query : tensor<8xf32>)
      closed(%e, %v : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
      heads(2) {epsilon = 1.0e-6 : f64, site = "final", groups = ["out"]}
    %y = net.linear %h, %table
      : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
    return %y : tensor<2x3x5xf32>
  }
}

// The order is the one asked for, and the model itself goes.
// CHECK-NOT: @model
// SOME-NOT: func.func @model
// SOME: func.func @norm
// SOME: func.func @loss
// SOME-NOT: func.func

// CHECK-LABEL: func.func @logits
// CHECK-SAME: %{{.*}}: tensor<2x3xi32> {net.name = "tokens"}
// CHECK-SAME: net.parameter = #net.parameter<name = "norm.weight", initial = ones>
// CHECK-SAME: net.parameter = #net.parameter<name = "embed.weight"
// CHECK-SAME: net.parameter = #net.parameter<name = "final.route.query"
// CHECK-SAME: -> (tensor<2x3x5xf32> {net.name = "logits"})
// CHECK: %[[LOGITS:[a-z0-9_]+]] = net.linear
// CHECK: return %[[LOGITS]]

// CHECK-LABEL: func.func @loss
// CHECK-SAME: %{{.*}}: tensor<2x3xi32> {net.name = "tokens"}, %[[TARGETS:[a-z0-9_]+]]: tensor<2x3xi32> {net.name = "targets"}
// CHECK-SAME: -> (tensor<2x3xf32> {net.name = "losses"})
// CHECK: %[[LOGITS:[a-z0-9_]+]] = net.linear
// CHECK: %[[LOSSES:[a-z0-9_]+]], %{{.*}} = net.cross_entropy %[[LOGITS]], %[[TARGETS]]
// CHECK: return %[[LOSSES]]

// The gradients come in the order of the parameters' layout: matrices first.
// Each token's loss counts `scale` times.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[TOKENS:[a-z0-9_]+]]: tensor<2x3xi32> {net.name = "tokens"}, %[[TARGETS:[a-z0-9_]+]]: tensor<2x3xi32> {net.name = "targets"}, %[[SCALE:[a-z0-9_]+]]: tensor<f32> {net.name = "scale"}
// CHECK-SAME: -> (tensor<2x3xf32> {net.name = "losses"}, tensor<5x8xf32> {net.gradient = "embed.weight"}, tensor<8xf32> {net.gradient = "norm.weight"}, tensor<8xf32> {net.gradient = "final.route.query"})
// CHECK: %[[LOGITS:[a-z0-9_]+]] = net.linear
// CHECK: %[[LOSSES:[a-z0-9_]+]], %[[LSE:[a-z0-9_]+]] = net.cross_entropy %[[LOGITS]], %[[TARGETS]]
// CHECK: %[[G:[a-z0-9_]+]] = net.broadcast %[[SCALE]] : (tensor<f32>) -> tensor<2x3xf32>
// CHECK: net.cross_entropy_adjoint %[[LOGITS]], %[[TARGETS]], %[[LSE]], %[[G]]
// CHECK: %[[HEAD:[a-z0-9_]+]] = net.linear_weight_adjoint
// CHECK: depth.route_adjoint_local
// CHECK: depth.route_adjoint_deferred
// CHECK: %[[QUERY:[a-z0-9_]+]] = net.add
// CHECK: %{{.*}}, %[[NORM:[a-z0-9_]+]] = net.rms_norm_adjoint
// CHECK: %[[LOOKUP:[a-z0-9_]+]] = net.embedding_adjoint %{{.*}}, %[[TOKENS]]
// CHECK: %[[TABLE:[a-z0-9_]+]] = net.add %[[HEAD]], %[[LOOKUP]]
// CHECK: return %[[LOSSES]], %[[TABLE]], %[[NORM]], %[[QUERY]]

// Every site has a distribution, in the order in which the sites run; fixed
// reads have theirs made for the report.
// CHECK-LABEL: func.func @routes
// CHECK-SAME: -> (tensor<1x2x3x1x2xf32> {net.distribution = {groups = ["v"], sources = ["embedding", "partial"]}, net.name = "layers.0.attn"}, tensor<1x2x3x2x3xf32> {net.distribution = {groups = ["out"], sources = ["embedding", "block 0", "partial"]}, net.name = "final"})
// CHECK: %{{.*}}, %[[WEIGHTS:[a-z0-9_]+]], %{{.*}}, %{{.*}} = depth.route
// CHECK: %[[FIXED:[a-z0-9_]+]] = depth.fixed_distribution newest of 2 sources
// CHECK: return %[[FIXED]], %[[WEIGHTS]]

// The parameters' vector: 5·8 elements of the matrix, padded to a multiple of
// 64 bytes, then two vectors of 8, each padded: 48 + 16 + 16.
// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: (%[[TOTAL:[a-z0-9_]+]]: tensor<80xf32> {net.name = "total"}, %[[G:[a-z0-9_]+]]: tensor<80xf32> {net.name = "gradients"})
// CHECK-SAME: -> (tensor<80xf32> {net.updates = 0 : i64})
// CHECK: %[[SUM:[a-z0-9_]+]] = net.add %[[TOTAL]], %[[G]]
// CHECK: return %[[SUM]]

// CHECK-LABEL: func.func @norm
// CHECK-SAME: (%[[G:[a-z0-9_]+]]: tensor<80xf32> {net.name = "gradients"})
// CHECK-SAME: -> (tensor<f64> {net.name = "norm"})
// CHECK: net.squared_norm %[[G]]

// Only the matrix decays.
// CHECK-LABEL: func.func @update
// CHECK-SAME: (%{{.*}}: tensor<80xf32> {net.name = "parameters"}, %{{.*}}: tensor<80xf32> {net.name = "gradients"}, %{{.*}}: tensor<80xf32> {net.name = "first_moment"}, %{{.*}}: tensor<80xf32> {net.name = "second_moment"}, %{{.*}}: tensor<4xf32> {net.name = "scalars"})
// CHECK-SAME: -> (tensor<80xf32> {net.updates = 0 : i64}, tensor<80xf32> {net.updates = 2 : i64}, tensor<80xf32> {net.updates = 3 : i64})
// CHECK: %[[P:[a-z0-9_]+]], %[[M:[a-z0-9_]+]], %[[V:[a-z0-9_]+]] = net.adamw
// CHECK-SAME: beta1 = 9.0{{.*}}, beta2 = 0.94999{{.*}}, decay_elements = 48 : i64, epsilon = 1.0{{.*}}e-08 : f64, weight_decay = 1.0
// CHECK: return %[[P]], %[[M]], %[[V]]
