// RUN: isobath-opt %s --isobath-lower-rows-to-cpu | FileCheck %s

// A reduction and what depends on it: two walks over the strips of a row, the
// first with four accumulators. The rest of the row, here of 2 elements, is
// under a mask, and its missing lanes count as 0.

// CHECK-LABEL: func.func private @norm(
// CHECK-SAME: %[[WORDS:[a-z0-9]+]]: !llvm.ptr, %[[BEGIN:[a-z0-9]+]]: i64, %[[END:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: i64)
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %[[BEGIN]]
// CHECK-DAG: %[[LAST:.*]] = arith.index_cast %[[END]]
// CHECK: scf.for %[[ROW:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK: arith.muli %[[ROW]]
// CHECK: %[[SUMS:.*]]:4 = scf.for %{{.*}} = %{{.*}} to %c128 step %c64
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK-COUNT-4: llvm.intr.fmuladd
// CHECK: scf.yield
// CHECK: %[[TAIL:.*]] = llvm.intr.masked.load
// CHECK: %[[SQUARES:.*]] = arith.mulf %[[TAIL]], %[[TAIL]]
// CHECK: %[[COUNTED:.*]] = arith.select %{{.*}}, %[[SQUARES]]
// CHECK: %[[A:.*]] = arith.addf %[[SUMS]]#0, %[[COUNTED]]
// CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[SUMS]]#1
// CHECK: %[[CD:.*]] = arith.addf %[[SUMS]]#2, %[[SUMS]]#3
// CHECK: arith.addf %[[AB]], %[[CD]] : vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: math.rsqrt
// CHECK: scf.for %{{.*}} = %{{.*}} to %c128 step %c64 {
// CHECK-COUNT-4: llvm.load
// CHECK-COUNT-4: llvm.store
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// CHECK-NOT: scf.for
row.kernel private @norm(%x: !row.matrix<130xf32>) -> (%y: !row.matrix<130xf32>) {
  %row = row.load %x : !row.matrix<130xf32> -> vector<130xf32>
  %squares = arith.mulf %row, %row : vector<130xf32>
  %sum = vector.reduction <add>, %squares : vector<130xf32> into f32
  %rstd = math.rsqrt %sum : f32
  %scale = vector.broadcast %rstd : f32 to vector<130xf32>
  %out = arith.mulf %row, %scale : vector<130xf32>
  row.store %out, %y : vector<130xf32>, !row.matrix<130xf32>
  row.return
}

// Independent reductions and a store share one walk.
// CHECK-LABEL: func.func private @shared_pass(
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4: llvm.store
// CHECK: scf.yield
// CHECK-NOT: scf.for
row.kernel private @shared_pass(%x: !row.matrix<128xf32>)
    -> (%y: !row.matrix<128xf32>, %s: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = row.load %x : !row.matrix<128xf32> -> vector<128xf32>
  %sum = vector.reduction <add>, %row : vector<128xf32> into f32
  %max = vector.reduction <maximumf>, %row : vector<128xf32> into f32
  row.store_scalar %sum, %s[%c0] : !row.scalars<f32>
  row.store_scalar %max, %s[%c1] : !row.scalars<f32>
  row.store %row, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}

// A loop that carries a row runs inside the strip, four sources at a time, and
// then the rest of them one by one.
// CHECK-LABEL: func.func private @mix(
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %c128 step %c64 {
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[MIDDLE:.*]] step %c4 iter_args(
// CHECK-COUNT-16: llvm.intr.fmuladd
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %{{.*}} step %c1 iter_args(
// CHECK-COUNT-4: llvm.intr.fmuladd
// CHECK: scf.yield
// CHECK-COUNT-4: llvm.store
// CHECK-NOT: alloca
row.kernel private @mix(%l: !row.list<128xf32>, %w: !row.scalars<f32>)
    -> (%y: !row.matrix<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : vector<128xf32>
  %n = row.count %l : !row.list<128xf32>
  %mix = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros)
      -> (vector<128xf32>) {
    %a = row.load_scalar %w[%i] : !row.scalars<f32>
    %as = vector.broadcast %a : f32 to vector<128xf32>
    %s = row.load %l[%i] : !row.list<128xf32> -> vector<128xf32>
    %0 = arith.mulf %as, %s : vector<128xf32>
    %1 = arith.addf %sum, %0 : vector<128xf32>
    scf.yield %1 : vector<128xf32>
  }
  row.store %mix, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}

// What two walks need of such a loop is kept; anything else is computed again.
// CHECK-LABEL: func.func private @kept(
// CHECK: llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK-NOT: alloca
// CHECK: scf.for
// CHECK: math.rsqrt
row.kernel private @kept(%l: !row.list<128xf32>) -> (%y: !row.matrix<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : vector<128xf32>
  %n = row.count %l : !row.list<128xf32>
  %mix = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros)
      -> (vector<128xf32>) {
    %s = row.load %l[%i] : !row.list<128xf32> -> vector<128xf32>
    %1 = arith.addf %sum, %s : vector<128xf32>
    scf.yield %1 : vector<128xf32>
  }
  %squares = arith.mulf %mix, %mix : vector<128xf32>
  %total = vector.reduction <add>, %squares : vector<128xf32> into f32
  %r = math.rsqrt %total : f32
  %rs = vector.broadcast %r : f32 to vector<128xf32>
  %out = arith.mulf %mix, %rs : vector<128xf32>
  row.store %out, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}

// The mix reads sources that the logits have brought into the cache. It asks for
// those of the next row, 64 elements or 4 lines at a time.
// CHECK-LABEL: func.func private @logits_and_mix(
// CHECK-NOT: prefetch
// CHECK: llvm.store
// CHECK: scf.for {{.*}} step %c4 iter_args(
// CHECK-COUNT-16: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: scf.yield
// CHECK-COUNT-4: "llvm.intr.prefetch"
// CHECK: scf.yield
row.kernel private @logits_and_mix(%l: !row.list<128xf32>)
    -> (%y: !row.matrix<128xf32>, %w: !row.scalars<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : vector<128xf32>
  %n = row.count %l : !row.list<128xf32>
  scf.for %i = %c0 to %n step %c1 {
    %s = row.load %l[%i] : !row.list<128xf32> -> vector<128xf32>
    %sum = vector.reduction <add>, %s : vector<128xf32> into f32
    row.store_scalar %sum, %w[%i] : !row.scalars<f32>
  }
  %mix = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros)
      -> (vector<128xf32>) {
    %a = row.load_scalar %w[%i] : !row.scalars<f32>
    %as = vector.broadcast %a : f32 to vector<128xf32>
    %s = row.load %l[%i] : !row.list<128xf32> -> vector<128xf32>
    %0 = arith.mulf %as, %s : vector<128xf32>
    %1 = arith.addf %sum, %0 : vector<128xf32>
    scf.yield %1 : vector<128xf32>
  }
  row.store %mix, %y : vector<128xf32>, !row.matrix<128xf32>
  row.return
}

// exp is arithmetic, without a call, without f64, and without what some machines
// do not have; bf16 is shifted and rounded in integers.
// CHECK-LABEL: func.func private @bf16(
// CHECK-NOT: math.
// CHECK-NOT: extf
// CHECK-NOT: truncf
// CHECK-NOT: f64
// CHECK-NOT: !llvm.ptr -> vector<16xbf16>
// CHECK: return
row.kernel private @bf16(%x: !row.matrix<64xbf16>) -> (%y: !row.matrix<64xbf16>) {
  %row = row.load %x : !row.matrix<64xbf16> -> vector<64xbf16>
  %0 = arith.extf %row : vector<64xbf16> to vector<64xf32>
  %1 = math.exp %0 : vector<64xf32>
  %2 = arith.truncf %1 : vector<64xf32> to vector<64xbf16>
  row.store %2, %y : vector<64xbf16>, !row.matrix<64xbf16>
  row.return
}
