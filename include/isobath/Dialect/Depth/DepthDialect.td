//===- DepthDialect.td - Routes over depth ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_TD
#define ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "isobath/Dialect/Net/TensorTypes.td"
include "isobath/Differentiation/DifferentiableOpInterface.td"

def Depth_Dialect : Dialect {
  let name = "depth";
  let cppNamespace = "::isobath::depth";
  let summary = "Attention over the depth of a network, and its adjoint";
  let description = [{
    A *source* is a residual tensor s_i [B, T, D]: the embedding, a closed block
    of sublayers, or the running partial sum of the block that is still open. A
    *route* reads all of them through a query: for each token,

        r_i = 1 / sqrt(mean(s_i²) + epsilon)      over all D channels
        ℓ_i = r_i (s_i · u)
        α   = softmax over i of ℓ
        h   = Σ_i α_i s_i

    With `heads` > 1 the channels are cut into contiguous groups, and the dot
    product, softmax and sum are taken per group. All of it is done in f32 (f64
    for f64 sources) and h is rounded once, at the end.

    Sources are the *closed* ones, which no longer change and which several
    routes share, and at most one *partial*. The distinction is what makes
    batching possible: routes over the same closed sources can read them
    together, while the partial differs from sublayer to sublayer.

    A query u is any vector; a key gain is a `net.multiply` in front of the
    route, so that routes and their adjoints do not know about gains. Two routes
    are tied when they use one query value.

    Letters: N sources, of which the first C are closed, Q queries, h heads.
  }];
  let useDefaultAttributePrinterParser = 1;
}

/// An op of the dialect: pure, with result types that follow from its operands.
class Depth_Op<string mnemonic, list<Trait> traits = []>
    : Op<Depth_Dialect, mnemonic,
         !listconcat([Pure, InferTypeOpAdaptor], traits)> {
  let hasVerifier = 1;
}

/// An op that can be differentiated.
class Depth_DifferentiableOp<string mnemonic, list<Trait> traits = []>
    : Depth_Op<mnemonic,
               !listconcat(
                   [DeclareOpInterfaceMethods<DifferentiableOpInterface>],
                   traits)>;

/// One number for each query, token, head and source: [Q, B, T, h, N].
def Depth_Distribution : Net_TensorOfRank<[5],
    "static floating-point tensor [queries, B, T, heads, sources]">;
/// One number for each query, token and head: [Q, B, T, h].
def Depth_HeadScalars : Net_TensorOfRank<[4],
    "static floating-point tensor [queries, B, T, heads]">;
/// One number for each token and source: [B, T, N].
def Depth_SourceScalars : Net_TensorOfRank<[3],
    "static floating-point tensor [B, T, sources]">;

#endif // ISOBATH_DIALECT_DEPTH_DEPTHDIALECT_TD
