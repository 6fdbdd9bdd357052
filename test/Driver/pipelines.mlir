// RUN: isobath-opt %s --isobath-step=entries=loss,gradient,routes,norm | FileCheck %s --check-prefix=STEP
// RUN: isobath-opt %s --isobath-step=entries=loss,gradient,norm --isobath-reference | FileCheck %s --check-prefix=REFERENCE
// RUN: isobath-opt %s --isobath-step=entries=loss,gradient,norm --isobath-reference --isobath-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: isobath-opt %s --pass-pipeline="builtin.module(isobath-step{entries=loss,gradient,norm},isobath-reference,isobath-to-llvm)" | FileCheck %s --check-prefix=LLVM

// The named stages of Driver/Pipelines.h, one after another, and the same as
// one pipeline in text.

// The route over one source is folded before anything is derived, but where
// its distribution is asked for; its query's gradient is zero.
// STEP-LABEL: func.func @routes
// STEP: depth.route
// STEP-LABEL: func.func @loss
// STEP-NOT: depth.route
// STEP: net.cross_entropy
// STEP-LABEL: func.func @gradient
// STEP: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// STEP-NOT: depth.route
// STEP: net.embedding_adjoint
// STEP: return %{{.*}}, %{{.*}}, %[[ZERO]]
// STEP-LABEL: func.func @norm
// STEP: net.squared_norm

// REFERENCE-LABEL: func.func @loss
// REFERENCE-SAME: memref<{{[0-9]+}}xi8> {net.name = "arena"}
// REFERENCE-NOT: memref.alloc
// REFERENCE-NOT: net.cross_entropy{{ }}
// REFERENCE: call @reference.net.cross_entropy
// REFERENCE: func.func private @reference.

// Nothing but LLVM's dialect is left; copies need no library of MLIR's.
// LLVM-NOT: {{(func|memref|arith|math|scf|cf)\.}}
// LLVM-NOT: unrealized_conversion_cast
// LLVM-NOT: memrefCopy
// LLVM-DAG: llvm.func @loss(
// LLVM-DAG: llvm.func @gradient(
// LLVM-DAG: llvm.func @norm(

func.func @model(
    %tokens: tensor<2x3xi32> {net.name = "tokens"},
    %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = zeros>},
    %query: tensor<8xf32> {net.parameter = #net.parameter<name = "final.route.query", initial = zeros>})
    -> (tensor<2x3x5xf32> {net.name = "logits"}) {
  %e = net.embedding %table, %tokens
    : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
  %h, %a, %l, %r = depth.route queries(%query : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, site = "final", groups = ["final"]}
  %y = net.linear %h, %table
    : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
