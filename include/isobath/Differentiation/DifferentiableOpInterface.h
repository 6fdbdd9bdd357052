//===- DifferentiableOpInterface.h - Ops that know their adjoint --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_H
#define ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/BitVector.h"

#include "isobath/Differentiation/DifferentiableOpInterface.h.inc"

#endif // ISOBATH_DIFFERENTIATION_DIFFERENTIABLEOPINTERFACE_H
