// A shuffle of all lanes in a branch that only some of them take.
//
// RUN: not isobath sim %s --kernel wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: warp-divergence: not all lanes of the mask 0xffffffff reach an operation of their warp
// WRONG-NEXT:   kernel @wrong, block (0, 0, 0), thread ({{[0-9]+}}, 0, 0)
// WRONG-NEXT:   at {{.*}}divergent-shuffle.mlir:[[# @LINE + 20]]:
// WRONG-NEXT:   lane {{[0-9]+}}, thread ({{[0-9]+}}, 0, 0) {{has ended|waits}}
// WRONG: error: @wrong: 1 error was found
//
// RUN: isobath sim %s --kernel right > %t.0
// RUN: FileCheck --check-prefix=RIGHT --input-file=%t.0 %s
// RIGHT: shuffles 1,
// RUN: isobath sim %s --kernel right --seed 9 | diff - %t.0

gpu.module @kernels {
  gpu.func @wrong(%x: memref<32xf32>, %y: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %sixteen = arith.constant 16 : index
    %t = gpu.thread_id x
    %value = memref.load %x[%t] : memref<32xf32>
    %low = arith.cmpi ult, %t, %sixteen : index
    scf.if %low {
      %other, %valid = gpu.shuffle xor %value, %one, %width : f32
      %sum = arith.addf %value, %other : f32
      memref.store %sum, %y[%t] : memref<32xf32>
    }
    gpu.return
  }
  gpu.func @right(%x: memref<32xf32>, %y: memref<32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %sixteen = arith.constant 16 : index
    %t = gpu.thread_id x
    %value = memref.load %x[%t] : memref<32xf32>
    %low = arith.cmpi ult, %t, %sixteen : index
    %other, %valid = gpu.shuffle xor %value, %one, %width : f32
    %sum = arith.addf %value, %other : f32
    scf.if %low {
      memref.store %sum, %y[%t] : memref<32xf32>
    }
    gpu.return
  }
}
