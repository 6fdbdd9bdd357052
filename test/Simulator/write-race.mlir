// Two blocks write to one place.
//
// RUN: not isobath sim %s --kernel wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: global-race: a store of 4 bytes, where another thread wrote in the same launch
// WRONG-NEXT:   kernel @wrong, block ([[# BLOCK:]], 0, 0), thread ([[# THREAD:]], 0, 0)
// WRONG-NEXT:   at {{.*}}write-race.mlir:[[# @LINE + 15]]:
// WRONG-NEXT:   it is [[# mul(THREAD,4)]] bytes into the 128 bytes of wrong.argument 1
// WRONG-NEXT:   block ([[# sub(1,BLOCK)]], 0, 0), thread ([[# THREAD]], 0, 0) wrote there
// WRONG-NEXT:   32 times at this place
//
// RUN: isobath sim %s --kernel right | FileCheck --check-prefix=RIGHT %s
// RIGHT: right.argument 1 f32[2, 32] checksum

gpu.module @kernels {
  gpu.func @wrong(%x: memref<2x32xf32>, %y: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 2, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %value = memref.load %x[%b, %t] : memref<2x32xf32>
    memref.store %value, %y[%t] : memref<32xf32>
    gpu.return
  }
  gpu.func @right(%x: memref<2x32xf32>, %y: memref<2x32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 2, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %value = memref.load %x[%b, %t] : memref<2x32xf32>
    memref.store %value, %y[%b, %t] : memref<2x32xf32>
    gpu.return
  }
}
