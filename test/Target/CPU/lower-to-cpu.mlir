// RUN: isobath-opt %s --split-input-file --isobath-lower-to-rows --isobath-lower-to-cpu | FileCheck %s

// Products go through a function for their shapes, which holds the sizes.
// CHECK-LABEL: func.func @products
// CHECK: call @[[LINEAR:cpu.net.linear.[0-9]+]](%{{.*}}, %{{.*}}, %[[Y:[a-z0-9_]+]])
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
// CHECK: llvm.call @isobath_cpu_product
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
// CHECK: %[[SUM:[a-z0-9_]+]] = memref.alloc
// CHECK: row.launch @add(%[[TOTAL]], %[[G]]) outs(%[[SUM]])
// CHECK: row.launch @scale(%[[TOTAL]]) outs(%[[OLD]])
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

// An intermediate tensor hands its buffer on to what replaces it; a kernel with
// a reduction reads its row again after it began to write.
// CHECK-LABEL: func.func @intermediate
// CHECK: %[[A:[a-z0-9_]+]] = memref.alloc
// CHECK: row.launch @scale(%{{.*}}) outs(%[[A]])
// CHECK: row.launch @scale{{.*}}(%[[A]]) outs(%[[A]])
// CHECK: %[[NORM:[a-z0-9_]+]] = memref.alloc
// CHECK: row.launch @rms_norm(%[[A]], %{{.*}}) outs(%[[NORM]])
func.func @intermediate(%x: tensor<1x2x8xf32> {net.name = "x"},
                        %w: tensor<8xf32> {net.name = "w"})
    -> (tensor<1x2x8xf32> {net.name = "y"}) {
  %a = net.scale %x {factor = 2.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %b = net.scale %a {factor = 3.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %n = net.rms_norm %b, %w {epsilon = 1.0e-6 : f64}
    : (tensor<1x2x8xf32>, tensor<8xf32>) -> tensor<1x2x8xf32>
  %y = net.scale %n {factor = 5.0 : f64}
    : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}
