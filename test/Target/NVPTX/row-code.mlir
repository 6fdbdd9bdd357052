// What LLVM makes of kernels, on each architecture.
// RUN: isobath-opt %s --pass-pipeline='builtin.module(isobath-nvptx-code,symbol-dce)' \
// RUN:   | sed '/^module {$/d; s/^  gpu.module .*/module {/; /^}$/d' \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 -mtriple=nvptx64-nvidia-cuda -mcpu=sm_80 -o %t.bc
// RUN: llc %t.bc -mcpu=sm_80 -mattr=+ptx70 -o - | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: llc %t.bc -mcpu=sm_90 -mattr=+ptx78 -o - | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: llc %t.bc -mcpu=sm_100 -mattr=+ptx86 -o - | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: llc %t.bc -mcpu=sm_120 -mattr=+ptx87 -o - | FileCheck %s --check-prefixes=CHECK,SM90

// A route over any number of sources, and the norm of what it mixes: a warp has
// 32 elements a thread. The query is loaded once, every source twice, the norm
// and each of the two reductions over a source are five shuffles.
// CHECK-LABEL: .entry route(
// CHECK-COUNT-8: ld.global.nc.v{{4.b32|2.b64}}
// CHECK: ld.global.nc.b64
// CHECK-COUNT-8: ld.global.v{{4.b32|2.b64}}
// CHECK-NOT: ld.global.v4
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK: rsqrt.approx.ftz.f32
// CHECK: st.shared.b32
// CHECK: st.global.b32
// CHECK: bar.warp.sync
// CHECK: ex2.approx.ftz.f32
// CHECK: ld.global.nc.b64
// CHECK-COUNT-8: ld.global.v{{4.b32|2.b64}}
// CHECK-NOT: ld.global.v4
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK-COUNT-8: st.global.v{{4.b32|2.b64}}
// CHECK-NOT: {{st.global|shfl|bar.sync|ld.global}}
// CHECK: ret;
row.kernel private @route(%query: !row.vector<1024xf32>, %sources: !row.list<1024xf32>)
    -> (%weights: !row.scalars<f32>, %y: !row.matrix<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant 1024.0 : f32
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %n = row.count %sources : !row.list<1024xf32>
  scf.for %i = %c0 to %n step %c1 {
    %s = row.load %sources[%i] : !row.list<1024xf32> -> vector<1024xf32>
    %0 = arith.mulf %s, %s : vector<1024xf32>
    %1 = vector.reduction <add>, %0 : vector<1024xf32> into f32
    %2 = arith.divf %1, %width : f32
    %3 = math.sqrt %2 : f32
    %4 = arith.divf %one, %3 : f32
    %q = row.load %query : !row.vector<1024xf32> -> vector<1024xf32>
    %5 = arith.mulf %s, %q : vector<1024xf32>
    %6 = vector.reduction <add>, %5 : vector<1024xf32> into f32
    %7 = arith.mulf %4, %6 : f32
    row.store_scalar %7, %weights[%i] : !row.scalars<f32>
  }
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero) -> (f32) {
    %0 = row.load_scalar %weights[%i] : !row.scalars<f32>
    %1 = math.exp %0 : f32
    row.store_scalar %1, %weights[%i] : !row.scalars<f32>
    %2 = arith.addf %total, %1 : f32
    scf.yield %2 : f32
  }
  %start = vector.broadcast %zero : f32 to vector<1024xf32>
  %mix = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start) -> (vector<1024xf32>) {
    %s = row.load %sources[%i] : !row.list<1024xf32> -> vector<1024xf32>
    %w = row.load_scalar %weights[%i] : !row.scalars<f32>
    %0 = vector.broadcast %w : f32 to vector<1024xf32>
    %1 = arith.mulf %0, %s : vector<1024xf32>
    %2 = arith.addf %m, %1 : vector<1024xf32>
    scf.yield %2 : vector<1024xf32>
  }
  %8 = arith.mulf %mix, %mix : vector<1024xf32>
  %9 = vector.reduction <add>, %8 : vector<1024xf32> into f32
  %10 = arith.mulf %9, %sum : f32
  %11 = vector.broadcast %10 : f32 to vector<1024xf32>
  %12 = arith.mulf %mix, %11 : vector<1024xf32>
  row.store %12, %y : vector<1024xf32>, !row.matrix<1024xf32>
  row.return
}

// 130 elements of bf16 are 260 bytes: rows start at multiples of four. A warp
// has 64 chunks of two elements in two slots, and one chunk more, which one lane
// stores.
// CHECK-LABEL: .entry tail(
// CHECK-COUNT-2: ld.global.v2.b16
// CHECK: ld.global.{{b32|v2.b16}}
// CHECK-NOT: ld.global
// SM80-NOT: cvt.f32.bf16
// SM90-COUNT-4: cvt.f32.bf16
// CHECK: ex2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK: cvt.rn.bf16x2.f32
// CHECK-COUNT-2: st.global.{{b32|v2.b16}}
// CHECK: @%p{{[0-9]+}} bra
// CHECK: st.global.{{b32|v2.b16}}
// CHECK-NOT: st.global
// CHECK: ret;
row.kernel private @tail(%x: !row.matrix<130xbf16>) -> (%y: !row.matrix<130xbf16>) {
  %one = arith.constant dense<1.0> : vector<130xf32>
  %0 = row.load %x : !row.matrix<130xbf16> -> vector<130xbf16>
  %gate = arith.extf %0 : vector<130xbf16> to vector<130xf32>
  %1 = math.exp %gate : vector<130xf32>
  %2 = arith.addf %one, %1 : vector<130xf32>
  %3 = arith.divf %one, %2 : vector<130xf32>
  %4 = arith.truncf %3 : vector<130xf32> to vector<130xbf16>
  row.store %4, %y : vector<130xbf16>, !row.matrix<130xbf16>
  row.return
}

// Eight elements of bf16 at once. The f32 weight has the same chunks, two
// accesses each. 4096 elements are the work of four warps, whose two sums take
// one barrier.
// CHECK-LABEL: .entry norm(
// CHECK: .maxntid 128, 1, 1
// CHECK: .minnctapersm 1
// CHECK-COUNT-4: ld.global.v{{4.b32|2.b64}}
// CHECK-NOT: ld.global.{{v|b}}
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK-COUNT-2: st.shared.b32
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK-COUNT-2: ld.shared.v{{4.b32|2.b64}}
// CHECK-COUNT-4: st.global.v{{4.b32|2.b64}}
// CHECK-NOT: {{st.global|bar.sync|shfl}}
// CHECK: ret;
row.kernel private @norm(%x: !row.matrix<4096xbf16>, %w: !row.vector<4096xf32>)
    -> (%y: !row.matrix<4096xbf16>) {
  %0 = row.load %x : !row.matrix<4096xbf16> -> vector<4096xbf16>
  %1 = arith.extf %0 : vector<4096xbf16> to vector<4096xf32>
  %2 = arith.mulf %1, %1 : vector<4096xf32>
  %3 = vector.reduction <add>, %2 : vector<4096xf32> into f32
  %4 = vector.broadcast %3 : f32 to vector<4096xf32>
  %5 = arith.mulf %1, %4 : vector<4096xf32>
  %6 = row.load %w : !row.vector<4096xf32> -> vector<4096xf32>
  %7 = arith.mulf %1, %6 : vector<4096xf32>
  %8 = vector.reduction <maximumf>, %7 : vector<4096xf32> into f32
  %9 = vector.broadcast %8 : f32 to vector<4096xf32>
  %10 = arith.mulf %5, %9 : vector<4096xf32>
  %11 = arith.truncf %10 : vector<4096xf32> to vector<4096xbf16>
  row.store %11, %y : vector<4096xbf16>, !row.matrix<4096xbf16>
  row.return
}

// A row as wide as a vocabulary is gone through in strips, twice, and never in
// one piece. Its width is odd: one element is what threads have at once.
// CHECK-LABEL: .entry cross_entropy(
// CHECK: .maxntid 256, 1, 1
// CHECK: ld.global.b32
// CHECK: max.NaN.f32
// CHECK: shfl.sync.bfly.b32
// CHECK: bar.sync
// CHECK: ld.global.b32
// CHECK: ex2.approx.ftz.f32
// CHECK: shfl.sync.bfly.b32
// CHECK: bar.sync
// CHECK: st.global.b32
// CHECK: ret;
row.kernel private @cross_entropy(%logits: !row.matrix<50257xf32>) -> (%loss: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %0 = row.load %logits : !row.matrix<50257xf32> -> vector<50257xf32>
  %1 = vector.reduction <maximumf>, %0 : vector<50257xf32> into f32
  %2 = vector.broadcast %1 : f32 to vector<50257xf32>
  %3 = arith.subf %0, %2 : vector<50257xf32>
  %4 = math.exp %3 : vector<50257xf32>
  %5 = vector.reduction <add>, %4 : vector<50257xf32> into f32
  %6 = math.log %5 : f32
  %7 = arith.addf %1, %6 : f32
  row.store_scalar %7, %loss[%c0] : !row.scalars<f32>
  row.return
}

// A sum over rows: every warp clears 256 numbers of its own, adds the rows that
// are its to them, and another kernel adds the warps.
// CHECK-LABEL: .entry total(
// CHECK-COUNT-2: st.global.v{{4.b32|2.b64}}
// CHECK: bar.warp.sync
// CHECK: ld.global.v{{4.b32|2.b64}}
// CHECK: add.{{(rn.)?}}f32
// CHECK: st.global.v{{4.b32|2.b64}}
// CHECK-NOT: {{atom|red[.]}}
// CHECK: ret;
// CHECK-LABEL: .entry isobath$sum256xf32$f32(
// CHECK: .maxntid 512, 1, 1
// CHECK: ld.global.b32
// CHECK: add.{{(rn.)?}}f32
// CHECK: bar.sync
// CHECK-COUNT-15: add.{{(rn.)?}}f32
// CHECK: st.global.b32
// CHECK: ret;
// CHECK-NOT: {{[.]local|[.]extern [.]func|[.]f64}}
row.kernel private @total(%x: !row.matrix<256xf32>) -> (%sum: !row.sum<256xf32>) {
  %0 = row.load %x : !row.matrix<256xf32> -> vector<256xf32>
  row.accumulate %0, %sum : vector<256xf32>, !row.sum<256xf32>
  row.return
}
