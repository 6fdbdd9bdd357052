//===- TensorTypes.td - The tensors that operations take and give -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_TENSORTYPES_TD
#define ISOBATH_DIALECT_NET_TENSORTYPES_TD

include "mlir/IR/OpBase.td"

/// A floating-point tensor with a static shape.
class Net_TensorOfRank<list<int> ranks, string summary>
    : RankedTensorOf<[BF16, F32, F64],
                     [HasStaticShapePred, HasAnyRankOfPred<ranks>], summary>;

def Net_Tensor : RankedTensorOf<[BF16, F32, F64], [HasStaticShapePred],
                                "static floating-point tensor">;
def Net_Scalar : Net_TensorOfRank<[0], "floating-point scalar tensor">;
def Net_Vector : Net_TensorOfRank<[1], "static floating-point vector">;
def Net_Matrix : Net_TensorOfRank<[2], "static floating-point matrix">;
def Net_TokenValues
    : Net_TensorOfRank<[2], "static floating-point tensor, one value a token">;
def Net_Activation
    : Net_TensorOfRank<[3], "static floating-point activation">;
def Net_HeadValues
    : Net_TensorOfRank<[3], "static floating-point tensor, one value a head and token">;
def Net_Ids : RankedTensorOf<[I32], [HasStaticShapePred, HasAnyRankOfPred<[2]>],
                             "static tensor of 32-bit ids">;
/// What there are numbers of for every token.
def Net_PerToken
    : RankedTensorOf<[BF16, F32, F64, I32],
                     [HasStaticShapePred, HasAnyRankOfPred<[2, 3, 4, 5]>],
                     "static tensor with numbers for every token">;
def Net_Integers
    : RankedTensorOf<[I32], [HasStaticShapePred, HasAnyRankOfPred<[1]>],
                     "static vector of 32-bit integers">;

#endif // ISOBATH_DIALECT_NET_TENSORTYPES_TD
