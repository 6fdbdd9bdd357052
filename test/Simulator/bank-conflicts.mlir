// Columns of a matrix in shared memory lie in one bank, unless its rows are
// padded.
//
// RUN: isobath sim %s --kernel plain | FileCheck --check-prefix=PLAIN %s
// PLAIN: shared memory 8192 bytes, 64 requests, 1056 wavefronts, 16.50 a request, ideal 1.00
// PLAIN: shared: 1024 wavefronts where 32 would do, at {{.*}}bank-conflicts.mlir:[[# @LINE + 21]]:
// RUN: isobath sim %s --kernel padded | FileCheck --check-prefix=PADDED %s
// PADDED: shared memory 8192 bytes, 64 requests, 64 wavefronts, 1.00 a request, ideal 1.00
// PADDED-NOT: would do

gpu.module @kernels {
  gpu.func @plain(%x: memref<32x32xf32>, %y: memref<32x32xf32>)
      workgroup(%tile: memref<32x32xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 32 : index
    %t = gpu.thread_id x
    scf.for %i = %zero to %n step %one {
      %value = memref.load %x[%i, %t] : memref<32x32xf32>
      memref.store %value, %tile[%i, %t]
          : memref<32x32xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.for %i = %zero to %n step %one {
      %value = memref.load %tile[%t, %i]
          : memref<32x32xf32, #gpu.address_space<workgroup>>
      memref.store %value, %y[%i, %t] : memref<32x32xf32>
    }
    gpu.return
  }
  gpu.func @padded(%x: memref<32x32xf32>, %y: memref<32x32xf32>)
      workgroup(%tile: memref<32x33xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = arith.constant 32 : index
    %t = gpu.thread_id x
    scf.for %i = %zero to %n step %one {
      %value = memref.load %x[%i, %t] : memref<32x32xf32>
      memref.store %value, %tile[%i, %t]
          : memref<32x33xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.for %i = %zero to %n step %one {
      %value = memref.load %tile[%t, %i]
          : memref<32x33xf32, #gpu.address_space<workgroup>>
      memref.store %value, %y[%i, %t] : memref<32x32xf32>
    }
    gpu.return
  }
}
