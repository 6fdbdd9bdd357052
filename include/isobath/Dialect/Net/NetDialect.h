//===- NetDialect.h - The net dialect, its attributes and helpers -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_NETDIALECT_H
#define ISOBATH_DIALECT_NET_NETDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "isobath/Dialect/Net/NetDialect.h.inc"
#include "isobath/Dialect/Net/NetEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "isobath/Dialect/Net/NetAttributes.h.inc"

namespace isobath::net {

/// Names of the attributes by which functions and modules describe a program;
/// the dialect's documentation says what each means.
inline constexpr llvm::StringLiteral parameterAttrName = "net.parameter";
inline constexpr llvm::StringLiteral nameAttrName = "net.name";
inline constexpr llvm::StringLiteral gradientAttrName = "net.gradient";
inline constexpr llvm::StringLiteral updatesAttrName = "net.updates";
inline constexpr llvm::StringLiteral distributionAttrName = "net.distribution";
inline constexpr llvm::StringLiteral vectorOfAttrName = "net.vector_of";
inline constexpr llvm::StringLiteral trainAttrName = "net.train";

/// The type that arithmetic on values stored as `elementType` is done in: f64
/// for f64, f32 for everything narrower.
mlir::FloatType getArithmeticType(mlir::Type elementType);

} // namespace isobath::net

#endif // ISOBATH_DIALECT_NET_NETDIALECT_H
