// RUN: isobath-opt %s --isobath-lower-to-cpu | FileCheck %s

row.kernel private @early(%x: !row.matrix<8xf32>)
    -> (%y: !row.matrix<8xf32>, %z: !row.matrix<8xf32>) {
  %r = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %d = arith.addf %r, %r : vector<8xf32>
  row.store %d, %y : vector<8xf32>, !row.matrix<8xf32>
  %s = vector.reduction <add>, %r : vector<8xf32> into f32
  %b = vector.broadcast %s : f32 to vector<8xf32>
  %p = arith.mulf %r, %b : vector<8xf32>
  row.store %p, %z : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @rotated(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %u = row.load %x columns(%c0) : !row.matrix<8xf32> -> vector<4xf32>
  %v = row.load %x columns(%c4) : !row.matrix<8xf32> -> vector<4xf32>
  row.store %v, %y columns(%c0) : vector<4xf32>, !row.matrix<8xf32>
  row.store %u, %y columns(%c4) : vector<4xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @other(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %r = row.load %x[%c0] : !row.matrix<8xf32> -> vector<8xf32>
  row.store %r, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// A kernel that writes an output before it reads the input for the last time
// writes that one elsewhere. Where it has read columns, or other rows, of the
// input when it writes, it may not write there at all.
// CHECK-LABEL: func.func @written_early
// CHECK: %[[A:[a-z0-9_]+]] = memref.alloc() : memref<1x2x8xf32>
// CHECK: call @call.net.linear.0(%{{.*}}, %{{.*}}, %[[A]])
// CHECK: %[[EARLY:[a-z0-9_]+]] = memref.alloc() : memref<1x2x8xf32>
// CHECK: row.launch @early(%[[A]]) outs(%[[EARLY]], %[[A]])
// CHECK: %[[ROTATED:[a-z0-9_]+]] = memref.alloc() : memref<1x2x8xf32>
// CHECK: row.launch @rotated(%[[A]]) outs(%[[ROTATED]])
// CHECK: %[[OTHER:[a-z0-9_]+]] = memref.alloc() : memref<1x2x8xf32>
// CHECK: row.launch @other(%[[EARLY]]) outs(%[[OTHER]])
func.func @written_early(%x: tensor<1x2x8xf32> {net.name = "x"},
                         %w: tensor<8x8xf32> {net.name = "w"})
    -> (tensor<1x2x8xf32> {net.name = "p"}, tensor<1x2x8xf32> {net.name = "q"}) {
  %a = net.linear %x, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  %b, %c = row.call @early(%a) {rows = 2 : i64}
    : (tensor<1x2x8xf32>) -> (tensor<1x2x8xf32>, tensor<1x2x8xf32>)
  %d = row.call @rotated(%c) {rows = 2 : i64}
    : (tensor<1x2x8xf32>) -> (tensor<1x2x8xf32>)
  %e = row.call @other(%b) {rows = 2 : i64}
    : (tensor<1x2x8xf32>) -> (tensor<1x2x8xf32>)
  %p = net.linear %d, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  %q = net.linear %e, %w
    : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  return %p, %q : tensor<1x2x8xf32>, tensor<1x2x8xf32>
}
