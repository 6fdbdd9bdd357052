// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows --isobath-lower-to-cpu | FileCheck %s

// Products go through a function for their shapes, which holds the sizes.
// CHECK-LABEL: func.func @products
// CHECK: call @[[LINEAR:call.net.linear.[0-9]+]](%{{.*}}, %{{.*}}, %[[Y:[a-z0-9_]+]])
// CHECK: call @[[LINEAR]](%[[Y]],
// CHECK: func.func private @[[LINEAR]](%[[A:[a-z0-9_]+]]: memref<1x6x8xf32>, %[[B:[a-z0-9_]+]]: memref<8x8xf32>, %[[C:[a-z0-9_]+]]: memref<1x6x8xf32>)
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: memref.extract_aligned_pointer_as_index %[[B]]
// CHECK: %[[M:[a-z0-9_]+]] = llvm.mlir.constant(6 : i64)
// CHECK: %[[N:[a-z0-9_]+]] = llvm.mlir.constant(8 : i64)
// CHECK: %[[K:[a-z0-9_]+]] = llvm.mlir.constant(8 : i64)
// All f32; B is stored transposed.
// CHECK-COUNT-3: llvm.mlir.constant(0 : i32)
// CHECK: llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @isobath_product
func.func @products(%x: tensor<1x6x8xf32> {net.name = "x"},
                    %w: tensor<8x8xf32> {net.name = "w"})
    -> (tensor<1x6x8xf32> {net.name = "z"}) {
  %y = net.linear %x, %w
    : (tensor<1x6x8xf32>, tensor<8x8xf32>) -> tensor<1x6x8xf32>
  %z = net.linear %y, %w
    : (tensor<1x6x8xf32>, tensor<8x8xf32>) -> tensor<1x6x8xf32>
  return %z : tensor<1x6x8xf32>
}

// -----

// An update writes where its argument is, if nobody reads that later.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[TOTAL:[a-z0-9_]+]]: memref<48xf32>
// CHECK-NOT: memref.alloc
// CHECK: row.launch @add(%[[TOTAL]], %{{.*}}) outs(%[[TOTAL]])
// CHECK-NOT: memref.copy
func.func @update(%total: tensor<48xf32> {net.name = "total"},
                  %g: tensor<48xf32> {net.name = "gradients"})
    -> (tensor<48xf32> {net.updates = 0 : i64}) {
  %sum = net.add %total, %g
    : (tensor<48xf32>, tensor<48xf32>) -> tensor<48xf32>
  return %sum : tensor<48xf32>
}

// -----

// It may not where a later op, or the caller, still reads the old values.
// CHECK-LABEL: func.func @read_later
// CHECK-SAME: %[[TOTAL:[a-z0-9_]+]]: memref<48xf32> {{.*}}, %[[G:[a-z0-9_]+]]: memref<48xf32> {{.*}}, %[[OLD:[a-z0-9_]+]]: memref<48xf32>
// CHECK: %[[SUM:[a-z0-9_]+]] = memref.alloc() : memref<48xf32>
// CHECK: row.launch @add(%[[TOTAL]], %[[G]]) outs(%[[SUM]])
// CHECK: row.launch @scale(%[[TOTAL]], %{{.*}}) outs(%[[OLD]])
// CHECK: memref.copy %[[SUM]], %[[TOTAL]]
func.func @read_later(%total: tensor<48xf32> {net.name = "total"},
                      %g: tensor<48xf32> {net.name = "gradients"})
    -> (tensor<48xf32> {net.updates = 0 : i64},
        tensor<48xf32> {net.name = "old"}) {
  %sum = net.add %total, %g
    : (tensor<48xf32>, tensor<48xf32>) -> tensor<48xf32>
  %old = net.scale %total {factor = 2.0 : f64}
    : (tensor<48xf32>) -> tensor<48xf32>
  return %sum, %old : tensor<48xf32>, tensor<48xf32>
}

// -----

// An intermediate tensor hands its buffer on to what replaces it, also to a
// kernel with a reduction, which is over when the kernel begins to write.
// CHECK-LABEL: func.func @intermediate
// CHECK: %[[A:[a-z0-9_]+]] = memref.alloc() : memref<1x2x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: row.launch @scale(%{{.*}}) outs(%[[A]])
// CHECK: row.launch @scale(%[[A]], %{{.*}}) outs(%[[A]])
// CHECK: row.launch @rms_norm(%[[A]], %{{.*}}) outs(%[[A]])
// CHECK: call @call.net.linear.0(%[[A]],
func.func @intermediate(%x: tensor<1x2x8xf32> {net.name = "x"},
                        %n: tensor<8xf32> {net.name = "n"},
                        %w: tensor<8x8xf32> {net.name = "w"})
    -> (tensor<1x2x8xf32> {net.name = "y"}) {
  %a = net.scale %x {factor = 2.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %b = net.scale %a {factor = 3.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %c = net.rms_norm %b, %n {epsilon = 1.0e-6 : f64}
    : (tensor<1x2x8xf32>, tensor<8xf32>) -> tensor<1x2x8xf32>
  %y = net.linear %c, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}

// -----

// What ends in a result's buffer is there from the start.
// CHECK-LABEL: func.func @destination
// CHECK-SAME: %[[X:[a-z0-9_]+]]: memref<1x2x8xf32> {net.name = "x"}, %[[Y:[a-z0-9_]+]]: memref<1x2x8xf32> {net.name = "y"}
// CHECK-NOT: memref.alloc() : memref<1x2x8xf32>
// CHECK: row.launch @scale(%[[X]], %{{.*}}) outs(%[[Y]])
// CHECK: row.launch @scale(%[[Y]], %{{.*}}) outs(%[[Y]])
func.func @destination(%x: tensor<1x2x8xf32> {net.name = "x"})
    -> (tensor<1x2x8xf32> {net.name = "y"}) {
  %a = net.scale %x {factor = 2.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %y = net.scale %a {factor = 3.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}

// -----

// The gradient of logits lies where they were.
// CHECK-LABEL: func.func @logits
// CHECK: %[[LOGITS:[a-z0-9_]+]] = memref.alloc() : memref<1x2x9xf32>
// CHECK: call @call.net.linear.0(%{{.*}}, %{{.*}}, %[[LOGITS]])
// CHECK: row.launch @cross_entropy(%[[LOGITS]],
// CHECK: row.launch @cross_entropy_adjoint(%[[LOGITS]], %{{.*}}) outs(%[[LOGITS]])
func.func @logits(%x: tensor<1x2x8xf32> {net.name = "x"},
                  %w: tensor<9x8xf32> {net.name = "w"},
                  %t: tensor<1x2xi32> {net.name = "targets"},
                  %g: tensor<1x2xf32> {net.name = "g"})
    -> (tensor<1x2x8xf32> {net.name = "gx"}) {
  %y = net.linear %x, %w
    : (tensor<1x2x8xf32>, tensor<9x8xf32>) -> tensor<1x2x9xf32>
  %losses, %lse = net.cross_entropy %y, %t
    : (tensor<1x2x9xf32>, tensor<1x2xi32>)
    -> (tensor<1x2xf32>, tensor<1x2xf32>)
  %gy = net.cross_entropy_adjoint %y, %t, %lse, %g
    : (tensor<1x2x9xf32>, tensor<1x2xi32>, tensor<1x2xf32>, tensor<1x2xf32>)
    -> tensor<1x2x9xf32>
  %gx = net.linear_input_adjoint %gy, %w
    : (tensor<1x2x9xf32>, tensor<9x8xf32>) -> tensor<1x2x8xf32>
  return %gx : tensor<1x2x8xf32>
}

// -----

// A product adds to a sum that nobody reads later in its place, here the
// result's own, and to a copy of any other.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[OLD:[a-z0-9_]+]]: memref<3x8xf32> {net.name = "old"}, %[[SUM:[a-z0-9_]+]]: memref<3x8xf32> {net.name = "sum"}
// CHECK: memref.copy %[[OLD]], %[[SUM]]
// CHECK: call @[[ADJOINT:call.net.linear_weight_adjoint.0]](%{{.*}}, %{{.*}}, %[[OLD]], %[[SUM]])
// CHECK-NOT: memref.copy
// CHECK: call @[[ADJOINT]](%{{.*}}, %{{.*}}, %[[SUM]], %[[SUM]])
// CHECK: func.func private @[[ADJOINT]](%{{.*}}, %{{.*}}, %{{.*}}, %[[C:[a-z0-9_]+]]: memref<3x8xf32>)
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// Transposed, and added to what is there.
// CHECK: llvm.mlir.constant(5 : i32)
// CHECK: llvm.call @isobath_product
func.func @sums(%g: tensor<1x2x3xf32> {net.name = "g"},
                %x: tensor<1x2x8xf32> {net.name = "x"},
                %old: tensor<3x8xf32> {net.name = "old"})
    -> (tensor<3x8xf32> {net.name = "sum"}) {
  %a = net.linear_weight_adjoint %g, %x, %old
    : (tensor<1x2x3xf32>, tensor<1x2x8xf32>, tensor<3x8xf32>)
    -> tensor<3x8xf32>
  %b = net.linear_weight_adjoint %g, %x, %a
    : (tensor<1x2x3xf32>, tensor<1x2x8xf32>, tensor<3x8xf32>)
    -> tensor<3x8xf32>
  return %b : tensor<3x8xf32>
}

// -----

// Parts of a tensor are places in its buffer, and so are parts that become one;
// what has its place from outside is copied.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:[a-z0-9_]+]]: memref<2x5x4xf32> {net.name = "x"}, %[[Y:[a-z0-9_]+]]: memref<2x5x4xf32> {net.name = "y"}
// CHECK: %[[WHOLE:[a-z0-9_]+]] = memref.alloc() : memref<160xi8>
// CHECK: %[[A:[a-z0-9_]+]] = memref.view %[[WHOLE]][%c0{{.*}}][] : memref<160xi8> to memref<2x5x4xf32>
// CHECK: row.launch @scale(%[[X]], %{{.*}}) outs(%[[A]])
// CHECK: %[[LOW:[a-z0-9_]+]] = memref.view %[[WHOLE]][%c0{{.*}}][] : memref<160xi8> to memref<1x7x4xf32>
// CHECK: %[[HIGH:[a-z0-9_]+]] = memref.view %[[WHOLE]][%c112{{.*}}][] : memref<160xi8> to memref<1x3x4xf32>
// CHECK: %[[JOINED:[a-z0-9_]+]] = memref.alloc() : memref<160xi8>
// CHECK: %[[B:[a-z0-9_]+]] = memref.view %[[JOINED]][%c0{{.*}}][] : memref<160xi8> to memref<1x7x4xf32>
// CHECK: row.launch @scale(%[[LOW]], %{{.*}}) outs(%[[B]])
// CHECK: %[[C:[a-z0-9_]+]] = memref.view %[[JOINED]][%c112{{.*}}][] : memref<160xi8> to memref<1x3x4xf32>
// CHECK: row.launch @scale(%[[HIGH]], %{{.*}}) outs(%[[C]])
// CHECK-NOT: memref.copy
// CHECK: %[[D:[a-z0-9_]+]] = memref.view %[[JOINED]][%c0{{.*}}][] : memref<160xi8> to memref<2x5x4xf32>
// The first two tokens of an argument, and the last eight of the tensor above.
// CHECK: %[[FROM:[a-z0-9_]+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [1, 2, 4], strides: [8, 4, 1]
// CHECK: %[[E:[a-z0-9_]+]] = memref.alloc() : memref<1x2x4xf32>
// CHECK: memref.copy %[[FROM]], %[[E]]
// CHECK: %[[F:[a-z0-9_]+]] = memref.view %[[JOINED]][%c32{{.*}}][] : memref<160xi8> to memref<1x8x4xf32>
// CHECK: %[[TO:[a-z0-9_]+]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [1, 2, 4], strides: [8, 4, 1]
// CHECK: memref.copy %[[E]], %[[TO]]
// CHECK: %[[TO:[a-z0-9_]+]] = memref.reinterpret_cast %[[Y]] to offset: [8], sizes: [1, 8, 4], strides: [32, 4, 1]
// CHECK: memref.copy %[[F]], %[[TO]]
func.func @parts(%x: tensor<2x5x4xf32> {net.name = "x"})
    -> (tensor<2x5x4xf32> {net.name = "y"}) {
  %a = net.scale %x {factor = 2.0 : f64}
    : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %low = net.take_tokens %a {first = 0 : i64, count = 7 : i64}
    : (tensor<2x5x4xf32>) -> tensor<1x7x4xf32>
  %high = net.take_tokens %a {first = 7 : i64, count = 3 : i64}
    : (tensor<2x5x4xf32>) -> tensor<1x3x4xf32>
  %b = net.scale %low {factor = 3.0 : f64}
    : (tensor<1x7x4xf32>) -> tensor<1x7x4xf32>
  %c = net.scale %high {factor = 5.0 : f64}
    : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %d = net.join_tokens %b, %c {sequences = 2 : i64}
    : (tensor<1x7x4xf32>, tensor<1x3x4xf32>) -> tensor<2x5x4xf32>
  %e = net.take_tokens %x {first = 0 : i64, count = 2 : i64}
    : (tensor<2x5x4xf32>) -> tensor<1x2x4xf32>
  %f = net.take_tokens %d {first = 2 : i64, count = 8 : i64}
    : (tensor<2x5x4xf32>) -> tensor<1x8x4xf32>
  %y = net.join_tokens %e, %f {sequences = 2 : i64}
    : (tensor<1x2x4xf32>, tensor<1x8x4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
