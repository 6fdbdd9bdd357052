// RUN: isobath-opt %s --isobath-lower-rows-to-cpu | FileCheck %s

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
// CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: %[[COUNT:.*]] = llvm.getelementptr %[[WORDS]][1]
// CHECK: llvm.store %[[TWO]], %[[COUNT]]
// CHECK: %[[TABLE:.*]] = llvm.getelementptr %[[WORDS]][7]
// CHECK: %[[PLACE:.*]] = llvm.ptrtoint %[[TABLE]]
// CHECK: %[[LIST:.*]] = llvm.getelementptr %[[WORDS]][2]
// CHECK: llvm.store %[[PLACE]], %[[LIST]]
// CHECK: memref.extract_aligned_pointer_as_index %[[B]]
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[WORDS]][7]
// CHECK: llvm.store %{{.*}}, %[[FIRST]]
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[WORDS]][8]
// CHECK: llvm.store %{{.*}}, %[[SECOND]]
// CHECK: %[[FIVE:.*]] = llvm.mlir.constant(5 : i64)
// CHECK: %[[WIDTH:.*]] = llvm.getelementptr %[[WORDS]][4]
// CHECK: llvm.store %[[FIVE]], %[[WIDTH]]
// CHECK: %[[THIRTY:.*]] = llvm.mlir.constant(30 : i64)
// CHECK: %[[PLANE:.*]] = llvm.getelementptr %[[WORDS]][5]
// CHECK: llvm.store %[[THIRTY]], %[[PLANE]]
// CHECK: %[[DEVICE:.*]] = llvm.mlir.addressof @isobath_device
// CHECK: %[[LAUNCH:.*]] = llvm.mlir.addressof @[[MIX:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch(%[[DEVICE]], %[[LAUNCH]], %[[WORDS]])
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
// CHECK: llvm.mlir.addressof @[[TOTAL:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch
// CHECK: llvm.mlir.addressof @[[EXACT:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch
// CHECK: llvm.mlir.addressof @[[ROUNDED:launch[_0-9]*]]
// CHECK: llvm.call @isobath_launch
func.func @sums(%x: memref<100x8xf32>, %s: memref<8xf32>, %t: memref<8xbf16>,
                %p: memref<3x8xf32>, %q: memref<3x8xf32>) {
  row.launch @total(%x) outs(%s, %t)
    scratch(%p, %q : memref<3x8xf32>, memref<3x8xf32>) {rows = 100 : i64}
    : (memref<100x8xf32>) outs (memref<8xf32>, memref<8xbf16>)
  return
}

// A copy is the device's; of constants, which the host has, an upload.
// CHECK-LABEL: func.func @copies
// CHECK: llvm.call @isobath_copy(
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK: llvm.call @isobath_upload(%{{.*}}, %{{.*}}, %{{.*}}, %[[BYTES]])
memref.global "private" constant @angles : memref<8xf32> = dense<0.5>
func.func @copies(%a: memref<4x8xf32>, %b: memref<4x8xf32>,
                  %c: memref<8xf32>) {
  memref.copy %a, %b : memref<4x8xf32> to memref<4x8xf32>
  %angles = memref.get_global @angles : memref<8xf32>
  memref.copy %angles, %c : memref<8xf32> to memref<8xf32>
  return
}

// Of part of a tensor, the address is that of its first element: 2·8·4 bytes
// behind the whole's.
// CHECK-LABEL: func.func @part
// CHECK: %[[PART:.*]] = memref.extract_aligned_pointer_as_index %{{reinterpret_cast.*}}
// CHECK: %[[ADDRESS:.*]] = arith.addi %[[PART]], %c64
func.func @part(%whole: memref<4x8xf32>, %to: memref<2x8xf32>) {
  %part = memref.reinterpret_cast %whole to offset: [16], sizes: [2, 8],
    strides: [8, 1]
    : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: 16>>
  memref.copy %part, %to
    : memref<2x8xf32, strided<[8, 1], offset: 16>> to memref<2x8xf32>
  return
}

// What is launched: name, which words are tables, how many tables and words, the
// part whose time it is, the code; rows and chunks; and nothing of a GPU.
// CHECK: llvm.mlir.global internal constant @[[MIX]]()
// CHECK-DAG: %[[NAME_ADDRESS:.*]] = llvm.mlir.addressof @[[NAME:kernel_name[_0-9]*]]
// CHECK-DAG: %[[TABLES_ADDRESS:.*]] = llvm.mlir.addressof @[[TABLES:kernel_tables[_0-9]*]]
// CHECK-DAG: %[[CODE:.*]] = func.constant @mix :
// CHECK-DAG: %[[POINTER:.*]] = builtin.unrealized_conversion_cast %[[CODE]]
// CHECK-DAG: %[[WORD_COUNT:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG: %[[ROWS:.*]] = llvm.mlir.constant(6 : i64)
// CHECK-DAG: %[[CHUNKS:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.insertvalue %[[NAME_ADDRESS]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[TABLES_ADDRESS]], %{{.*}}[1]
// CHECK: llvm.insertvalue %[[WORD_COUNT]], %{{.*}}[3]
// CHECK: llvm.insertvalue %[[POINTER]], %{{.*}}[5]
// CHECK: llvm.insertvalue %[[ROWS]], %{{.*}}[6]
// CHECK: llvm.insertvalue %[[CHUNKS]], %{{.*}}[7]
// CHECK: llvm.mlir.global internal constant @[[NAME]]("mix\00")
// CHECK: llvm.mlir.global internal constant @[[TABLES]](dense<2> : tensor<1xi32>)
// CHECK: llvm.mlir.global internal constant @[[TOTAL]]()
// CHECK-DAG: func.constant @total :
// CHECK-DAG: %[[ROWS:.*]] = llvm.mlir.constant(100 : i64)
// CHECK-DAG: %[[CHUNKS:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: llvm.insertvalue %[[ROWS]], %{{.*}}[6]
// CHECK: llvm.insertvalue %[[CHUNKS]], %{{.*}}[7]
// CHECK: llvm.mlir.global internal constant @[[EXACT]]()
// CHECK: func.constant @sum_of_chunks :
// CHECK: llvm.mlir.global internal constant @[[ROUNDED]]()
// CHECK: func.constant @sum_of_chunks_0 :
