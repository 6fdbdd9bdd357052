// Threads read what others wrote to shared memory, with and without a barrier
// between.
//
// RUN: not isobath sim %s --kernel wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: {{shared-race: a (load|store) of 4 bytes, with no barrier after that of another thread|uninitialized-read: a load of 4 bytes, where nothing has been written}}
// WRONG-NEXT:   kernel @wrong, block ({{[01]}}, 0, 0), thread ({{[0-9]+}}, 0, 0)
// WRONG-NEXT:   at {{.*}}missing-barrier.mlir:[[# @LINE + 24]]:
// WRONG: error: @wrong: {{[0-9]+}} error{{s were| was}} found
//
// RUN: isobath sim %s --kernel right > %t.0
// RUN: FileCheck --check-prefix=RIGHT --input-file=%t.0 %s
// RIGHT: @right, grid (2, 1, 1), block (64, 1, 1), shared memory 256 + 0 bytes
// RIGHT: barriers 2,
// RIGHT-NEXT: right.argument 1 f32[2, 64] checksum
//
// The order of threads and blocks changes nothing.
// RUN: isobath sim %s --kernel right --seed 1 | diff - %t.0
// RUN: isobath sim %s --kernel right --seed 2 | diff - %t.0

gpu.module @kernels {
  gpu.func @wrong(%x: memref<2x64xf32>, %y: memref<2x64xf32>)
      workgroup(%row: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  known_grid_size = array<i32: 2, 1, 1>} {
    %last = arith.constant 63 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %value = memref.load %x[%b, %t] : memref<2x64xf32>
    memref.store %value, %row[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %other = arith.subi %last, %t : index
    %mirror = memref.load %row[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %mirror, %y[%b, %t] : memref<2x64xf32>
    gpu.return
  }
  gpu.func @right(%x: memref<2x64xf32>, %y: memref<2x64xf32>)
      workgroup(%row: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  known_grid_size = array<i32: 2, 1, 1>} {
    %last = arith.constant 63 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %value = memref.load %x[%b, %t] : memref<2x64xf32>
    memref.store %value, %row[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %last, %t : index
    %mirror = memref.load %row[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %mirror, %y[%b, %t] : memref<2x64xf32>
    gpu.return
  }
}
