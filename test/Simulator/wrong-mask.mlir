// The mask of a row's end: three threads have 4 of 10 elements each, the last one
// 2. Its mask is made for 12.
//
// RUN: not isobath sim %s --kernel wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: out-of-bounds: a load of 16 bytes
// WRONG-NEXT:   kernel @wrong, block (0, 0, 0), thread (2, 0, 0)
// WRONG-NEXT:   at {{.*}}wrong-mask.mlir:[[# @LINE + 23]]:
// WRONG-NEXT:   its byte 8 is 0 bytes behind the 40 bytes of wrong.argument 0
// WRONG: error: @wrong: 1 error was found
//
// RUN: isobath sim %s --kernel right > %t.0
// RUN: FileCheck --check-prefix=RIGHT --input-file=%t.0 %s
// RIGHT: global loads 40 bytes
// RIGHT: global stores 40 bytes
// RUN: isobath sim %s --kernel right --seed 9 | diff - %t.0

gpu.module @kernels {
  gpu.func @wrong(%x: memref<10xf32>, %y: memref<10xf32>) kernel
      attributes {known_block_size = array<i32: 3, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %four = arith.constant 4 : index
    %end = arith.constant dense<12> : vector<4xindex>
    %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %t = gpu.thread_id x
    %first = arith.muli %t, %four : index
    %firsts = vector.broadcast %first : index to vector<4xindex>
    %columns = arith.addi %firsts, %lanes : vector<4xindex>
    %mask = arith.cmpi ult, %columns, %end : vector<4xindex>
    %row = vector.maskedload %x[%first], %mask, %zero
      : memref<10xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %y[%first], %mask, %row
      : memref<10xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }

  gpu.func @right(%x: memref<10xf32>, %y: memref<10xf32>) kernel
      attributes {known_block_size = array<i32: 3, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %four = arith.constant 4 : index
    %end = arith.constant dense<10> : vector<4xindex>
    %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %t = gpu.thread_id x
    %first = arith.muli %t, %four : index
    %firsts = vector.broadcast %first : index to vector<4xindex>
    %columns = arith.addi %firsts, %lanes : vector<4xindex>
    %mask = arith.cmpi ult, %columns, %end : vector<4xindex>
    %row = vector.maskedload %x[%first], %mask, %zero
      : memref<10xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %y[%first], %mask, %row
      : memref<10xf32>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}
