// What warps ask of global memory: threads next to each other read elements far
// apart, or next to each other; and vectors whose alignment is not promised are
// read number by number.
//
// RUN: isobath sim %s --kernel strided | FileCheck --check-prefix=STRIDED %s
// STRIDED: global loads  4096 bytes, 32 requests, 1024 sectors, 32.00 a request, ideal 4.00
// STRIDED-NEXT: global stores 4096 bytes, 32 requests, 128 sectors, 4.00 a request, ideal 4.00
// The cache still has the rest of a sector when its turn comes.
// STRIDED-NEXT: DRAM          4096 bytes read, 4096 written
// STRIDED: global: 1024 sectors where 128 would do, at {{.*}}strided.mlir:[[# @LINE + 20]]:
//
// RUN: isobath sim %s --kernel together | FileCheck --check-prefix=TOGETHER %s
// TOGETHER: global loads  4096 bytes, 32 requests, 128 sectors, 4.00 a request, ideal 4.00
// TOGETHER: DRAM          4096 bytes read, 4096 written
// TOGETHER-NOT: would do
//
// RUN: isobath sim %s --kernel vectors | FileCheck --check-prefix=VECTORS %s
// VECTORS: global loads  512 bytes, 4 requests, 64 sectors, 16.00 a request, ideal 4.00
// VECTORS-NEXT: global stores 512 bytes, 1 requests, 16 sectors, 16.00 a request, ideal 16.00

gpu.module @kernels {
  gpu.func @strided(%x: memref<32x32xf32>, %y: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 32 : index
    %t = gpu.thread_id x
    scf.for %i = %zero to %n step %one {
      %value = memref.load %x[%t, %i] : memref<32x32xf32>
      memref.store %value, %y[%i, %t] : memref<32x32xf32>
    }
    gpu.return
  }
  gpu.func @together(%x: memref<32x32xf32>, %y: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 32 : index
    %t = gpu.thread_id x
    scf.for %i = %zero to %n step %one {
      %value = memref.load %x[%i, %t] : memref<32x32xf32>
      memref.store %value, %y[%i, %t] : memref<32x32xf32>
    }
    gpu.return
  }
  gpu.func @vectors(%x: memref<128xf32>, %y: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %four = arith.constant 4 : index
    %t = gpu.thread_id x
    %i = arith.muli %t, %four : index
    %value = vector.load %x[%i] : memref<128xf32>, vector<4xf32>
    vector.store %value, %y[%i] {alignment = 16} : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}
