// A vector that is promised to be aligned, and is not.
//
// RUN: not isobath sim %s --argument 2=1 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: misaligned: a load of 16 bytes
// WRONG-NEXT:   kernel @copy, block (0, 0, 0), thread ({{[0-9]+}}, 0, 0)
// WRONG-NEXT:   at {{.*}}misaligned.mlir:[[# @LINE + 15]]:
// WRONG-NEXT:   its address is 4 more than a multiple of 16
//
// RUN: isobath sim %s --argument 2=8 | FileCheck --check-prefix=RIGHT %s
// RIGHT: global loads  512 bytes, 1 requests, 16 sectors, 16.00 a request, ideal 16.00
// RIGHT: copy.argument 1 f32[128] checksum

gpu.module @kernels {
  gpu.func @copy(%x: memref<136xf32>, %y: memref<128xf32>, %offset: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %four = arith.constant 4 : index
    %t = gpu.thread_id x
    %i = arith.muli %t, %four : index
    %from = arith.addi %i, %offset : index
    %value = vector.load %x[%from] {alignment = 16} : memref<136xf32>, vector<4xf32>
    vector.store %value, %y[%i] {alignment = 16} : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}
