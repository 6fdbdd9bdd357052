// RUN: isobath-opt %s --split-input-file --isobath-lower-to-cpu | FileCheck %s

// The matrices of a list, too, are each updated in place: each is read only
// where the one of the same number is stored.
// CHECK-LABEL: func.func @list
// CHECK: %[[A:[a-z0-9_]+]] = memref.alloc
// CHECK: row.launch @twice(%{{.*}}) outs(%[[A]])
// CHECK: %[[B:[a-z0-9_]+]] = memref.alloc
// CHECK: row.launch @twice(%{{.*}}) outs(%[[B]])
// CHECK-NOT: memref.alloc
// CHECK: row.launch @add_row([%[[A]], %[[B]]], %{{.*}}) outs([%[[A]], %[[B]]])
row.kernel private @twice(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %1 = arith.addf %0, %0 : vector<8xf32>
  row.store %1, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @sum(%l: !row.list<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero)
      -> (vector<8xf32>) {
    %1 = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
    %2 = arith.addf %sum, %1 : vector<8xf32>
    scf.yield %2 : vector<8xf32>
  }
  row.store %0, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @add_row(%l: !row.list<8xf32>, %x: !row.matrix<8xf32>)
    -> (%y: !row.list<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %1 = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
    %2 = arith.addf %1, %0 : vector<8xf32>
    row.store %2, %y[%i] : vector<8xf32>, !row.list<8xf32>
  }
  row.return
}
func.func @list(%x: tensor<6x8xf32> {net.name = "x"})
    -> (tensor<6x8xf32> {net.name = "y"}) {
  %a = row.call @twice(%x) {rows = 6 : i64}
    : (tensor<6x8xf32>) -> (tensor<6x8xf32>)
  %b = row.call @twice(%x) {rows = 6 : i64}
    : (tensor<6x8xf32>) -> (tensor<6x8xf32>)
  %l:2 = row.call @add_row([%a, %b], %x) {rows = 6 : i64}
    : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
    -> ([tensor<6x8xf32>, tensor<6x8xf32>])
  %y = row.call @sum([%l#0, %l#1]) {rows = 6 : i64}
    : (tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xf32>)
  return %y : tensor<6x8xf32>
}

// -----

// But not where a reduction reads them, too, or in another order.
// CHECK-LABEL: func.func @list_read_twice
// CHECK: row.launch @scaled_by_sum(%[[A:[a-z0-9_]+]]) outs(%[[S:[a-z0-9_]+]])
// CHECK: row.launch @reversed([%[[S]], %[[A]]]) outs([%[[R:[a-z0-9_]+]], %[[Q:[a-z0-9_]+]]])
// CHECK: row.launch @sum([%[[R]], %[[Q]]])
row.kernel private @twice(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %1 = arith.addf %0, %0 : vector<8xf32>
  row.store %1, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @sum(%l: !row.list<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero)
      -> (vector<8xf32>) {
    %1 = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
    %2 = arith.addf %sum, %1 : vector<8xf32>
    scf.yield %2 : vector<8xf32>
  }
  row.store %0, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
row.kernel private @scaled_by_sum(%l: !row.list<8xf32>)
    -> (%y: !row.list<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %1 = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
    %2 = vector.reduction <add>, %1 : vector<8xf32> into f32
    %3 = vector.broadcast %2 : f32 to vector<8xf32>
    %4 = arith.mulf %1, %3 : vector<8xf32>
    row.store %4, %y[%i] : vector<8xf32>, !row.list<8xf32>
  }
  row.return
}
row.kernel private @reversed(%l: !row.list<8xf32>) -> (%y: !row.list<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %last = arith.subi %n, %c1 : index
    %j = arith.subi %last, %i : index
    %1 = row.load %l[%j] : !row.list<8xf32> -> vector<8xf32>
    row.store %1, %y[%i] : vector<8xf32>, !row.list<8xf32>
  }
  row.return
}
func.func @list_read_twice(%x: tensor<6x8xf32> {net.name = "x"})
    -> (tensor<6x8xf32> {net.name = "y"}) {
  %a = row.call @twice(%x) {rows = 6 : i64}
    : (tensor<6x8xf32>) -> (tensor<6x8xf32>)
  %s = row.call @scaled_by_sum([%a]) {rows = 6 : i64}
    : (tensor<6x8xf32>) -> ([tensor<6x8xf32>])
  %r:2 = row.call @reversed([%s, %a]) {rows = 6 : i64}
    : (tensor<6x8xf32>, tensor<6x8xf32>)
    -> ([tensor<6x8xf32>, tensor<6x8xf32>])
  %y = row.call @sum([%r#0, %r#1]) {rows = 6 : i64}
    : (tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xf32>)
  return %y : tensor<6x8xf32>
}
