// Launches for a GPU as calls of the device.
// RUN: isobath-opt %s --isobath-lower-launches-to-gpu | FileCheck %s

// CHECK-NOT: row.kernel
row.kernel private @mix.row(%l: !row.list<8xf32>) -> (%y: !row.matrix<8xf32>) {
  %c0 = arith.constant 0 : index
  %row = row.load %l[%c0] : !row.list<8xf32> -> vector<8xf32>
  row.store %row, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// The words of a CPU's launch, and then the number of rows.
// CHECK-LABEL: func.func @words
// CHECK: %[[WORDS:.*]] = llvm.alloca
// CHECK: %[[ROWS:.*]] = llvm.mlir.constant(6 : i64)
// CHECK: %[[LAST:.*]] = llvm.getelementptr %[[WORDS]][3]
// CHECK: llvm.store %[[ROWS]], %[[LAST]]
// CHECK: %[[DEVICE:.*]] = llvm.mlir.addressof @isobath_device
// CHECK: %[[LAUNCH:.*]] = llvm.mlir.addressof @[[MIX:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch(%[[DEVICE]], %[[LAUNCH]], %[[WORDS]])
// CHECK: llvm.call @isobath_copy(
func.func @words(%b: memref<6x8xf32>, %c: memref<6x8xf32>,
                 %y: memref<6x8xf32>, %z: memref<6x8xf32>) {
  row.launch @mix.row([%b, %c]) outs(%y) {rows = 6 : i64}
    : (memref<6x8xf32>, memref<6x8xf32>) outs (memref<6x8xf32>)
  memref.copy %y, %z : memref<6x8xf32> to memref<6x8xf32>
  return
}

row.kernel private @total(%x: !row.matrix<8xf32>) -> (%s: !row.sum<8xf32>) {
  %row = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  row.accumulate %row, %s : vector<8xf32>, !row.sum<8xf32>
  row.return
}

// The second stage of a sum: where its parts are, how many, and where it is.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%{{.*}}: memref<600x8xf32>, %[[S:.*]]: memref<8xf32>, %[[P:.*]]: memref<76x8xf32>)
// CHECK: llvm.mlir.addressof @[[TOTAL:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch
// CHECK: memref.extract_aligned_pointer_as_index %[[P]]
// CHECK: %[[PARTS:.*]] = llvm.mlir.constant(76 : i64)
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK: llvm.store %[[PARTS]], %[[SECOND]]
// CHECK: memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: llvm.mlir.addressof @[[SUM:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch
func.func @sums(%x: memref<600x8xf32>, %s: memref<8xf32>,
                %p: memref<76x8xf32>) {
  row.launch @total(%x) outs(%s) scratch(%p : memref<76x8xf32>)
    {rows = 600 : i64} : (memref<600x8xf32>) outs (memref<8xf32>)
  return
}

// Where a buffer of the arena begins, the device is told.
// CHECK-LABEL: func.func @begins
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<384xi8> {net.name = "arena"}
// CHECK: %[[BUFFER:.*]] = memref.view %[[ARENA]][%c192]
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[BUFFER]]
// CHECK: %[[WORD:.*]] = arith.index_cast %[[ADDRESS]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[WORD]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
// CHECK: llvm.call @isobath_begin(%{{.*}}, %[[POINTER]], %[[BYTES]])
// CHECK: llvm.call @isobath_copy
func.func @begins(%x: memref<16xf32>,
                  %arena: memref<384xi8> {net.name = "arena"}) {
  %c192 = arith.constant 192 : index
  %b = memref.view %arena[%c192][] : memref<384xi8> to memref<16xf32>
  memref.copy %x, %b {isobath.begins = array<i64: 192, 64>}
    : memref<16xf32> to memref<16xf32>
  return
}

// Of a GPU, blocks and threads are said, and no code and no chunks.
// CHECK: llvm.mlir.global internal constant @[[MIX]]()
// CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero
// CHECK-DAG: %[[BLOCKS:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
// CHECK: llvm.insertvalue %[[NULL]], %{{.*}}[5]
// CHECK: llvm.insertvalue %[[BLOCKS]], %{{.*}}[8]
// CHECK: llvm.insertvalue %[[THREADS]], %{{.*}}[9]
// CHECK: llvm.mlir.global internal constant @{{.*}}("mix$row\00")
// CHECK: llvm.mlir.global internal constant @[[TOTAL]]()
// CHECK: llvm.mlir.global internal constant @[[SUM]]()
// CHECK: llvm.mlir.global internal constant @{{.*}}("isobath$sum8xf32$f32\00")
