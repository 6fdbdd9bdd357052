//===- NetOps.h - The operations of the net dialect ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_NETOPS_H
#define ISOBATH_DIALECT_NET_NETOPS_H

#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Differentiation/DifferentiableOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "isobath/Dialect/Net/NetOps.h.inc"

namespace isobath::net {

/// The tokens of a tensor or buffer [B, T, …].
int64_t countTokens(mlir::Type type);

} // namespace isobath::net

#endif // ISOBATH_DIALECT_NET_NETOPS_H
