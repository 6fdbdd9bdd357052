// RUN: isobath-opt %s --isobath-lower-rows-to-cpu | FileCheck %s

// CHECK: func.func private @isobath_cpu_launch((!llvm.ptr, i64, i64, i64) -> (), !llvm.ptr, i64, i64, i32)

row.kernel private @mix(%w: !row.vector<8xf32>, %l: !row.list<8xf32>,
                        %a: !row.scalars<2xf32>)
    -> (%y: !row.matrix<8xf32>) {
  %row = row.load %w : !row.vector<8xf32> -> vector<8xf32>
  row.store %row, %y : vector<8xf32>, !row.matrix<8xf32>
  row.return
}

// Seven words, then the list's table of two addresses; of 6 rows, 5 scalars each
// in 2 planes.
// CHECK-LABEL: func.func @words
// CHECK-SAME: (%[[W:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[C:[a-z0-9]+]]: {{.*}}, %[[A:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}})
// CHECK: %[[WORDS:.*]] = llvm.alloca %{{.*}} x i64 {alignment = 64 : i64}
// CHECK: %[[TABLE:.*]] = llvm.getelementptr %[[WORDS]][7]
// CHECK: %[[PLACE:.*]] = llvm.ptrtoint %[[TABLE]]
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[WORDS]][7]
// CHECK: llvm.store %{{.*}}, %[[FIRST]]
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[WORDS]][8]
// CHECK: llvm.store %{{.*}}, %[[SECOND]]
// CHECK: %[[COUNT:.*]] = llvm.getelementptr %[[WORDS]][1]
// CHECK: llvm.store %c2_i64, %[[COUNT]]
// CHECK: %[[LIST:.*]] = llvm.getelementptr %[[WORDS]][2]
// CHECK: llvm.store %[[PLACE]], %[[LIST]]
// CHECK: %[[WIDTH:.*]] = llvm.getelementptr %[[WORDS]][4]
// CHECK: llvm.store %c5_i64, %[[WIDTH]]
// CHECK: %[[PLANE:.*]] = llvm.getelementptr %[[WORDS]][5]
// CHECK: llvm.store %c30_i64, %[[PLANE]]
// CHECK: %[[CODE:.*]] = constant @mix
// CHECK: call @isobath_cpu_launch(%[[CODE]], %[[WORDS]], %c6_i64{{.*}}, %c1_i64{{.*}}, %{{.*}})
func.func @words(%w: memref<8xf32>, %b: memref<2x3x8xf32>, %c: memref<6x8xf32>,
                 %a: memref<2x6x5xf32>, %y: memref<6x8xf32>) {
  row.launch @mix(%w, [%b, %c], %a) outs(%y) {rows = 6 : i64}
    : (memref<8xf32>, memref<2x3x8xf32>, memref<6x8xf32>, memref<2x6x5xf32>)
    outs (memref<6x8xf32>)
  return
}

// A chunk clears its own row of partial sums, and then adds to it.
// CHECK-LABEL: func.func private @total(
// CHECK-SAME: %[[CHUNK:[a-z0-9]+]]: i64)
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[CHUNK]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %c8
// CHECK: %[[POSITION:.*]] = arith.index_cast %[[OFFSET]]
// CHECK: %[[MINE:.*]] = llvm.getelementptr %{{.*}}[%[[POSITION]]]
// CHECK: "llvm.intr.memset"(%[[MINE]]
// CHECK: scf.for
// CHECK: %[[SO_FAR:.*]] = llvm.intr.masked.load %[[MINE]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SO_FAR]]
// CHECK: llvm.intr.masked.store %[[SUM]], %[[MINE]]
row.kernel private @total(%x: !row.matrix<8xf32>)
    -> (%s: !row.sum<8xf32>, %t: !row.sum<8xbf16>) {
  %row = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
  row.accumulate %row, %s : vector<8xf32>, !row.sum<8xf32>
  row.accumulate %row, %t : vector<8xf32>, !row.sum<8xbf16>
  row.return
}

// 100 rows are 3 chunks; then one kernel each adds up what they left, and rounds
// once where the sum is bf16. Launches of one function share their words.
// CHECK-LABEL: func.func @sums
// CHECK: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: constant @total
// CHECK: call @isobath_cpu_launch(%{{.*}}, %{{.*}}, %c100_i64{{.*}}, %c3_i64{{.*}}, %{{.*}})
// CHECK: constant @sum_of_chunks
// CHECK: call @isobath_cpu_launch(%{{.*}}, %{{.*}}, %c1_i64{{.*}}, %c1_i64{{.*}}, %{{.*}})
// CHECK: constant @sum_of_chunks_0
// CHECK: call @isobath_cpu_launch
func.func @sums(%x: memref<100x8xf32>, %s: memref<8xf32>, %t: memref<8xbf16>,
                %p: memref<3x8xf32>, %q: memref<3x8xf32>) {
  row.launch @total(%x) outs(%s, %t)
    scratch(%p, %q : memref<3x8xf32>, memref<3x8xf32>) {rows = 100 : i64}
    : (memref<100x8xf32>) outs (memref<8xf32>, memref<8xbf16>)
  return
}
