// What the machine runs: with AVX2 and with AVX-512.
// RUN: isobath-opt %s --isobath-lower-rows-to-cpu --isobath-to-llvm | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: opt -O2 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 %t.ll | llc -mcpu=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: opt -O2 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 %t.ll | llc -mcpu=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,AVX512

// Two reductions over one load, every product fused, and no call. 16 registers
// do not hold 16 accumulators and an operand.
// CHECK-LABEL: logits:
// AVX2-COUNT-16: vfmadd231ps {{.*}}ymm
// AVX512-COUNT-8: vfmadd231ps {{.*}}zmm
// CHECK-NOT: call
// CHECK: retq
row.kernel private @logits(%x: !row.matrix<1024xf32>, %u: !row.vector<1024xf32>)
    -> (%l: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = row.load %x : !row.matrix<1024xf32> -> vector<1024xf32>
  %w = row.load %u : !row.vector<1024xf32> -> vector<1024xf32>
  %0 = arith.mulf %s, %s : vector<1024xf32>
  %1 = arith.mulf %s, %w : vector<1024xf32>
  %squares = vector.reduction <add>, %0 : vector<1024xf32> into f32
  %dot = vector.reduction <add>, %1 : vector<1024xf32> into f32
  row.store_scalar %squares, %l[%c0] : !row.scalars<f32>
  row.store_scalar %dot, %l[%c1] : !row.scalars<f32>
  row.return
}

// CHECK-LABEL: silu:
// AVX512: vmovdqu16 {{.*}} {%k{{[0-9]}}} {z}
// CHECK-NOT: call
// CHECK: retq
row.kernel private @silu(%x: !row.matrix<130xbf16>) -> (%y: !row.matrix<130xbf16>) {
  %one = arith.constant dense<1.0> : vector<130xf32>
  %0 = row.load %x : !row.matrix<130xbf16> -> vector<130xbf16>
  %gate = arith.extf %0 : vector<130xbf16> to vector<130xf32>
  %1 = arith.negf %gate : vector<130xf32>
  %2 = math.exp %1 : vector<130xf32>
  %3 = arith.addf %one, %2 : vector<130xf32>
  %4 = arith.divf %gate, %3 : vector<130xf32>
  %5 = arith.truncf %4 : vector<130xf32> to vector<130xbf16>
  row.store %5, %y : vector<130xbf16>, !row.matrix<130xbf16>
  row.return
}
