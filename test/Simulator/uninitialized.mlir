// Reads of what nothing has written: a buffer of the kernel, and shared memory
// of which one element is left out.
//
// RUN: not isobath sim %s --kernel copy --fill 0=none 2>&1 | FileCheck --check-prefix=BUFFER %s
// BUFFER: error: uninitialized-read: a load of 4 bytes, where nothing has been written
// BUFFER-NEXT:   kernel @copy, block (0, 0, 0), thread ([[# THREAD:]], 0, 0)
// BUFFER-NEXT:   at {{.*}}uninitialized.mlir:[[# @LINE + 18]]:
// BUFFER-NEXT:   its byte 0 is [[# mul(THREAD,4)]] bytes into the 128 bytes of copy.argument 0
// BUFFER-NEXT:   32 times at this place
//
// RUN: isobath sim %s --kernel copy --fill 1=none | FileCheck --check-prefix=RIGHT %s
// RIGHT: copy.argument 1 f32[32] checksum
//
// RUN: not isobath sim %s --kernel shared --argument 1=0 2>&1 | FileCheck --check-prefix=SHARED %s
// SHARED: error: uninitialized-read: a load of 4 bytes, where nothing has been written
// SHARED: it is byte 0 of shared memory
// RUN: isobath sim %s --kernel shared --argument 1=-1 | FileCheck --check-prefix=FULL %s
// FULL: barriers 1,

gpu.module @kernels {
  gpu.func @copy(%x: memref<32xf32>, %y: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %value = memref.load %x[%t] : memref<32xf32>
    memref.store %value, %y[%t] : memref<32xf32>
    gpu.return
  }
  gpu.func @shared(%y: memref<32xi32>, %left_out: i32)
      workgroup(%row: memref<32xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %last = arith.constant 31 : index
    %t = gpu.thread_id x
    %number = arith.index_cast %t : index to i32
    %writes = arith.cmpi ne, %number, %left_out : i32
    scf.if %writes {
      memref.store %number, %row[%t] : memref<32xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %other = arith.subi %last, %t : index
    %value = memref.load %row[%other] : memref<32xi32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%t] : memref<32xi32>
    gpu.return
  }
}
