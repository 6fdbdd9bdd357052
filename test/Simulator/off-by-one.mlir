// A comparison that lets one thread too many through.
//
// RUN: not isobath sim %s --kernel wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: out-of-bounds: a load of 4 bytes
// WRONG-NEXT:   kernel @wrong, block (0, 0, 0), thread (40, 0, 0)
// WRONG-NEXT:   at {{.*}}off-by-one.mlir:[[# @LINE + 18]]:
// WRONG-NEXT:   its byte 0 is 0 bytes behind the 160 bytes of wrong.argument 0
// WRONG-NEXT: @wrong, {{.*}}, stopped by an error
// WRONG: error: @wrong: 1 error was found
//
// RUN: isobath sim %s --kernel right | FileCheck --check-prefix=RIGHT %s
// RIGHT: global loads  160 bytes, 2 requests, 5 sectors, 2.50 a request, ideal 2.50
// RIGHT: DRAM          160 bytes read, 160 written
// RIGHT: right.argument 1 f32[40] checksum

gpu.module @kernels {
  gpu.func @wrong(%x: memref<40xf32>, %y: memref<40xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %n = arith.constant 40 : index
    %t = gpu.thread_id x
    %inside = arith.cmpi sle, %t, %n : index
    scf.if %inside {
      %value = memref.load %x[%t] : memref<40xf32>
      memref.store %value, %y[%t] : memref<40xf32>
    }
    gpu.return
  }
  gpu.func @right(%x: memref<40xf32>, %y: memref<40xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %n = arith.constant 40 : index
    %t = gpu.thread_id x
    %inside = arith.cmpi slt, %t, %n : index
    scf.if %inside {
      %value = memref.load %x[%t] : memref<40xf32>
      memref.store %value, %y[%t] : memref<40xf32>
    }
    gpu.return
  }
}
