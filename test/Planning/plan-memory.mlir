// RUN: isobath-opt %s --isobath-plan-memory | FileCheck %s

func.func private @use1(memref<16xf32>)
func.func private @use2(memref<16xf32>, memref<16xf32>)
func.func private @use3(memref<16xf32>, memref<16xf32>, memref<16xf32>)
func.func private @mixed(memref<16xf32>, memref<40xf32>)
func.func private @bytes(memref<3xi8>, memref<f64>)

// What an op reads and what it writes are in use at once.
// CHECK-LABEL: func.func @overlapping_lifetimes
// CHECK-SAME: %[[X:[a-z0-9_]+]]: memref<16xf32>, %[[ARENA:[a-z0-9_]+]]: memref<128xi8> {net.name = "arena"}
func.func @overlapping_lifetimes(%x: memref<16xf32>) {
  // CHECK: %[[AT0:[a-z0-9_]+]] = arith.constant 0 : index
  // CHECK: %[[A:[a-z0-9_]+]] = memref.view %[[ARENA]][%[[AT0]]][] : memref<128xi8> to memref<16xf32>
  // CHECK: call @use2(%[[X]], %[[A]])
  // CHECK: %[[AT64:[a-z0-9_]+]] = arith.constant 64 : index
  // CHECK: %[[B:[a-z0-9_]+]] = memref.view %[[ARENA]][%[[AT64]]][] : memref<128xi8> to memref<16xf32>
  // CHECK: call @use2(%[[A]], %[[B]])
  // CHECK: memref.copy %[[B]], %[[X]]
  // CHECK-NOT: memref.alloc
  %a = memref.alloc() : memref<16xf32>
  call @use2(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  call @use2(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  memref.copy %b, %x : memref<16xf32> to memref<16xf32>
  return
}

// After its last use a buffer's place is free: the third lies on the first.
// CHECK-LABEL: func.func @disjoint_lifetimes
// CHECK-SAME: %[[ARENA:[a-z0-9_]+]]: memref<128xi8> {net.name = "arena"}
func.func @disjoint_lifetimes() {
  // CHECK: memref.view %[[ARENA]][%c0{{.*}}]
  // CHECK: memref.view %[[ARENA]][%c64{{.*}}]
  // CHECK: memref.view %[[ARENA]][%c0{{.*}}]
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  call @use2(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  call @use2(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// When a buffer comes into use matters, not when it is allocated: here all
// three are never in use at once.
// CHECK-LABEL: func.func @allocated_early
// CHECK-SAME: memref<64xi8> {net.name = "arena"}
func.func @allocated_early() {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  call @use1(%c) : (memref<16xf32>) -> ()
  call @use1(%a) : (memref<16xf32>) -> ()
  call @use1(%b) : (memref<16xf32>) -> ()
  return
}

// A hole is filled where it is wide enough, and left where it is not. Offsets
// are multiples of 64 bytes: 40 floats take 192.
// CHECK-LABEL: func.func @holes
// CHECK-SAME: %[[ARENA:[a-z0-9_]+]]: memref<384xi8> {net.name = "arena"}
func.func @holes() {
  // CHECK: %[[A:[a-z0-9_]+]] = memref.view %[[ARENA]][%c0{{.*}}] : memref<384xi8> to memref<16xf32>
  // CHECK: %[[B:[a-z0-9_]+]] = memref.view %[[ARENA]][%c64{{.*}}] : memref<384xi8> to memref<16xf32>
  // CHECK: %[[C:[a-z0-9_]+]] = memref.view %[[ARENA]][%c128{{.*}}] : memref<384xi8> to memref<16xf32>
  // CHECK: call @use3(%[[A]], %[[B]], %[[C]])
  // CHECK: %[[WIDE:[a-z0-9_]+]] = memref.view %[[ARENA]][%c192{{.*}}] : memref<384xi8> to memref<40xf32>
  // CHECK: call @mixed(%[[C]], %[[WIDE]])
  // CHECK: %[[D:[a-z0-9_]+]] = memref.view %[[ARENA]][%c0{{.*}}] : memref<384xi8> to memref<16xf32>
  // CHECK: call @mixed(%[[D]], %[[WIDE]])
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  call @use3(%a, %b, %c)
    : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  %wide = memref.alloc() : memref<40xf32>
  call @mixed(%c, %wide) : (memref<16xf32>, memref<40xf32>) -> ()
  %d = memref.alloc() : memref<16xf32>
  call @mixed(%d, %wide) : (memref<16xf32>, memref<40xf32>) -> ()
  return
}

// A result that nothing reads is still written: it has a place of its own while
// its op runs.
// CHECK-LABEL: func.func @unused_result
// CHECK-SAME: %[[ARENA:[a-z0-9_]+]]: memref<128xi8> {net.name = "arena"}
func.func @unused_result(%x: memref<16xf32>) {
  // CHECK: %[[USED:[a-z0-9_]+]] = memref.view %[[ARENA]][%c0{{.*}}]
  // CHECK: %[[UNUSED:[a-z0-9_]+]] = memref.view %[[ARENA]][%c64{{.*}}]
  // CHECK: call @use3(%{{.*}}, %[[USED]], %[[UNUSED]])
  // CHECK: %[[NEXT:[a-z0-9_]+]] = memref.view %[[ARENA]][%c64{{.*}}]
  // CHECK: call @use2(%[[USED]], %[[NEXT]])
  %used = memref.alloc() : memref<16xf32>
  %unused = memref.alloc() : memref<16xf32>
  call @use3(%x, %used, %unused)
    : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  %next = memref.alloc() : memref<16xf32>
  call @use2(%used, %next) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// Odd sizes, scalars among them, are rounded up to 64 bytes.
// CHECK-LABEL: func.func @alignment
// CHECK-SAME: %[[ARENA:[a-z0-9_]+]]: memref<128xi8> {net.name = "arena"}
func.func @alignment() {
  // CHECK: memref.view %[[ARENA]][%c0{{.*}}] : memref<128xi8> to memref<3xi8>
  // CHECK: memref.view %[[ARENA]][%c64{{.*}}] : memref<128xi8> to memref<f64>
  %a = memref.alloc() : memref<3xi8>
  %b = memref.alloc() : memref<f64>
  call @bytes(%a, %b) : (memref<3xi8>, memref<f64>) -> ()
  return
}

// No buffers, no arena. Private functions are kernels, not entries.
// CHECK-LABEL: func.func @nothing_to_place(%{{.*}}: memref<16xf32>) {
func.func @nothing_to_place(%x: memref<16xf32>) {
  call @use1(%x) : (memref<16xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @kernel() {
// CHECK: memref.alloc
func.func private @kernel() {
  %a = memref.alloc() : memref<16xf32>
  call @use1(%a) : (memref<16xf32>) -> ()
  return
}

// What uses a view, also one of a view, uses the buffer, and nothing else does:
// the second buffer is in use together with the first, the third is not.
// CHECK-LABEL: func.func @viewed_buffer
// CHECK-SAME: %[[ARENA:[a-z0-9_]+]]: memref<192xi8> {net.name = "arena"}
func.func @viewed_buffer() {
  // CHECK: %[[A:[a-z0-9_]+]] = memref.view %[[ARENA]][%c0{{.*}}] : memref<192xi8> to memref<128xi8>
  // CHECK: memref.view %[[ARENA]][%c128{{.*}}] : memref<192xi8> to memref<16xf32>
  // CHECK: memref.view %[[ARENA]][%c0{{.*}}] : memref<192xi8> to memref<16xf32>
  %a = memref.alloc() : memref<128xi8>
  %c64 = arith.constant 64 : index
  %v = memref.view %a[%c64][] : memref<128xi8> to memref<16xf32>
  %w = memref.reinterpret_cast %v to offset: [0], sizes: [16], strides: [1]
    : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  call @use1(%v) : (memref<16xf32>) -> ()
  call @use1(%b) : (memref<16xf32>) -> ()
  call @use1(%w) : (memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  call @use1(%c) : (memref<16xf32>) -> ()
  return
}

// An op with results may hand a buffer on: it stays in use to the end.
func.func private @handed_on(memref<16xf32>) -> memref<16xf32>
// CHECK-LABEL: func.func @escaping_buffer
// CHECK-SAME: memref<128xi8> {net.name = "arena"}
func.func @escaping_buffer() {
  %a = memref.alloc() : memref<16xf32>
  %v = call @handed_on(%a) : (memref<16xf32>) -> memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  call @use1(%b) : (memref<16xf32>) -> ()
  call @use1(%v) : (memref<16xf32>) -> ()
  return
}
