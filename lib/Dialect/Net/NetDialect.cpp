//===- NetDialect.cpp - The net dialect, its attributes and helpers -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace isobath::net;

#include "isobath/Dialect/Net/NetDialect.cpp.inc"
#include "isobath/Dialect/Net/NetEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "isobath/Dialect/Net/NetAttributes.cpp.inc"

void NetDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "isobath/Dialect/Net/NetAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "isobath/Dialect/Net/NetOps.cpp.inc"
      >();
}

FloatType isobath::net::getArithmeticType(Type elementType) {
  if (elementType.isF64())
    return Float64Type::get(elementType.getContext());
  return Float32Type::get(elementType.getContext());
}

LogicalResult
ParameterAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      StringRef name, Initial initial, FloatAttr std,
                      StringAttr key) {
  // Names end up in JSON: manifests and the headers of weight files.
  if (name.empty() || !llvm::json::isUTF8(name))
    return emitError() << "expected a parameter name in UTF-8, got \""
                       << llvm::json::fixUTF8(name) << "\"";
  if (key && !llvm::json::isUTF8(key.getValue()))
    return emitError() << "expected 'key' in UTF-8, got \""
                       << llvm::json::fixUTF8(key.getValue()) << "\"";
  if ((initial == Initial::Normal) != static_cast<bool>(std))
    return emitError() << "expected 'std' with, and only with, the initial "
                          "values 'normal', got '"
                       << stringifyInitial(initial) << "'";
  if (std && (!std.getValue().isFinite() || std.getValue().isNegative()))
    return emitError() << "expected 'std' to be finite and not negative, got "
                       << std;
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes on functions and modules
//===----------------------------------------------------------------------===//

LogicalResult NetDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == trainAttrName) {
    if (!isa<DictionaryAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << trainAttrName << "' to be a dictionary, got "
             << attribute.getValue();
    return success();
  }
  return op->emitOpError() << "unknown attribute '"
                           << attribute.getName().getValue() << "'";
}

static LogicalResult verifyName(Operation *op, NamedAttribute attribute) {
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!name || name.empty() || !llvm::json::isUTF8(name.getValue()))
    return op->emitOpError() << "expected '" << attribute.getName().getValue()
                             << "' to be a non-empty string in UTF-8, got "
                             << attribute.getValue();
  return success();
}

static LogicalResult verifyDistribution(Operation *op,
                                        NamedAttribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (dictionary && dictionary.getAs<ArrayAttr>("groups") &&
      dictionary.getAs<ArrayAttr>("sources"))
    return success();
  return op->emitOpError() << "expected '" << distributionAttrName
                           << "' to be a dictionary with the arrays 'groups' "
                              "and 'sources', got "
                           << attribute.getValue();
}

LogicalResult NetDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned regionIndex,
                                                   unsigned argIndex,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == nameAttrName)
    return verifyName(op, attribute);
  if (attribute.getName() == distributionAttrName)
    return verifyDistribution(op, attribute);
  if (attribute.getName() == vectorOfAttrName) {
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue());
        type && isa<FloatType>(type.getValue()))
      return success();
    return op->emitOpError()
           << "expected '" << vectorOfAttrName
           << "' to be a floating-point type, got " << attribute.getValue();
  }
  if (attribute.getName() != parameterAttrName)
    return op->emitOpError() << "unknown argument attribute '"
                             << attribute.getName().getValue() << "'";
  if (!isa<ParameterAttr>(attribute.getValue()))
    return op->emitOpError() << "expected '" << parameterAttrName
                             << "' to be a #net.parameter attribute, got "
                             << attribute.getValue();
  Type type = cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex];
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 1 ||
      tensor.getRank() > 2 || !isa<FloatType>(tensor.getElementType()))
    return op->emitOpError()
           << "expected a parameter to be a static floating-point vector or "
              "matrix, got "
           << type << " as argument " << argIndex;
  return success();
}

LogicalResult
NetDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                        unsigned resultIndex,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == nameAttrName || name == gradientAttrName)
    return verifyName(op, attribute);
  if (name == updatesAttrName) {
    auto index = dyn_cast<IntegerAttr>(attribute.getValue());
    auto function = cast<FunctionOpInterface>(op);
    if (!index || index.getInt() < 0 ||
        index.getInt() >= function.getNumArguments() ||
        function.getArgumentTypes()[index.getInt()] !=
            function.getResultTypes()[resultIndex])
      return op->emitOpError()
             << "expected '" << updatesAttrName
             << "' to be the index of an argument of the result's type, got "
             << attribute.getValue();
    return success();
  }
  if (name == distributionAttrName)
    return verifyDistribution(op, attribute);
  return op->emitOpError() << "unknown result attribute '" << name << "'";
}
