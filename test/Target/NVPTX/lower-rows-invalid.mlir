// RUN: isobath-opt %s --isobath-lower-rows-to-nvptx -split-input-file -verify-diagnostics
// RUN: not isobath-opt %s --isobath-lower-rows-to-nvptx='architecture=sm_75' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not isobath-opt %s --isobath-lower-rows-to-nvptx='architecture=sm_100 ptx=8.5' 2>&1 | FileCheck %s --check-prefix=PTX
// OLD: error: architecture: given sm_75, expected sm_80, sm_90, sm_100 or sm_120
// PTX: error: ptx: given 8.5 for sm_100, expected 8.6, 8.7, 8.8, 9.0

// expected-error @below {{'row.kernel' op with a loop has a row of 32772 elements, more than 1024 threads hold in registers, expected at most 32768}}
row.kernel private @wide(%x: !row.list<32772xf32>) -> (%y: !row.matrix<32772xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %x : !row.list<32772xf32>
  %zero = arith.constant dense<0.0> : vector<32772xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%r = %zero) -> (vector<32772xf32>) {
    %1 = row.load %x[%i] : !row.list<32772xf32> -> vector<32772xf32>
    %2 = arith.addf %r, %1 : vector<32772xf32>
    scf.yield %2 : vector<32772xf32>
  }
  row.store %0, %y : vector<32772xf32>, !row.matrix<32772xf32>
  row.return
}
