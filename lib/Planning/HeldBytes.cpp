//===- HeldBytes.cpp - What waits in the arena for the backward pass ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Planning/HeldBytes.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace isobath;

static BlockArgument findArgument(func::FuncOp entry, StringRef name) {
  for (BlockArgument argument : entry.getArguments()) {
    auto given = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    net::nameAttrName);
    if (given && given.getValue() == name)
      return argument;
  }
  return {};
}

/// Calls `visit` for all that uses `value` or a view of it.
static void forEachUser(Value value,
                        llvm::function_ref<void(Operation *)> visit) {
  for (Operation *user : value.getUsers())
    if (isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1)
      forEachUser(user->getResult(0), visit);
    else
      visit(user);
}

Operation *isobath::findFirstUser(func::FuncOp entry, StringRef name) {
  Operation *first = nullptr;
  if (BlockArgument argument = findArgument(entry, name))
    forEachUser(argument, [&](Operation *user) {
      if (!first || user->isBeforeInBlock(first))
        first = user;
    });
  return first;
}

int64_t isobath::countHeldBytes(func::FuncOp entry, Operation *middle) {
  BlockArgument arena = findArgument(entry, "arena");
  if (!arena)
    return 0;
  int64_t bytes = 0;
  for (Operation *op : arena.getUsers()) {
    auto buffer = dyn_cast<memref::ViewOp>(op);
    if (!buffer)
      continue;
    bool isBefore = false, isAfter = false;
    forEachUser(buffer, [&](Operation *user) {
      bool isEarlier = user->isBeforeInBlock(middle);
      isBefore |= isEarlier;
      isAfter |= !isEarlier && user != middle;
    });
    MemRefType type = buffer.getType();
    if (isBefore && isAfter)
      bytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }
  return bytes;
}
