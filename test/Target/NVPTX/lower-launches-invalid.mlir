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
