// RUN: isobath-opt %s --isobath-lower-rows-to-cpu --split-input-file --verify-diagnostics

row.kernel private @total(%x: !row.matrix<8xf32>) -> (%s: !row.sum<8xf32>) {
  row.return
}
func.func @sum_without_scratch(%x: memref<100x8xf32>, %s: memref<8xf32>) {
  // expected-error @below {{'row.launch' op expected a scratch buffer of type 'memref<3x8xf32>' for the sum that is output 0}}
  row.launch @total(%x) outs(%s) {rows = 100 : i64}
    : (memref<100x8xf32>) outs (memref<8xf32>)
  return
}

// -----

row.kernel private @total(%x: !row.matrix<8xf32>) -> (%s: !row.sum<8xf32>) {
  row.return
}
func.func @sum_with_small_scratch(%x: memref<100x8xf32>, %s: memref<8xf32>,
                                  %p: memref<2x8xf32>) {
  // expected-error @below {{'row.launch' op expected a scratch buffer of type 'memref<3x8xf32>' for the sum that is output 0}}
  row.launch @total(%x) outs(%s) scratch(%p : memref<2x8xf32>)
    {rows = 100 : i64} : (memref<100x8xf32>) outs (memref<8xf32>)
  return
}

// -----

// When the row is made is not known before it is stored.
row.kernel private @scalars_stored_late(%l: !row.list<8xf32>)
    -> (%y: !row.matrix<8xf32>, %w: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %n = row.count %l : !row.list<8xf32>
  row.store_scalar %one, %w[%c0] : !row.scalars<f32>
  // expected-note @below {{the row is made here}}
  %mix = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros)
      -> (vector<8xf32>) {
    %a = row.load_scalar %w[%i] : !row.scalars<f32>
    %as = vector.broadcast %a : f32 to vector<8xf32>
    %1 = arith.addf %sum, %as : vector<8xf32>
    scf.yield %1 : vector<8xf32>
  }
  // expected-error @below {{expected scalars that a row depends on to be stored before, got another store}}
  row.store_scalar %one, %w[%c1] : !row.scalars<f32>
  row.store %mix, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}
