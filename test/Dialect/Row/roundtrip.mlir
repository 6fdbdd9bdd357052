// RUN: isobath-opt %s | isobath-opt | FileCheck %s
// RUN: isobath-opt %s --mlir-print-op-generic | isobath-opt | FileCheck %s

// Every op in its custom and its generic form. The bodies are the examples of
// the ops' documentation; test/support/check_doc_examples.py holds them to it.

// CHECK-LABEL: row.kernel private @add_mix(
// CHECK-SAME: %[[X:[a-z0-9_]+]]: !row.matrix<8xf32>, %[[L:[a-z0-9_]+]]: !row.list<8xf32>)
// CHECK-SAME: -> (%[[Y:[a-z0-9_]+]]: !row.matrix<8xf32>) {
// CHECK: row.count %[[L]] : !row.list<8xf32>
// CHECK: row.load %[[X]] : !row.matrix<8xf32> -> vector<8xf32>
// CHECK: scf.for %[[I:[a-z0-9_]+]] =
// CHECK: row.load %[[L]][%[[I]]] : !row.list<8xf32> -> vector<8xf32>
// CHECK: row.store %{{[^ ,)]+}}, %[[Y]] : vector<8xf32>, !row.matrix<8xf32>
// CHECK-NEXT: row.return
row.kernel private @add_mix(%x: !row.matrix<8xf32>, %l: !row.list<8xf32>)
    -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8xf32>
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0)
      -> (vector<8xf32>) {
    %s = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
    %2 = arith.addf %sum, %s : vector<8xf32>
    scf.yield %2 : vector<8xf32>
  }
  row.store %1, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// Inputs of every type.
// CHECK-LABEL: row.kernel @inputs(
// CHECK-SAME: !row.vector<8xi32>, %{{[a-z0-9_]+}}: !row.scalars<f32>, %{{[a-z0-9_]+}}: !row.scalars<2xf32>) -> () {
row.kernel @inputs(%m: !row.matrix<8xf32>, %l: !row.list<8xf32>,
                   %v: !row.vector<8xi32>, %s: !row.scalars<f32>,
                   %p: !row.scalars<2xf32>) -> () {
  // CHECK: %[[R:[a-z0-9_]+]] = row.index : index
  %r = row.index : index
  %i = arith.constant 0 : index
  %c = arith.constant 4 : index
  %q = arith.constant 1 : index
  // CHECK: row.load %{{[^ ,)]+}} : !row.matrix<8xf32> -> vector<8xf32>
  // CHECK: row.load %{{[^ ,)]+}}[%{{[^ ,)]+}}] columns(%{{[^ ,)]+}}) : !row.list<8xf32> -> vector<4xf32>
  // CHECK: row.load %{{[^ ,)]+}}[%[[R]]] : !row.matrix<8xf32> -> vector<8xf32>
  %row = row.load %m : !row.matrix<8xf32> -> vector<8xf32>
  %high = row.load %l[%i] columns(%c) : !row.list<8xf32> -> vector<4xf32>
  %other = row.load %m[%r] : !row.matrix<8xf32> -> vector<8xf32>
  // CHECK: row.load_scalar %{{[^ ,)]+}}[%{{[^ ,)]+}}] : !row.scalars<f32>
  // CHECK: row.load_scalar %{{[^ ,)]+}}[%{{[^ ,)]+}}] plane(%{{[^ ,)]+}}) row(%[[R]]) : !row.scalars<2xf32>
  // CHECK: row.load_scalar %{{[^ ,)]+}}[%{{[^ ,)]+}}] : !row.vector<8xi32>
  %x = row.load_scalar %s[%i] : !row.scalars<f32>
  %y = row.load_scalar %p[%i] plane(%q) row(%r) : !row.scalars<2xf32>
  %z = row.load_scalar %v[%i] : !row.vector<8xi32>
  %n = arith.constant 2 : index
  // CHECK: row.spread %{{[^ ,)]+}}[%{{[^ ,)]+}}] stride(%{{[^ ,)]+}}) groups(4) : !row.scalars<f32> -> vector<8xf32>
  // CHECK: row.spread %{{[^ ,)]+}}[%{{[^ ,)]+}}] stride(%{{[^ ,)]+}}) plane(%{{[^ ,)]+}}) groups(2) : !row.scalars<2xf32> -> vector<8xf32>
  %w = row.spread %s[%i] stride(%n) groups(4) : !row.scalars<f32> -> vector<8xf32>
  %u = row.spread %p[%i] stride(%n) plane(%q) groups(2)
    : !row.scalars<2xf32> -> vector<8xf32>
  row.return
}

// Outputs of every type, and two examples.
// CHECK-LABEL: row.kernel nested @outputs() -> (
// CHECK-SAME: attributes {note = "kept"}
row.kernel nested @outputs() -> (%l: !row.list<8xf32>, %sum: !row.sum<8xf32>,
                                 %s: !row.scalars<f32>,
                                 %p: !row.scalars<2xf32>)
    attributes {note = "kept"} {
  %row = arith.constant dense<1.0> : vector<8xf32>
  %half = arith.constant dense<1.0> : vector<4xf32>
  %x = arith.constant 1.0 : f32
  %i = arith.constant 0 : index
  %q = arith.constant 1 : index
  // CHECK: row.store %{{[^ ,)]+}}, %{{[^ ,)]+}}[%{{[^ ,)]+}}] : vector<8xf32>, !row.list<8xf32>
  // CHECK: row.store %{{[^ ,)]+}}, %{{[^ ,)]+}}[%{{[^ ,)]+}}] columns(%{{[^ ,)]+}}) : vector<4xf32>, !row.list<8xf32>
  row.store %row, %l[%i] : vector<8xf32>, !row.list<8xf32>
  row.store %half, %l[%i] columns(%q) : vector<4xf32>, !row.list<8xf32>
  // CHECK: row.accumulate %{{[^ ,)]+}}, %{{[^ ,)]+}} : vector<8xf32>, !row.sum<8xf32>
  // CHECK: row.accumulate %{{[^ ,)]+}}, %{{[^ ,)]+}} columns(%{{[^ ,)]+}}) : vector<4xf32>, !row.sum<8xf32>
  row.accumulate %row, %sum : vector<8xf32>, !row.sum<8xf32>
  row.accumulate %half, %sum columns(%q) : vector<4xf32>, !row.sum<8xf32>
  // CHECK: row.store_scalar %{{[^ ,)]+}}, %{{[^ ,)]+}}[%{{[^ ,)]+}}] : !row.scalars<f32>
  // CHECK: row.store_scalar %{{[^ ,)]+}}, %{{[^ ,)]+}}[%{{[^ ,)]+}}] plane(%{{[^ ,)]+}}) : !row.scalars<2xf32>
  row.store_scalar %x, %s[%i] : !row.scalars<f32>
  row.store_scalar %x, %p[%i] plane(%q) : !row.scalars<2xf32>
  row.return
}

// Of any width.
// CHECK-LABEL: row.kernel private @numbers(
// CHECK-SAME: !row.vector<?xf32>) -> (%{{[a-z0-9_]+}}: !row.sum<?xf32>)
row.kernel private @numbers(%v: !row.vector<?xf32>) -> (%sum: !row.sum<?xf32>) {
  %i = arith.constant 1 : index
  %one = arith.constant dense<1.0> : vector<1xf32>
  // CHECK: row.load_scalar %{{[^ ,)]+}}[%{{[^ ,)]+}}] : !row.vector<?xf32>
  // CHECK: row.accumulate %{{[^ ,)]+}}, %{{[^ ,)]+}} columns(%{{[^ ,)]+}}) : vector<1xf32>, !row.sum<?xf32>
  %x = row.load_scalar %v[%i] : !row.vector<?xf32>
  row.accumulate %one, %sum columns(%i) : vector<1xf32>, !row.sum<?xf32>
  row.return
}

// CHECK-LABEL: row.kernel private @sizes(
row.kernel private @sizes(%list: !row.list<8xf32>, %scalars: !row.scalars<f32>)
    -> () {
  // CHECK: row.count %{{[^ ,)]+}} : !row.list<8xf32>
  // CHECK: row.width %{{[^ ,)]+}} : !row.scalars<f32>
  %n = row.count %list : !row.list<8xf32>
  %width = row.width %scalars : !row.scalars<f32>
  row.return
}

row.kernel private @split(%l: !row.list<8xf32>, %m: !row.matrix<8xf32>,
                          %none: !row.list<8xf32>)
    -> (%a: !row.list<8xf32>, %s: !row.sum<8xf32>) {
  row.return
}

// CHECK-LABEL: func.func @call
func.func @call(%a: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>,
                %c: tensor<6x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK: row.call @add_mix(%{{[^ ,)]+}}, [%{{[^ ,)]+}}, %{{[^ ,)]+}}]) {rows = 6 : i64} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<6x8xf32>) -> (tensor<2x3x8xf32>)
  %y = row.call @add_mix(%a, [%b, %c]) {rows = 6 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<6x8xf32>)
    -> (tensor<2x3x8xf32>)
  return %y : tensor<2x3x8xf32>
}

// A list of one and of none; a matrix that is only read by number, if at all,
// has rows of its own; a list of results.
// CHECK-LABEL: func.func @call_groups
func.func @call_groups(%a: tensor<6x8xf32>, %table: tensor<3x8xf32>) {
  // CHECK: row.call @split(%{{[^ ,)]+}}, %{{[^ ,)]+}}, []) {repeated, rows = 6 : i64} : (tensor<6x8xf32>, tensor<3x8xf32>) -> ([tensor<6x8xf32>, tensor<2x3x8xf32>], tensor<8xf32>)
  %0:3 = row.call @split(%a, %table, []) {rows = 6 : i64, repeated}
    : (tensor<6x8xf32>, tensor<3x8xf32>)
    -> ([tensor<6x8xf32>, tensor<2x3x8xf32>], tensor<8xf32>)
  return
}

// CHECK-LABEL: func.func @launch
func.func @launch(%a: memref<2x3x8xf32>, %b: memref<2x3x8xf32>,
                  %c: memref<6x8xf32>, %y: memref<2x3x8xf32>,
                  %sum: memref<8xf32>, %partial: memref<2x16xf32>) {
  // CHECK: row.launch @add_mix(%{{[^ ,)]+}}, [%{{[^ ,)]+}}, %{{[^ ,)]+}}]) outs(%{{[^ ,)]+}}) {rows = 6 : i64} : (memref<2x3x8xf32>, memref<2x3x8xf32>, memref<6x8xf32>) outs (memref<2x3x8xf32>)
  row.launch @add_mix(%a, [%b, %c]) outs(%y) {rows = 6 : i64}
    : (memref<2x3x8xf32>, memref<2x3x8xf32>, memref<6x8xf32>)
    outs (memref<2x3x8xf32>)
  // CHECK: row.launch @split(%{{[^ ,)]+}}, %{{[^ ,)]+}}, []) outs([%{{[^ ,)]+}}, %{{[^ ,)]+}}], %{{[^ ,)]+}}) scratch(%{{[^ ,)]+}} : memref<2x16xf32>) {rows = 6 : i64}
  row.launch @split(%a, %b, []) outs([%y, %c], %sum)
    scratch(%partial : memref<2x16xf32>) {rows = 6 : i64}
    : (memref<2x3x8xf32>, memref<2x3x8xf32>)
    outs (memref<2x3x8xf32>, memref<6x8xf32>, memref<8xf32>)
  return
}
