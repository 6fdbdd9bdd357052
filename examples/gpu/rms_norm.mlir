// y = x rsqrt(mean(x²) + 1e-6), one block of four warps for each row of 1024
// numbers. Run it without a GPU:
//
//     isobath sim examples/gpu/rms_norm.mlir
//
// Threads load 16 bytes at once, the lanes of a warp next to each other. Sums go
// through shuffles in a warp, and through shared memory between warps.

gpu.module @kernels {
  gpu.func @rms_norm(%x: memref<8x1024xf32>, %y: memref<8x1024xf32>)
      workgroup(%sums: memref<4xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  known_grid_size = array<i32: 8, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %half = arith.constant 512 : index
    %warp_size = arith.constant 32 : index
    %width = arith.constant 32 : i32
    %nothing = arith.constant 0.0 : f32
    %row = gpu.block_id x
    %thread = gpu.thread_id x
    %low = arith.muli %thread, %four : index
    %high = arith.addi %low, %half : index
    %a = vector.load %x[%row, %low] {alignment = 16}
        : memref<8x1024xf32>, vector<4xf32>
    %b = vector.load %x[%row, %high] {alignment = 16}
        : memref<8x1024xf32>, vector<4xf32>

    // In the thread, then in the warp.
    %aa = arith.mulf %a, %a : vector<4xf32>
    %squares = vector.fma %b, %b, %aa : vector<4xf32>
    %own = vector.reduction <add>, %squares : vector<4xf32> into f32
    %d16 = arith.constant 16 : i32
    %d8 = arith.constant 8 : i32
    %d4 = arith.constant 4 : i32
    %d2 = arith.constant 2 : i32
    %d1 = arith.constant 1 : i32
    %o16, %v16 = gpu.shuffle xor %own, %d16, %width : f32
    %s16 = arith.addf %own, %o16 : f32
    %o8, %v8 = gpu.shuffle xor %s16, %d8, %width : f32
    %s8 = arith.addf %s16, %o8 : f32
    %o4, %v4 = gpu.shuffle xor %s8, %d4, %width : f32
    %s4 = arith.addf %s8, %o4 : f32
    %o2, %v2 = gpu.shuffle xor %s4, %d2, %width : f32
    %s2 = arith.addf %s4, %o2 : f32
    %o1, %v1 = gpu.shuffle xor %s2, %d1, %width : f32
    %in_warp = arith.addf %s2, %o1 : f32

    // Between warps.
    %lane = arith.remui %thread, %warp_size : index
    %warp = arith.divui %thread, %warp_size : index
    %is_first = arith.cmpi eq, %lane, %zero : index
    scf.if %is_first {
      memref.store %in_warp, %sums[%warp]
          : memref<4xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %sum = scf.for %i = %zero to %four step %one
        iter_args(%partial = %nothing) -> f32 {
      %of_warp = memref.load %sums[%i]
          : memref<4xf32, #gpu.address_space<workgroup>>
      %next = arith.addf %partial, %of_warp : f32
      scf.yield %next : f32
    }

    %scale = arith.constant 9.765625e-4 : f32
    %epsilon = arith.constant 1.0e-6 : f32
    %mean = arith.mulf %sum, %scale : f32
    %square = arith.addf %mean, %epsilon : f32
    %r = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%square) : (f32) -> f32
    %rs = vector.broadcast %r : f32 to vector<4xf32>
    %ya = arith.mulf %a, %rs : vector<4xf32>
    %yb = arith.mulf %b, %rs : vector<4xf32>
    vector.store %ya, %y[%row, %low] {alignment = 16}
        : memref<8x1024xf32>, vector<4xf32>
    vector.store %yb, %y[%row, %high] {alignment = 16}
        : memref<8x1024xf32>, vector<4xf32>
    gpu.return
  }
}
