//===- ParameterLayout.cpp - Where parameters lie in one contiguous vector ===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/ParameterLayout.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath::net;

FailureOr<ParameterLayout> ParameterLayout::get(FunctionOpInterface function) {
  ParameterLayout layout;
  SmallVector<ParameterSlot> matrices, vectors;
  llvm::StringSet<> names;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    auto parameter =
        function.getArgAttrOfType<ParameterAttr>(i, parameterAttrName);
    if (!parameter)
      continue;
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!names.insert(parameter.getName()).second)
      return function->emitError() << "expected parameters of different names, "
                                      "got '"
                                   << parameter.getName() << "' twice";
    if (!layout.elementType)
      layout.elementType = type.getElementType();
    if (layout.elementType != type.getElementType())
      return function->emitError()
             << "expected parameters of one element type, got "
             << layout.elementType << " and " << type.getElementType()
             << " for '" << parameter.getName() << "'";
    (type.getRank() == 2 ? matrices : vectors)
        .push_back({parameter, type, i, /*offset=*/0});
  }
  if (!layout.elementType)
    return layout;

  int64_t alignment =
      parameterAlignment * 8 / layout.elementType.getIntOrFloatBitWidth();
  auto place = [&](MutableArrayRef<ParameterSlot> slots) {
    for (ParameterSlot &slot : slots) {
      slot.offset = layout.elements;
      layout.elements = llvm::alignTo(
          layout.elements + slot.type.getNumElements(), alignment);
      layout.slots.push_back(slot);
    }
  };
  place(matrices);
  layout.matrixElements = layout.elements;
  place(vectors);
  return layout;
}

const ParameterSlot *ParameterLayout::find(StringRef name) const {
  const auto *slot = llvm::find_if(slots, [&](const ParameterSlot &slot) {
    return slot.parameter.getName() == name;
  });
  return slot == slots.end() ? nullptr : slot;
}

StringRef isobath::net::getParameterName(FunctionOpInterface function,
                                         Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return "";
  auto parameter = function.getArgAttrOfType<ParameterAttr>(
      argument.getArgNumber(), parameterAttrName);
  return parameter ? parameter.getName() : "";
}
