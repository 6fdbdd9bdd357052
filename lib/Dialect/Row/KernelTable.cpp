//===- KernelTable.cpp - Kernels that compute the same are one ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Row/KernelTable.h"

using namespace mlir;
using namespace isobath::row;

bool isobath::row::haveSameContent(KernelOp left, KernelOp right) {
  return left.getFunctionType() == right.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(
             &left.getBodyRegion(), &right.getBodyRegion(),
             OperationEquivalence::IgnoreLocations);
}

llvm::hash_code isobath::row::hashContent(KernelOp kernel) {
  llvm::hash_code hash = hash_value(kernel.getFunctionType());
  kernel.getBodyRegion().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

KernelTable::KernelTable(ModuleOp module) : module(module), symbols(module) {
  for (auto kernel : module.getOps<KernelOp>())
    kernels[hashContent(kernel)].push_back(kernel);
}

KernelOp KernelTable::getOrInsert(KernelOp kernel) {
  SmallVector<KernelOp, 1> &candidates = kernels[hashContent(kernel)];
  for (KernelOp candidate : candidates) {
    if (candidate == kernel)
      return kernel;
    if (haveSameContent(candidate, kernel)) {
      kernel.erase();
      return candidate;
    }
  }
  kernel->remove();
  symbols.insert(kernel, module.getBody()->end());
  candidates.push_back(kernel);
  return kernel;
}
