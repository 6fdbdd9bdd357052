// RUN: isobath-opt %s --isobath-plan-memory=gap=100 | FileCheck %s

func.func private @use2(memref<16xf32>, memref<16xf32>)
func.func private @use3(memref<16xf32>, memref<16xf32>, memref<16xf32>)

// 64 bytes and a gap of 100 are 192 with what makes the next offset a multiple of
// 64. Buffers begin with the first op that uses them, also where another had their
// place before: the third lies on the first.
// CHECK-LABEL: func.func @begins
// CHECK-SAME: memref<384xi8> {net.name = "arena"}
// CHECK: call @use2(%{{.*}}, %{{.*}}) {isobath.begins = array<i64: 0, 64>}
// CHECK: call @use3(%{{.*}}) {isobath.begins = array<i64: 192, 64>}
// CHECK: call @use2(%{{.*}}) {isobath.begins = array<i64: 0, 64>}
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<16xf32> to memref<16xf32>
func.func @begins(%x: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  call @use2(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  call @use3(%a, %a, %b)
    : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  call @use2(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  memref.copy %c, %x : memref<16xf32> to memref<16xf32>
  return
}
