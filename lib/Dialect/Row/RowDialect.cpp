//===- RowDialect.cpp - The row dialect and its types ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Row/RowDialect.h"
#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace isobath::row;

#include "isobath/Dialect/Row/RowDialect.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly of types
//===----------------------------------------------------------------------===//

/// `512xf32` or `?xf32`
static ParseResult parseShape(AsmParser &parser, int64_t &width,
                              Type &elementType) {
  SmallVector<int64_t, 1> shape;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape))
    return failure();
  if (shape.size() != 1)
    return parser.emitError(place) << "expected one size, got " << shape.size();
  width = shape.front();
  return parser.parseType(elementType);
}

static void printShape(AsmPrinter &printer, int64_t width, Type elementType) {
  if (ShapedType::isDynamic(width))
    printer << '?';
  else
    printer << width;
  printer << 'x' << elementType;
}

/// `f32` for one plane, `2xf32` for two.
static ParseResult parsePlanes(AsmParser &parser, int64_t &planes,
                               Type &elementType) {
  SmallVector<int64_t, 1> shape;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return failure();
  if (shape.size() > 1)
    return parser.emitError(place)
           << "expected at most one size, got " << shape.size();
  planes = shape.empty() ? 1 : shape.front();
  return parser.parseType(elementType);
}

static void printPlanes(AsmPrinter &printer, int64_t planes, Type elementType) {
  if (planes != 1)
    printer << planes << 'x';
  printer << elementType;
}

#define GET_TYPEDEF_CLASSES
#include "isobath/Dialect/Row/RowTypes.cpp.inc"

void RowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "isobath/Dialect/Row/RowTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "isobath/Dialect/Row/RowOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult verifyShape(EmitError emitError, StringRef what,
                                 int64_t size, Type elementType,
                                 bool mayBeUnknown = false) {
  if (ShapedType::isDynamic(size) && !mayBeUnknown)
    return emitError() << "expected a " << what << ", got ?";
  if (!ShapedType::isDynamic(size) && size <= 0)
    return emitError() << "expected a positive " << what << ", got " << size;
  if (!elementType.isF32() && !elementType.isBF16() && !elementType.isF64() &&
      !elementType.isInteger(32))
    return emitError() << "expected elements of f32, bf16, f64 or i32, got "
                       << elementType;
  return success();
}

LogicalResult MatrixType::verify(EmitError emitError, int64_t width,
                                 Type elementType) {
  return verifyShape(emitError, "width", width, elementType);
}
LogicalResult ListType::verify(EmitError emitError, int64_t width,
                               Type elementType) {
  return verifyShape(emitError, "width", width, elementType);
}
LogicalResult SharedVectorType::verify(EmitError emitError, int64_t width,
                                       Type elementType) {
  return verifyShape(emitError, "width", width, elementType,
                     /*mayBeUnknown=*/true);
}
LogicalResult SumType::verify(EmitError emitError, int64_t width,
                              Type elementType) {
  if (elementType.isInteger())
    return emitError() << "expected a sum of f32, bf16 or f64, got "
                       << elementType;
  return verifyShape(emitError, "width", width, elementType,
                     /*mayBeUnknown=*/true);
}
LogicalResult ScalarsType::verify(EmitError emitError, int64_t planes,
                                  Type elementType) {
  return verifyShape(emitError, "number of planes", planes, elementType);
}

FloatType SumType::getArithmeticType() const {
  if (getElementType().isF64())
    return Float64Type::get(getContext());
  return Float32Type::get(getContext());
}

Type isobath::row::getElementType(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<MatrixType, ListType, SharedVectorType, SumType, ScalarsType>(
          [](auto rows) { return rows.getElementType(); });
}

int64_t isobath::row::getWidth(Type type) {
  return llvm::TypeSwitch<Type, int64_t>(type)
      .Case<MatrixType, ListType, SharedVectorType, SumType>(
          [](auto rows) { return rows.getWidth(); });
}
