// RUN: isobath-opt %s --isobath-lower-launches-to-gpu -split-input-file -verify-diagnostics

row.kernel private @total(%x: !row.matrix<8xf32>) -> (%s: !row.sum<8xf32>) {
  %row = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  row.accumulate %row, %s : vector<8xf32>, !row.sum<8xf32>
  row.return
}
// As many as a CPU would need.
func.func @sums(%x: memref<600x8xf32>, %s: memref<8xf32>,
                %p: memref<18x8xf32>) {
  // expected-error @below {{'row.launch' op expected a scratch buffer of type 'memref<76x8xf32>' for the sum that is output 0}}
  row.launch @total(%x) outs(%s) scratch(%p : memref<18x8xf32>)
    {rows = 600 : i64} : (memref<600x8xf32>) outs (memref<8xf32>)
  return
}

// -----

// Scalars that are read again stay in shared memory, for each of 4 warps: 4 bytes
// of each of 8,000.
row.kernel private @again(%x: !row.list<8xf32>, %l: !row.scalars<f32>)
    -> (%s: !row.scalars<f32>, %y: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %x : !row.list<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = row.load_scalar %l[%i] : !row.scalars<f32>
    row.store_scalar %0, %s[%i] : !row.scalars<f32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = row.load_scalar %s[%i] : !row.scalars<f32>
    row.store_scalar %0, %y[%i] : !row.scalars<f32>
  }
  row.return
}
func.func @many(%x: memref<1x8xf32>, %l: memref<1x1x8000xf32>,
                %s: memref<1x1x8000xf32>, %y: memref<1x1x8000xf32>) {
  // expected-error @below {{'row.launch' op expected a kernel whose scalars take at most 98304 bytes of shared memory, got 128000}}
  row.launch @again([%x], %l) outs(%s, %y) {rows = 1 : i64}
    : (memref<1x8xf32>, memref<1x1x8000xf32>)
    outs (memref<1x1x8000xf32>, memref<1x1x8000xf32>)
  return
}
