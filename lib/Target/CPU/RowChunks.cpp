//===- RowChunks.cpp - How rows are divided among threads -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowChunks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::row;

int64_t cpu::countChunks(KernelOp kernel, int64_t rows) {
  int64_t fewestRows, most;
  if (llvm::any_of(kernel.getOutputTypes(), llvm::IsaPred<SumType>)) {
    // Every chunk has a row of partial sums, which are added up afterwards.
    fewestRows = 32;
    most = 64;
  } else {
    // As much work as a thread can be asked to begin.
    constexpr int64_t fewestElements = 1 << 14;
    int64_t widest = 1;
    for (BlockArgument argument : kernel.getArguments())
      if (!isa<ScalarsType, SharedVectorType>(argument.getType()))
        widest = std::max(widest, row::getWidth(argument.getType()));
    fewestRows = std::max<int64_t>(fewestElements / widest, 1);
    most = 256;
  }
  int64_t wanted = std::clamp<int64_t>(rows / fewestRows, 1, most);
  // Of equal size, and none empty.
  return llvm::divideCeil(rows, llvm::divideCeil(rows, wanted));
}

/// The same number by number, for sums of any width: all of `partial` are the
/// scalars of one row.
static KernelOp buildFinishingOfAnyWidth(Location loc, SumType type,
                                         int64_t chunks) {
  OpBuilder builder(type.getContext());
  Type number = type.getArithmeticType();
  Type partial = ScalarsType::get(number),
       total = ScalarsType::get(type.getElementType());
  auto kernel = KernelOp::create(builder, loc, "sum_of_chunks",
                                 TypeRange(partial), TypeRange(total));
  ImplicitLocOpBuilder b(loc, builder);
  b.setInsertionPoint(kernel.getBody()->getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value end = arith::ConstantIndexOp::create(b, chunks);
  Value width = WidthOp::create(b, kernel.getOutput(0));
  auto columns = scf::ForOp::create(b, zero, width, one);
  b.setInsertionPoint(columns.getBody()->getTerminator());
  Value column = columns.getInductionVar();
  Value first = LoadScalarOp::create(b, kernel.getInput(0), column);
  auto loop = scf::ForOp::create(b, one, end, one, first);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value place = arith::MulIOp::create(b, loop.getInductionVar(), width);
    place = arith::AddIOp::create(b, place, column);
    Value next = LoadScalarOp::create(b, kernel.getInput(0), place);
    Value sum = arith::AddFOp::create(b, loop.getRegionIterArg(0), next);
    scf::YieldOp::create(b, sum);
  }
  Value sum = loop.getResult(0);
  if (type.getElementType() != number)
    sum = arith::TruncFOp::create(b, type.getElementType(), sum);
  StoreScalarOp::create(b, sum, kernel.getOutput(0), column);
  return kernel;
}

KernelOp cpu::buildFinishingKernel(Location loc, SumType type, int64_t chunks) {
  if (!type.isWidthKnown())
    return buildFinishingOfAnyWidth(loc, type, chunks);
  OpBuilder builder(type.getContext());
  auto partial = MatrixType::get(type.getWidth(), type.getArithmeticType());
  auto total = MatrixType::get(type.getWidth(), type.getElementType());
  auto kernel =
      KernelOp::create(builder, loc, "sum_of_chunks", TypeRange(Type(partial)),
                       TypeRange(Type(total)));
  ImplicitLocOpBuilder b(loc, builder);
  b.setInsertionPoint(kernel.getBody()->getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value end = arith::ConstantIndexOp::create(b, chunks);
  Value first = LoadOp::create(b, kernel.getInput(0), zero);
  auto loop = scf::ForOp::create(b, one, end, one, first);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value next = LoadOp::create(b, kernel.getInput(0), loop.getInductionVar());
    Value sum = arith::AddFOp::create(b, loop.getRegionIterArg(0), next);
    scf::YieldOp::create(b, sum);
  }
  Value row = loop.getResult(0);
  if (total.getElementType() != partial.getElementType())
    row = arith::TruncFOp::create(b, total.getRowType(), row);
  StoreOp::create(b, row, kernel.getOutput(0));
  return kernel;
}
