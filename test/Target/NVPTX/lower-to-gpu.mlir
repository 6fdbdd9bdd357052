// Entries as schedules for a GPU.
// RUN: isobath-opt %s --split-input-file --isobath-lower-to-gpu | FileCheck %s

// Rows are updated in place where a thread reads no element but those that it
// writes itself, later.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[M:[a-z0-9_]+]]: memref<6x128xf32> {net.name = "m"}
// CHECK: row.launch @decay(%[[M]]) outs(%[[M]])
row.kernel private @decay(%x: !row.matrix<128xf32>)
    -> (%y: !row.matrix<128xf32>) {
  %row = row.load %x : !row.matrix<128xf32> -> vector<128xf32>
  %twice = arith.addf %row, %row : vector<128xf32>
  row.store %twice, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}
func.func @update(%m: tensor<6x128xf32> {net.name = "m"})
    -> (tensor<6x128xf32> {net.updates = 0 : i64}) {
  %y = row.call @decay(%m) {rows = 6 : i64}
    : (tensor<6x128xf32>) -> (tensor<6x128xf32>)
  return %y : tensor<6x128xf32>
}

// -----

// Of 8 elements a warp has 2 chunks; threads behind them repeat what others have,
// and may have written.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: %[[M:[a-z0-9_]+]]: memref<6x8xf32> {net.name = "m"}
// CHECK: %[[Y:.*]] = memref.alloc() : memref<6x8xf32>
// CHECK: row.launch @decay(%[[M]]) outs(%[[Y]])
// CHECK: memref.copy %[[Y]], %[[M]]
row.kernel private @decay(%x: !row.matrix<8xf32>)
    -> (%y: !row.matrix<8xf32>) {
  %row = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %twice = arith.addf %row, %row : vector<8xf32>
  row.store %twice, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
func.func @narrow(%m: tensor<6x8xf32> {net.name = "m"})
    -> (tensor<6x8xf32> {net.updates = 0 : i64}) {
  %y = row.call @decay(%m) {rows = 6 : i64}
    : (tensor<6x8xf32>) -> (tensor<6x8xf32>)
  return %y : tensor<6x8xf32>
}

// -----

// Columns that threads read beside their own may have been written by one that is
// ahead. The CPU, which reads them first, needs no second buffer here.
// CHECK-LABEL: func.func @column
// CHECK-SAME: %[[M:[a-z0-9_]+]]: memref<6x128xf32> {net.name = "m"}
// CHECK: %[[Y:.*]] = memref.alloc() : memref<6x128xf32>
// CHECK: row.launch @normalize(%[[M]]) outs(%[[Y]])
// CHECK: memref.copy %[[Y]], %[[M]]
row.kernel private @normalize(%x: !row.matrix<128xf32>)
    -> (%y: !row.matrix<128xf32>) {
  %c64 = arith.constant 64 : index
  %high = row.load %x columns(%c64) : !row.matrix<128xf32> -> vector<64xf32>
  %sum = vector.reduction <add>, %high : vector<64xf32> into f32
  %sums = vector.broadcast %sum : f32 to vector<128xf32>
  %row = row.load %x : !row.matrix<128xf32> -> vector<128xf32>
  %scaled = arith.divf %row, %sums : vector<128xf32>
  row.store %scaled, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}
func.func @column(%m: tensor<6x128xf32> {net.name = "m"})
    -> (tensor<6x128xf32> {net.updates = 0 : i64}) {
  %y = row.call @normalize(%m) {rows = 6 : i64}
    : (tensor<6x128xf32>) -> (tensor<6x128xf32>)
  return %y : tensor<6x128xf32>
}

// -----

// Partial sums are as many as the launch has parts for: 19 blocks of 4 rows.
// CHECK-LABEL: func.func @sums
// CHECK: memref.alloc() : memref<76x8xf32>
row.kernel private @total(%x: !row.matrix<8xf32>) -> (%s: !row.sum<8xf32>) {
  %row = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  row.accumulate %row, %s : vector<8xf32>, !row.sum<8xf32>
  row.return
}
func.func @sums(%x: tensor<600x8xf32> {net.name = "x"})
    -> (tensor<8xf32> {net.name = "s"}) {
  %s = row.call @total(%x) {rows = 600 : i64}
    : (tensor<600x8xf32>) -> (tensor<8xf32>)
  return %s : tensor<8xf32>
}
