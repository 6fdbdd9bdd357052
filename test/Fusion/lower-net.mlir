// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows | FileCheck %s

// A row is a token; the table is read at the token's id.
// CHECK-LABEL: func.func @lookup
// CHECK-NEXT: row.call @embedding(%{{.*}}, %{{.*}}) {rows = 6 : i64} : (tensor<16x8xf32>, tensor<2x3xi32>) -> (tensor<2x3x8xf32>)
// CHECK-LABEL: row.kernel private @embedding(
// CHECK-SAME: %table: !row.matrix<8xf32>, %ids: !row.scalars<i32>) -> (%output: !row.matrix<8xf32>)
// CHECK: %[[ID:.*]] = row.load_scalar %ids[%c0]
// CHECK-NEXT: %[[ROW:.*]] = arith.index_cast %[[ID]]
// CHECK-NEXT: %[[VALUE:.*]] = row.load %table[%[[ROW]]]
// CHECK-NEXT: row.store %[[VALUE]], %output
// CHECK-NEXT: row.return
func.func @lookup(%table: tensor<16x8xf32>, %ids: tensor<2x3xi32>)
    -> tensor<2x3x8xf32> {
  %y = net.embedding %table, %ids
    : (tensor<16x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// A row is an id, which adds the gradients of its tokens in their order.
// CHECK-LABEL: func.func @lookup_adjoint
// CHECK-NEXT: %[[STARTS:.*]], %[[ORDER:.*]] = net.group_tokens %arg1 {vocabulary = 16 : i64} : (tensor<2x3xi32>) -> (tensor<17xi32>, tensor<6xi32>)
// CHECK-NEXT: row.call @embedding_adjoint(%arg0, %[[STARTS]], %[[ORDER]]) {rows = 16 : i64}
// CHECK-LABEL: row.kernel private @embedding_adjoint(
// CHECK-SAME: %gradient: !row.matrix<8xf32>, %starts: !row.vector<17xi32>, %order: !row.vector<6xi32>)
// CHECK: %[[ID:.*]] = row.index
// CHECK: row.load_scalar %starts[%[[ID]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[ID]], %c1
// CHECK: row.load_scalar %starts[%[[NEXT]]]
// CHECK: %[[TOTAL:.*]] = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c1 iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK: row.load_scalar %order[%[[J]]]
// CHECK: %[[G:.*]] = row.load %gradient[%{{.*}}]
// CHECK: arith.addf %[[SUM]], %[[G]] fastmath<contract>
// CHECK: row.store %[[TOTAL]], %table_gradient
func.func @lookup_adjoint(%g: tensor<2x3x8xf32>, %ids: tensor<2x3xi32>)
    -> tensor<16x8xf32> {
  %y = net.embedding_adjoint %g, %ids {rows = 16 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// A norm of heads has a row for each head, and the kernel of a norm of tokens
// as narrow.
// CHECK-LABEL: func.func @norms
// CHECK-NEXT: row.call @rms_norm(%arg0, %arg1) {rows = 12 : i64} : (tensor<2x3x8xf32>, tensor<4xf32>)
// CHECK-NEXT: row.call @rms_norm(%arg2, %arg1) {rows = 6 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>)
// CHECK-NEXT: row.call @rms_norm_0(%arg0, %{{.*}}) {rows = 6 : i64} : (tensor<2x3x8xf32>, tensor<8xf32>)
// CHECK-LABEL: row.kernel private @rms_norm(
// CHECK-SAME: %x: !row.matrix<4xf32>, %weight: !row.vector<4xf32>) -> (%y: !row.matrix<4xf32>)
// CHECK: %[[X:.*]] = row.load %x
// CHECK-NEXT: %[[SQUARES:.*]] = arith.mulf %[[X]], %[[X]] fastmath<contract>
// CHECK-NEXT: %[[SUM:.*]] = vector.reduction <add>, %[[SQUARES]]
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[SUM]], %{{.*}}
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.addf %[[MEAN]], %{{.*}}
// CHECK-NEXT: %[[ROOT:.*]] = math.sqrt %[[SHIFTED]]
// CHECK-NEXT: %[[RSTD:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// CHECK: arith.mulf %[[X]], %{{.*}}
// CHECK: row.load %weight
// CHECK: row.store
// CHECK-LABEL: row.kernel private @rms_norm_0(%x: !row.matrix<8xf32>
func.func @norms(%x: tensor<2x3x8xf32>, %w: tensor<4xf32>,
                 %narrow: tensor<2x3x4xf32>, %wide: tensor<8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>) {
  %0 = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<4xf32>) -> tensor<2x3x8xf32>
  %1 = net.rms_norm %narrow, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %2 = net.rms_norm %x, %wide {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  return %0, %1, %2 : tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>
}

// -----

// bf16 is how rows are stored, not how they are computed.
// CHECK-LABEL: row.kernel private @rms_norm(
// CHECK-SAME: %x: !row.matrix<8xbf16>, %weight: !row.vector<8xf32>) -> (%y: !row.matrix<8xbf16>)
// CHECK: %[[STORED:.*]] = row.load %x : !row.matrix<8xbf16> -> vector<8xbf16>
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[STORED]] : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT: arith.mulf %[[X]], %[[X]]
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT: row.store %[[Y]], %y
func.func @narrow(%x: tensor<2x3x8xbf16>, %w: tensor<8xf32>)
    -> tensor<2x3x8xbf16> {
  %y = net.rms_norm %x, %w {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xbf16>, tensor<8xf32>) -> tensor<2x3x8xbf16>
  return %y : tensor<2x3x8xbf16>
}

// -----

// The weight's gradient is a sum over rows.
// CHECK-LABEL: row.kernel private @rms_norm_adjoint(
// CHECK-SAME: %x: !row.matrix<8xf32>, %weight: !row.vector<8xf32>, %g: !row.matrix<8xf32>) -> (%gx: !row.matrix<8xf32>, %gweight: !row.sum<8xf32>)
// CHECK-COUNT-2: vector.reduction <add>
// CHECK: row.store %{{.*}}, %gx
// CHECK: row.accumulate %{{.*}}, %gweight
func.func @norm_adjoint(%x: tensor<2x3x8xf32>, %w: tensor<8xf32>,
                        %g: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>) {
  %gx, %gw = net.rms_norm_adjoint %x, %w, %g {epsilon = 1.0e-6 : f64}
    : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8xf32>)
  return %gx, %gw : tensor<2x3x8xf32>, tensor<8xf32>
}

// -----

// A row is a head of a token, whose position picks a row of the angles: cosines,
// then sines. All rotary embeddings of an entry read one table.
// CHECK-LABEL: func.func @rotate
// CHECK-NEXT: %[[ANGLES:.*]] = arith.constant dense<
// CHECK-SAME{LITERAL}: [[1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00], [0.540302277, 0.999949991, 0.841470957, 0.00999983306]
// CHECK-SAME: tensor<3x4xf32>
// CHECK-NEXT: %[[Y:.*]] = row.call @rotary(%arg0, %[[ANGLES]]) {rows = 12 : i64}
// CHECK-NEXT: row.call @rotary_0(%[[Y]], %[[ANGLES]]) {rows = 12 : i64}
// CHECK-LABEL: row.kernel private @rotary(
// CHECK: %[[ROW:.*]] = row.index
// CHECK-NEXT: %[[TOKEN:.*]] = arith.divui %[[ROW]], %c2
// CHECK-NEXT: %[[POSITION:.*]] = arith.remui %[[TOKEN]], %c3
// CHECK-NEXT: %[[COS:.*]] = row.load %angles[%[[POSITION]]] columns(%c0)
// CHECK-NEXT: %[[SIN:.*]] = row.load %angles[%[[POSITION]]] columns(%c2)
// CHECK-NEXT: %[[U:.*]] = row.load %x columns(%c0) : !row.matrix<4xf32> -> vector<2xf32>
// CHECK-NEXT: %[[V:.*]] = row.load %x columns(%c2)
// CHECK-NOT: arith.negf
// CHECK: row.store %{{.*}}, %y columns(%c0)
// CHECK: row.store %{{.*}}, %y columns(%c2)
// CHECK-LABEL: row.kernel private @rotary_0(
// CHECK: arith.negf
func.func @rotate(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %y = net.rotary %x {heads = 2 : i64, base = 1.0e4 : f64}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %z = net.rotary %y {heads = 2 : i64, base = 1.0e4 : f64, inverse}
    : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %z : tensor<2x3x8xf32>
}

// -----

// A target of −1 reads a column that is there, and does not count.
// CHECK-LABEL: row.kernel private @cross_entropy(
// CHECK-SAME: %logits: !row.matrix<16xf32>, %targets: !row.scalars<i32>) -> (%losses: !row.scalars<f32>, %lse: !row.scalars<f32>)
// CHECK: vector.reduction <maximumf>
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: vector.reduction <add>
// CHECK: %[[LOG:.*]] = math.log %{{.*}} : f32
// CHECK: %[[LSE:.*]] = arith.addf %{{.*}}, %[[LOG]]
// CHECK: row.store_scalar %[[LSE]], %lse[%c0]
// CHECK: %[[COLUMN:.*]] = arith.maxsi %[[TARGET:.*]], %c0
// CHECK: row.load %logits columns(%[[COLUMN]]) : !row.matrix<16xf32> -> vector<1xf32>
// CHECK: %[[LOSS:.*]] = arith.select
// CHECK: row.store_scalar %[[LOSS]], %losses[%c0]
// CHECK-LABEL: row.kernel private @cross_entropy_adjoint(
// CHECK-SAME: %logits: !row.matrix<16xf32>, %targets: !row.scalars<i32>, %lse: !row.scalars<f32>, %g: !row.scalars<f32>) -> (%glogits: !row.matrix<16xf32>)
// CHECK: vector.step : vector<16xindex>
// CHECK: %[[IS_TARGET:.*]] = arith.cmpi eq
// CHECK: arith.select %[[IS_TARGET]]
// CHECK: row.store %{{.*}}, %glogits
func.func @losses(%l: tensor<2x3x16xf32>, %t: tensor<2x3xi32>,
                  %g: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3x16xf32>) {
  %losses, %lse = net.cross_entropy %l, %t
    : (tensor<2x3x16xf32>, tensor<2x3xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %gl = net.cross_entropy_adjoint %l, %t, %lse, %g
    : (tensor<2x3x16xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3xf32>)
    -> tensor<2x3x16xf32>
  return %losses, %gl : tensor<2x3xf32>, tensor<2x3x16xf32>
}

// -----

// Products and attention are a library's.
// CHECK-LABEL: func.func @library
// CHECK-NEXT: net.linear
// CHECK-NEXT: net.attention
// CHECK-NEXT: net.attention_adjoint
// CHECK-NEXT: net.linear_input_adjoint
// CHECK-NEXT: net.linear_weight_adjoint
// CHECK-NEXT: return
// CHECK-NOT: row.kernel
func.func @library(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<8x8xf32>) {
  %q = net.linear %x, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %y, %lse = net.attention %q, %q, %q {heads = 2 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x2x3xf32>)
  %gq, %gk, %gv = net.attention_adjoint %q, %q, %q, %y, %lse, %x
    {heads = 2 : i64, kv_heads = 2 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>,
       tensor<2x3x8xf32>, tensor<2x2x3xf32>, tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>)
  %gx = net.linear_input_adjoint %gq, %w
    : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %gw = net.linear_weight_adjoint %gq, %x
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<8x8xf32>
  return %gx, %gw : tensor<2x3x8xf32>, tensor<8x8xf32>
}
