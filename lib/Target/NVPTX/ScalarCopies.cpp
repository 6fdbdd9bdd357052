//===- ScalarCopies.cpp - Scalars that a kernel reads again ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

static constexpr unsigned sharedSpace = 3;

/// The dynamic shared memory of a block, as every kernel of the module sees it.
static constexpr StringLiteral dynamicName = "isobath$shared";

SmallVector<BlockArgument> nvptx::findCopiedScalars(KernelOp kernel) {
  SmallVector<BlockArgument> found;
  for (BlockArgument output : kernel.getOutputs())
    if (llvm::any_of(output.getUsers(), getNumberSource))
      found.push_back(output);
  return found;
}

int64_t nvptx::getBytesOfPlanes(ScalarsType type) {
  return type.getPlanes() * type.getElementType().getIntOrFloatBitWidth() / 8;
}

static void addDynamicMemory(gpu::GPUFuncOp function) {
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  if (module.lookupSymbol(dynamicName))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, dynamicName, Attribute(),
                         /*alignment=*/16, sharedSpace);
}

ScalarCopies::ScalarCopies(KernelOp kernel, gpu::GPUFuncOp function,
                           DeviceArguments &arguments, RowThreads &threads,
                           ImplicitLocOpBuilder &builder)
    : arguments(arguments), threads(threads), builder(builder) {
  SmallVector<BlockArgument> copied = findCopiedScalars(kernel);
  if (copied.empty())
    return;
  addDynamicMemory(function);
  // Copies of one warp after the other: those of warp w begin at w · size.
  SmallVector<Value> offsets;
  Value size = arguments.constant(0);
  for (BlockArgument scalars : copied) {
    offsets.push_back(size);
    int64_t bytes = getBytesOfPlanes(cast<ScalarsType>(scalars.getType()));
    Value here = arguments.multiply(arguments.getWidth(scalars),
                                    arguments.constant(bytes));
    here = arith::AndIOp::create(
        builder, arguments.add(here, arguments.constant(copyAlignment - 1)),
        arguments.constant(-copyAlignment));
    size = arguments.add(size, here);
  }
  Value base = LLVM::AddressOfOp::create(
      builder, LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace),
      dynamicName);
  Value start = arguments.multiply(threads.getWarpInBlock(), size);
  for (auto [scalars, offset] : llvm::zip_equal(copied, offsets))
    places[scalars] = arguments.advance(base, builder.getI8Type(),
                                        arguments.add(start, offset));
}

Value ScalarCopies::getAddress(Value scalars, Value index, Value plane) {
  if (plane)
    index = arguments.add(
        arguments.multiply(plane, arguments.getWidth(scalars)), index);
  return arguments.advance(places.lookup(scalars),
                           getElementType(scalars.getType()), index);
}

void ScalarCopies::wait() {
  threads.synchronizeWarp();
  state = {};
}

Value ScalarCopies::load(Value scalars, Value index, Value plane) {
  if (state.stored.contains(scalars))
    wait();
  state.loaded.insert(scalars);
  return LLVM::LoadOp::create(builder, getElementType(scalars.getType()),
                              getAddress(scalars, index, plane));
}

void ScalarCopies::store(Value value, Value scalars, Value index, Value plane) {
  if (state.loaded.contains(scalars))
    wait();
  state.stored.insert(scalars);
  Value address = getAddress(scalars, index, plane);
  scf::IfOp::create(builder, threads.isFirstOfWarp(),
                    [&](OpBuilder &inner, Location loc) {
                      LLVM::StoreOp::create(inner, loc, value, address);
                      scf::YieldOp::create(inner, loc);
                    });
}

static bool intersect(const llvm::DenseSet<Value> &left,
                      const llvm::DenseSet<Value> &right) {
  return llvm::any_of(left, [&](Value value) { return right.contains(value); });
}

ScalarCopies::State ScalarCopies::enterLoop(Block &body) {
  State inside;
  body.walk([&](Operation *op) {
    if (Value source = getNumberSource(op); source && has(source))
      inside.loaded.insert(source);
    if (auto store = dyn_cast<StoreScalarOp>(op);
        store && has(store.getTarget()))
      inside.stored.insert(store.getTarget());
  });
  // Better once in front than in every iteration.
  if (intersect(state.stored, inside.loaded) ||
      intersect(state.loaded, inside.stored))
    wait();
  State before = state;
  leaveLoop(inside);
  return before;
}

void ScalarCopies::leaveLoop(const State &before) {
  state.loaded.insert(before.loaded.begin(), before.loaded.end());
  state.stored.insert(before.stored.begin(), before.stored.end());
}
