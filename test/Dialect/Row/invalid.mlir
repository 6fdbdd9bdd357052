// RUN: isobath-opt %s --split-input-file --verify-diagnostics

// The numbers in the functions' names are those of the constraints in the ops'
// documentation.

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// expected-error @below {{expected a positive width, got 0}}
row.kernel private @matrix_width(%x: !row.matrix<0xf32>) -> () {
  row.return
}

// -----

// expected-error @below {{expected one size, got 2}}
row.kernel private @matrix_rank(%x: !row.matrix<2x3xf32>) -> () {
  row.return
}

// -----

// expected-error @below {{expected a width, got ?}}
row.kernel private @matrix_any_width(%x: !row.matrix<?xf32>) -> () {
  row.return
}

// -----

// expected-error @below {{expected elements of f32, bf16, f64 or i32, got 'i8'}}
row.kernel private @matrix_elements(%x: !row.matrix<2xi8>) -> () {
  row.return
}

// -----

// expected-error @below {{expected a sum of f32, bf16 or f64, got 'i32'}}
row.kernel private @sum_elements() -> (%x: !row.sum<2xi32>) {
  row.return
}

// -----

// expected-error @below {{expected a positive number of planes, got 0}}
row.kernel private @scalars_planes(%x: !row.scalars<0xf32>) -> () {
  row.return
}

// -----

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// expected-error @below {{'row.kernel' op expected inputs that are matrices, lists, vectors or scalars, got '!row.sum<2xf32>'}}
row.kernel private @kernel_c1(%x: !row.sum<2xf32>) -> () {
  row.return
}

// -----

// expected-error @below {{'row.kernel' op expected outputs that are matrices, lists, sums or scalars, got '!row.vector<2xf32>'}}
row.kernel private @kernel_c2() -> (%x: !row.vector<2xf32>) {
  row.return
}

// -----

row.kernel private @kernel_c3_op() -> () {
  // expected-error @below {{'memref.alloc' op expected an op that a row.kernel may contain}}
  %0 = memref.alloc() : memref<2xf32>
  row.return
}

// -----

row.kernel private @kernel_c3_reduction(%x: !row.matrix<8xf32>) -> () {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  // expected-error @below {{'vector.reduction' op expected an op that a row.kernel may contain}}
  %1 = vector.reduction <minimumf>, %0 : vector<8xf32> into f32
  row.return
}

// -----

row.kernel private @kernel_c3_constant() -> () {
  // expected-error @below {{'arith.constant' op expected an op that a row.kernel may contain}}
  %0 = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  row.return
}

// -----

row.kernel private @kernel_c4() -> () {
  // expected-error @below {{'arith.constant' op expected scalars and rows, got 'vector<2x2xf32>'}}
  %0 = arith.constant dense<1.0> : vector<2x2xf32>
  row.return
}

// -----

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

row.kernel private @load_c1() -> (%y: !row.matrix<8xf32>) {
  // expected-error @below {{'row.load' op expected an input, got output 0}}
  %0 = row.load %y : !row.matrix<8xf32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @load_c2_list(%x: !row.list<8xf32>) -> () {
  // expected-error @below {{'row.load' op expected an index into the list}}
  %0 = row.load %x : !row.list<8xf32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @load_c2_vector(%x: !row.vector<8xf32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.load' op expected no index into a vector}}
  %0 = row.load %x[%r] : !row.vector<8xf32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @load_c2_any_width(%x: !row.vector<?xf32>) -> () {
  // expected-error @below {{'row.load' op expected a vector of known width, got '!row.vector<?xf32>'}}
  %0 = row.load %x : !row.vector<?xf32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @accumulate_c3() -> (%sum: !row.sum<?xf32>) {
  %x = arith.constant dense<1.0> : vector<8xf32>
  // expected-error @below {{'row.accumulate' op expected one element and its column for '!row.sum<?xf32>', got 'vector<8xf32>'}}
  row.accumulate %x, %sum : vector<8xf32>, !row.sum<?xf32>
  row.return
}

// -----

row.kernel private @load_c3_width(%x: !row.matrix<8xf32>) -> () {
  // expected-error @below {{'row.load' op expected a value of type 'vector<8xf32>', got 'vector<4xf32>'}}
  %0 = row.load %x : !row.matrix<8xf32> -> vector<4xf32>
  row.return
}

// -----

row.kernel private @load_c3_columns(%x: !row.matrix<8xf32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.load' op expected a value of type 'vector<8xf32>' or narrower, got 'vector<9xf32>'}}
  %0 = row.load %x columns(%r) : !row.matrix<8xf32> -> vector<9xf32>
  row.return
}

// -----

row.kernel private @load_c3_element(%x: !row.matrix<8xbf16>) -> () {
  // expected-error @below {{'row.load' op expected a value of type 'vector<8xbf16>', got 'vector<8xf32>'}}
  %0 = row.load %x : !row.matrix<8xbf16> -> vector<8xf32>
  row.return
}

// -----

//===----------------------------------------------------------------------===//
// Stores and accumulations
//===----------------------------------------------------------------------===//

row.kernel private @store_c1(%x: !row.matrix<8xf32>) -> () {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  // expected-error @below {{'row.store' op expected an output, got input 0}}
  row.store %0, %x : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// -----

row.kernel private @store_c2_list(%x: !row.matrix<8xf32>)
    -> (%y: !row.list<8xf32>) {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  // expected-error @below {{'row.store' op expected an index into the list}}
  row.store %0, %y : vector<8xf32>, !row.list<8xf32>
  row.return
}

// -----

row.kernel private @store_c2_matrix(%x: !row.matrix<8xf32>)
    -> (%y: !row.matrix<8xf32>) {
  %r = row.index : index
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  // expected-error @below {{'row.store' op expected no index: a row is stored by itself}}
  row.store %0, %y[%r] : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// -----

row.kernel private @store_c3(%x: !row.matrix<8xf32>)
    -> (%y: !row.matrix<8xbf16>) {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  // expected-error @below {{'row.store' op expected a value of type 'vector<8xbf16>', got 'vector<8xf32>'}}
  row.store %0, %y : vector<8xf32>, !row.matrix<8xbf16>
  row.return
}

// -----

row.kernel private @accumulate_c2(%x: !row.matrix<8xbf16>)
    -> (%y: !row.sum<8xbf16>) {
  %0 = row.load %x : !row.matrix<8xbf16> -> vector<8xbf16>
  // expected-error @below {{'row.accumulate' op expected a value of type 'vector<8xf32>', got 'vector<8xbf16>'}}
  row.accumulate %0, %y : vector<8xbf16>, !row.sum<8xbf16>
  row.return
}

// -----

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

row.kernel private @spread_c2(%x: !row.scalars<2xf32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.spread' op expected one of 2 planes}}
  %0 = row.spread %x[%r] stride(%r) groups(2) : !row.scalars<2xf32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @spread_c3(%x: !row.scalars<f32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.spread' op expected elements of 'f32', got 'vector<8xbf16>'}}
  %0 = row.spread %x[%r] stride(%r) groups(2) : !row.scalars<f32> -> vector<8xbf16>
  row.return
}

// -----

row.kernel private @spread_c4_divides(%x: !row.scalars<f32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.spread' op expected 'groups' to divide 8 columns, got 3}}
  %0 = row.spread %x[%r] stride(%r) groups(3) : !row.scalars<f32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @spread_c4_positive(%x: !row.scalars<f32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.spread' op expected 'groups' to divide 8 columns, got 0}}
  %0 = row.spread %x[%r] stride(%r) groups(0) : !row.scalars<f32> -> vector<8xf32>
  row.return
}

// -----

row.kernel private @load_scalar_c1() -> (%y: !row.scalars<f32>) {
  %r = row.index : index
  // expected-error @below {{'row.load_scalar' op expected the current row of output 0}}
  %0 = row.load_scalar %y[%r] row(%r) : !row.scalars<f32>
  row.return
}

// -----

row.kernel private @load_scalar_c2_plane(%x: !row.scalars<2xf32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.load_scalar' op expected one of 2 planes}}
  %0 = row.load_scalar %x[%r] : !row.scalars<2xf32>
  row.return
}

// -----

row.kernel private @load_scalar_c2_vector(%x: !row.vector<2xf32>) -> () {
  %r = row.index : index
  // expected-error @below {{'row.load_scalar' op expected neither row nor plane of a vector}}
  %0 = row.load_scalar %x[%r] row(%r) : !row.vector<2xf32>
  row.return
}

// -----

row.kernel private @store_scalar_c1(%x: !row.scalars<f32>) -> () {
  %i = row.index : index
  %0 = arith.constant 1.0 : f32
  // expected-error @below {{'row.store_scalar' op expected an output, got input 0}}
  row.store_scalar %0, %x[%i] : !row.scalars<f32>
  row.return
}

// -----

row.kernel private @store_scalar_c2() -> (%x: !row.scalars<f32>) {
  %i = row.index : index
  %0 = arith.constant 1.0 : f64
  // expected-error @below {{'row.store_scalar' op expected a value of type 'f32', got 'f64'}}
  "row.store_scalar"(%0, %x, %i) : (f64, !row.scalars<f32>, index) -> ()
  row.return
}

// -----

row.kernel private @store_scalar_c3() -> (%x: !row.scalars<2xf32>) {
  %i = row.index : index
  %0 = arith.constant 1.0 : f32
  // expected-error @below {{'row.store_scalar' op expected one of 2 planes}}
  row.store_scalar %0, %x[%i] : !row.scalars<2xf32>
  row.return
}

// -----

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

func.func @call_c1_kernel(%x: tensor<2x8xf32>) {
  // expected-error @below {{'row.call' op expected a row.kernel, got @none}}
  row.call @none(%x) {rows = 2 : i64} : (tensor<2x8xf32>) -> ()
  return
}

// -----

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @call_c1_operands(%x: tensor<2x8xf32>) {
  // expected-error @below {{'row.call' op expected 1 operands for @copy, got 2}}
  row.call @copy(%x, %x) {rows = 2 : i64}
    : (tensor<2x8xf32>, tensor<2x8xf32>) -> (tensor<2x8xf32>)
  return
}

// -----

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @call_c1_group(%x: tensor<2x8xf32>) {
  // expected-error @below {{'row.call' op expected one value as operand 0, got 2}}
  row.call @copy([%x, %x]) {rows = 2 : i64}
    : (tensor<2x8xf32>, tensor<2x8xf32>) -> (tensor<2x8xf32>)
  return
}

// -----

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @call_c2(%x: tensor<2x8xf32>) {
  // expected-error @below {{'row.call' op attribute 'rows' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  row.call @copy(%x) {rows = 0 : i64} : (tensor<2x8xf32>) -> (tensor<2x8xf32>)
  return
}

// -----

row.kernel private @read(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  row.return
}
func.func @call_c3_rows(%x: tensor<3x8xf32>) {
  // expected-error @below {{'row.call' op expected operand 0 to fit '!row.matrix<8xf32>' of 2 rows, got 'tensor<3x8xf32>'}}
  row.call @read(%x) {rows = 2 : i64} : (tensor<3x8xf32>) -> (tensor<2x8xf32>)
  return
}

// -----

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @call_c3_result(%x: tensor<2x8xf32>) {
  // expected-error @below {{'row.call' op expected result 0 to fit '!row.matrix<8xf32>' of 2 rows, got 'tensor<2x8xbf16>'}}
  row.call @copy(%x) {rows = 2 : i64} : (tensor<2x8xf32>) -> (tensor<2x8xbf16>)
  return
}

// -----

row.kernel private @scalars(%x: !row.scalars<2xf32>) -> () {
  row.return
}
func.func @call_c3_scalars(%x: tensor<2x3xf32>) {
  // expected-error @below {{'row.call' op expected operand 0 to fit '!row.scalars<2xf32>' of 2 rows, got 'tensor<2x3xf32>'}}
  row.call @scalars(%x) {rows = 2 : i64} : (tensor<2x3xf32>) -> ()
  return
}

// -----

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @launch_c3_layout(%x: memref<2x8xf32, strided<[16, 1]>>,
                            %y: memref<2x8xf32>) {
  // expected-error @below {{'row.launch' op expected input 0 to fit '!row.matrix<8xf32>' of 2 rows, got 'memref<2x8xf32, strided<[16, 1]>>'}}
  row.launch @copy(%x) outs(%y) {rows = 2 : i64}
    : (memref<2x8xf32, strided<[16, 1]>>) outs (memref<2x8xf32>)
  return
}

// -----

row.kernel private @copy(%x: !row.matrix<8xf32>) -> (%y: !row.matrix<8xf32>) {
  row.return
}
func.func @launch_c4(%x: memref<2x8xf32>, %y: memref<2x8xf32>) {
  // expected-error @below {{'row.launch' op expected 0 scratch buffers or none, got 1}}
  row.launch @copy(%x) outs(%y) scratch(%x : memref<2x8xf32>) {rows = 2 : i64}
    : (memref<2x8xf32>) outs (memref<2x8xf32>)
  return
}
