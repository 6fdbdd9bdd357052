//===- NetDialect.td - The layers of a transformer ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_NETDIALECT_TD
#define ISOBATH_DIALECT_NET_NETDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "isobath/Dialect/Net/TensorTypes.td"

def Net_Dialect : Dialect {
  let name = "net";
  let cppNamespace = "::isobath::net";
  let summary = "The layers of a transformer, and their adjoints";
  let description = [{
    Whole-tensor operations with static shapes, as a model is made of them:
    embedding, normalisation, linear layers, attention, losses, the optimiser.
    They say what is computed, not how; every one has a reference lowering.

    Letters in shapes are those of the whole project: B sequences, T tokens
    each, D model width, V vocabulary, H heads, K key/value heads, d = D/H.
    Tensors are row-major; the last axis of an activation holds its channels.

    Functions carry what a program around a model needs to know:

    | attribute | on | meaning |
    |---|---|---|
    | `net.parameter` | argument | `#net.parameter<…>`: a trained tensor, its name and its initial values |
    | `net.name` | argument, result | the buffer's name |
    | `net.gradient` | result | the name of the parameter whose gradient this is |
    | `net.updates` | result | the index of the argument that this result replaces in place |
    | `net.distribution` | result, argument | the groups, one for each query, and the sources of a depth distribution |
    | `net.vector_of` | argument | the element type of a vector that is passed as bytes |
    | `net.train` | module | a dictionary with the settings of a training run |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Net_Initial : I32EnumAttr<"Initial", "how a parameter starts", [
    I32EnumAttrCase<"Zeros", 0, "zeros">,
    I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Normal", 2, "normal">]> {
  let cppNamespace = "::isobath::net";
  let genSpecializedAttr = 0;
}

def Net_ParameterAttr : AttrDef<Net_Dialect, "Parameter"> {
  let mnemonic = "parameter";
  let summary = "the name of a trained tensor, and its initial values";
  let description = [{
    `std` (with `normal` only) is the standard deviation. Each value is a
    function of the seed, of `key` (`name` where absent) and of its index, so
    two tensors with one key start equal.

    ```mlir
    #net.parameter<name = "embed.weight", initial = normal, std = 2.0e-02>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name in weight files">:$name,
    EnumParameter<Net_Initial>:$initial,
    OptionalParameter<"::mlir::FloatAttr">:$std,
    OptionalParameter<"::mlir::StringAttr">:$key
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "isobath/Differentiation/DifferentiableOpInterface.td"

/// An op of the dialect: pure, and with result types that follow from its
/// operands, so that a program can be rebuilt for another batch or precision.
class Net_Op<string mnemonic, list<Trait> traits = []>
    : Op<Net_Dialect, mnemonic,
         !listconcat([Pure, InferTypeOpAdaptor], traits)> {
  let hasVerifier = 1;
}

/// An op that can be differentiated.
class Net_DifferentiableOp<string mnemonic, list<Trait> traits = []>
    : Net_Op<mnemonic,
             !listconcat([DeclareOpInterfaceMethods<DifferentiableOpInterface>],
                         traits)>;

/// A matrix product. Its sums are wider than a bf16 in any case, so that the
/// result may be f32 where the operands are bf16, or the other way round.
class Net_ProductOp<string mnemonic, list<Trait> traits = []>
    : Op<Net_Dialect, mnemonic,
         !listconcat([Pure, InferTypeOpAdaptorWithIsCompatible], traits)> {
  let hasVerifier = 1;
}

#endif // ISOBATH_DIALECT_NET_NETDIALECT_TD
