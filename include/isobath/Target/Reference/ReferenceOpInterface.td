//===- ReferenceOpInterface.td - Ops with a lowering to plain loops -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_TD
#define ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::isobath::reference";
  let description = [{
    An op that the reference target can execute: it says in plain loops what it
    computes. These loops are the meaning against which every other lowering is
    tested, so they follow the op's formula and nothing else.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Writes the results, given as buffers, from the operands. Operands and
        results do not overlap, and every element of a result is written.
      }],
      /*retTy=*/"void",
      /*methodName=*/"buildLoops",
      /*args=*/(ins "::isobath::reference::LoopBuilder &":$loops,
                    "::llvm::ArrayRef<::isobath::reference::Buffer>":$operands,
                    "::llvm::ArrayRef<::isobath::reference::Buffer>":$results)
    >
  ];
}

#endif // ISOBATH_TARGET_REFERENCE_REFERENCEOPINTERFACE_TD
