//===- KernelAssembly.cpp - Kernels put together from others -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAssembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

void isobath::fusion::tidyKernel(row::KernelOp kernel) {
  Operation *last = nullptr; // of the constants
  kernel.walk([&](arith::ConstantOp constant) {
    if (last)
      constant->moveAfter(last);
    else
      constant->moveBefore(&kernel.getBody()->front());
    last = constant;
  });
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

StringRef isobath::fusion::getStem(row::KernelOp kernel) {
  StringRef name = kernel.getSymName(), stem = name.rtrim("0123456789");
  return stem.ends_with("_") ? stem.drop_back() : name;
}

void isobath::fusion::keepRounding(Value stored) {
  if (auto product = stored.getDefiningOp<arith::MulFOp>())
    product.setFastmath(product.getFastmath() &
                        ~arith::FastMathFlags::contract);
}

std::string isobath::fusion::joinNames(row::KernelOp first,
                                       row::KernelOp second) {
  SmallVector<StringRef> names;
  for (row::KernelOp kernel : {first, second}) {
    SmallVector<StringRef> parts;
    getStem(kernel).split(parts, '.');
    for (StringRef part : parts)
      if (!llvm::is_contained(names, part))
        names.push_back(part);
  }
  return llvm::join(names, ".");
}

Location isobath::fusion::joinNames(Location first, Location second) {
  auto firstName = dyn_cast<NameLoc>(first),
       secondName = dyn_cast<NameLoc>(second);
  if (!firstName || !secondName)
    return first;
  return NameLoc::get(
      StringAttr::get(first.getContext(), firstName.getName().getValue() + "_" +
                                              secondName.getName().getValue()),
      firstName.getChildLoc());
}

/// Replaces loads of scalars that the kernel has stored, where both stand at
/// constant places, by what was stored.
static void forwardScalars(row::KernelOp kernel) {
  // A place of scalars, if it is constant. No plane is the only plane.
  auto getPlace =
      [](Value index,
         Value plane) -> std::optional<std::pair<int64_t, int64_t>> {
    std::optional<int64_t> i = getConstantIntValue(index);
    std::optional<int64_t> p = plane ? getConstantIntValue(plane) : 0;
    if (!i || !p)
      return std::nullopt;
    return std::make_pair(*i, *p);
  };
  for (BlockArgument output : kernel.getOutputs()) {
    if (!isa<row::ScalarsType>(output.getType()))
      continue;
    // Places that are stored to once, at the top of the body.
    std::map<std::pair<int64_t, int64_t>, row::StoreScalarOp> stores;
    bool isKnown = true;
    for (Operation *user : output.getUsers()) {
      auto store = dyn_cast<row::StoreScalarOp>(user);
      if (!store)
        continue;
      auto place = getPlace(store.getIndex(), store.getPlane());
      isKnown &= place && store->getBlock() == kernel.getBody() &&
                 stores.insert({*place, store}).second;
    }
    if (!isKnown)
      continue;
    for (Operation *user : llvm::make_early_inc_range(output.getUsers())) {
      auto load = dyn_cast<row::LoadScalarOp>(user);
      if (!load)
        continue;
      auto place = getPlace(load.getIndex(), load.getPlane());
      auto store = place ? stores.find(*place) : stores.end();
      if (store == stores.end() ||
          !store->second->isBeforeInBlock(
              kernel.getBody()->findAncestorOpInBlock(*load)))
        continue;
      keepRounding(store->second.getValue());
      load.getResult().replaceAllUsesWith(store->second.getValue());
      load.erase();
    }
  }
}

row::KernelOp KernelAssembly::finish() {
  TypeRange types = kernel.getBody()->getArgumentTypes();
  kernel.setFunctionType(builder.getFunctionType(types.take_front(inputCount),
                                                 types.drop_front(inputCount)));
  // Before, for equal places to be one value; after, for what is dead.
  tidyKernel(kernel);
  forwardScalars(kernel);
  tidyKernel(kernel);
  return kernel;
}
