//===- RowKernelOpInterface.td - Ops that run as a row kernel -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FUSION_ROWKERNELOPINTERFACE_TD
#define ISOBATH_FUSION_ROWKERNELOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def RowKernelOpInterface : OpInterface<"RowKernelOpInterface"> {
  let cppNamespace = "::isobath::fusion";
  let description = [{
    An op that computes each row of its results from rows of its operands, sums
    over rows aside: it says what its rows are and what happens to one of them.
    Matrix products and attention are not such ops.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Sets the number of rows, binds operands and results to the arguments of
        the kernel, and builds its body. What the kernel reads besides the
        operands, such as a table of angles, is built in front of the op.

        The kernel may depend on the op's attributes and on widths, not on the
        number of sources nor on names in reports.
      }],
      /*retTy=*/"void",
      /*methodName=*/"buildRowKernel",
      /*args=*/(ins "::isobath::fusion::RowBuilder &":$rows)
    >
  ];
}

#endif // ISOBATH_FUSION_ROWKERNELOPINTERFACE_TD
