// The kernels of a GPU, as operations.
// RUN: isobath-opt %s --isobath-lower-rows-to-nvptx='architecture=sm_90' | FileCheck %s
// RUN: isobath-opt %s --isobath-lower-rows-to-nvptx='architecture=sm_90 ptx=8.3' | FileCheck %s --check-prefix=PTX

// CHECK: row.kernel private @scale.row
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx78">]
// PTX: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx83">]

// A warp for each of four rows in a block; a list is a number and a table.
// CHECK-LABEL: gpu.func @scale$row(
// CHECK-SAME: %[[COUNT:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[FACTOR:[a-z0-9]+]]: !llvm.ptr<1>, %[[WIDTH:[a-z0-9]+]]: i64, %[[PLANE:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !llvm.ptr<1>, %[[ROWS:[a-z0-9]+]]: i64) kernel
// CHECK-SAME: attributes {
// CHECK-SAME: isobath.rows_per_block = 4 : i64
// CHECK-SAME: isobath.shared_copies = 4 : i64
// CHECK-SAME: isobath.shared_scalars = array<i64>
// CHECK-SAME: isobath.sums = array<i64>
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: %[[FIRST:.+]] = arith.addi
// CHECK: %[[HAS:.+]] = arith.cmpi ult, %[[FIRST]],
// CHECK: scf.if %[[HAS]] {
// 24 chunks of four elements: the lanes from 24 on repeat the last.
// CHECK: %[[INSIDE:.+]] = arith.cmpi ult, {{.*}}, %c24
// CHECK: arith.minui {{.*}}, %c23
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.mulf %{{.*}} : vector<4xf32>
// CHECK: scf.if %[[INSIDE]] {
// CHECK-NEXT: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
row.kernel private @scale.row(%l: !row.list<96xf32>, %factor: !row.scalars<f32>) -> (%y: !row.matrix<96xf32>) {
  %c0 = arith.constant 0 : index
  %0 = row.load %l[%c0] : !row.list<96xf32> -> vector<96xf32>
  %1 = row.load_scalar %factor[%c0] : !row.scalars<f32>
  %2 = vector.broadcast %1 : f32 to vector<96xf32>
  %3 = arith.mulf %0, %2 : vector<96xf32>
  row.store %3, %y : vector<96xf32>, !row.matrix<96xf32>
  row.return
}

// What a row stores and loads again is kept by every warp in shared memory: the
// first thread stores, all wait, and all load.
// CHECK-LABEL: gpu.func @again(
// CHECK-SAME: isobath.shared_scalars = array<i64: 1>
// CHECK: llvm.mlir.addressof @isobath$shared : !llvm.ptr<3>
// CHECK: scf.if
// CHECK: nvvm.shfl.sync
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK: nvvm.bar.warp.sync
// CHECK-NEXT: scf.for
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
row.kernel private @again(%x: !row.matrix<8xf32>) -> (%p: !row.scalars<f32>, %y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  %1 = vector.reduction <add>, %0 : vector<8xf32> into f32
  row.store_scalar %1, %p[%c0] : !row.scalars<f32>
  %2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%r = %0) -> (vector<8xf32>) {
    %3 = row.load_scalar %p[%i] : !row.scalars<f32>
    %4 = vector.broadcast %3 : f32 to vector<8xf32>
    %5 = arith.mulf %r, %4 : vector<8xf32>
    scf.yield %5 : vector<8xf32>
  }
  row.store %2, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// Reductions that do not depend on each other are exchanged together; in a loop
// they wait once more, for who still reads what is to be overwritten.
// CHECK-LABEL: gpu.func @dots(
// CHECK-SAME: isobath.rows_per_block = 1 : i64
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.for
// CHECK-COUNT-10: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK-COUNT-2: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: {{nvvm.barrier0|llvm.load .*ptr<3>}}
// CHECK: gpu.return
row.kernel private @dots(%l: !row.list<8192xf32>, %q: !row.vector<8192xf32>) -> (%p: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = row.count %l : !row.list<8192xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = row.load %l[%i] : !row.list<8192xf32> -> vector<8192xf32>
    %1 = arith.mulf %0, %0 : vector<8192xf32>
    %2 = vector.reduction <add>, %1 : vector<8192xf32> into f32
    %3 = math.sqrt %2 : f32
    %4 = row.load %q : !row.vector<8192xf32> -> vector<8192xf32>
    %5 = arith.mulf %0, %4 : vector<8192xf32>
    %6 = vector.reduction <add>, %5 : vector<8192xf32> into f32
    %7 = arith.divf %6, %3 : f32
    row.store_scalar %7, %p[%i] : !row.scalars<f32>
  }
  row.return
}

// A sum whose columns are added to by different threads at different times:
// they wait for each other.
// CHECK-LABEL: gpu.func @heads(
// CHECK-SAME: isobath.sums = array<i64: 1>
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[GRID:.+]] = gpu.grid_dim x
// CHECK: %[[STRIDE:.+]] = arith.muli %[[GRID]], %c4
// CHECK: scf.for {{.*}} step %[[STRIDE]]
// CHECK: scf.for
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: arith.addf
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<1>
row.kernel private @heads(%x: !row.matrix<12xf32>) -> (%sum: !row.sum<12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  scf.for %h = %c0 to %c2 step %c1 {
    %0 = arith.muli %h, %c6 : index
    %1 = row.load %x columns(%0) : !row.matrix<12xf32> -> vector<6xf32>
    row.accumulate %1, %sum columns(%0) : vector<6xf32>, !row.sum<12xf32>
  }
  row.return
}

// One kernel for both sums of a kind.
// CHECK-LABEL: gpu.func @isobath$sum12xf32$f32(
// CHECK-SAME: known_block_size = array<i32: 512, 1, 1>
// CHECK-NOT: gpu.func
// CHECK: gpu.return
