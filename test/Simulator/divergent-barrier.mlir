// A barrier that part of the threads never reach.
//
// RUN: not isobath sim %s --argument 0=33 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: error: barrier-divergence: 33 of 64 threads reach a barrier, and wait for the others for ever
// WRONG-NEXT:   kernel @wait, block (0, 0, 0), thread (0, 0, 0)
// WRONG-NEXT:   at {{.*}}divergent-barrier.mlir:[[# @LINE + 13]]:
// WRONG-NEXT:   thread (33, 0, 0) has ended
//
// RUN: isobath sim %s --argument 0=64 | FileCheck --check-prefix=RIGHT %s
// RIGHT: barriers 1,

gpu.module @kernels {
  gpu.func @wait(%threads: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %threads : index
    scf.if %low {
      gpu.barrier
    }
    gpu.return
  }
}
