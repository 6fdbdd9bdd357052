//===- RowLaunches.cpp - How rows are divided among threads ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Target/CPU/RowLaunches.h"
#include "KernelArguments.h"
#include "LaunchLowering.h"
#include "isobath/runtime/cpu_library.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::cpu;
using namespace isobath::rows;
using namespace isobath::row;

//===----------------------------------------------------------------------===//
// Division into chunks
//===----------------------------------------------------------------------===//

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

SmallVector<Value> cpu::allocateScratch(OpBuilder &builder, Location loc,
                                        KernelOp kernel, int64_t rows) {
  SmallVector<Value> scratch;
  for (Type type : kernel.getOutputTypes())
    if (auto sum = dyn_cast<SumType>(type))
      scratch.push_back(memref::AllocOp::create(
          builder, loc,
          MemRefType::get({countChunks(kernel, rows), sum.getWidth()},
                          sum.getArithmeticType())));
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kernel that adds up partial sums
//===----------------------------------------------------------------------===//

/// One row, the sum of the rows of `partial` in their order.
static KernelOp buildFinishingKernel(Location loc, SumType type,
                                     int64_t chunks) {
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

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

LaunchLowering::LaunchLowering(ModuleOp module)
    : module(module), kernels(module) {}

/// Sums are finished by a launch of their own; the first one writes only
/// partial sums.
LogicalResult LaunchLowering::finishSums(LaunchOp launch) {
  KernelOp kernel = launch.lookupKernel();
  auto scratch = launch.getScratch();
  OpBuilder builder(launch->getContext());
  builder.setInsertionPointAfter(launch);
  int64_t chunks = countChunks(kernel, launch.getRows());
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes())) {
    auto sum = dyn_cast<SumType>(type);
    if (!sum)
      continue;
    auto expected =
        MemRefType::get({chunks, sum.getWidth()}, sum.getArithmeticType());
    if (scratch.empty() || scratch.front().getType() != expected)
      return launch.emitOpError()
             << "expected a scratch buffer of type " << expected
             << " for the sum that is output " << position;
    KernelOp finishing =
        kernels.getOrInsert(buildFinishingKernel(launch.getLoc(), sum, chunks));
    LaunchOp::create(builder, launch.getLoc(), finishing, {{scratch.front()}},
                     {{launch.getOutputGroup(position).front()}}, ValueRange(),
                     /*rows=*/1);
    scratch = scratch.drop_front();
  }
  return success();
}

/// What each argument of the kernel is given: the words of one that is a list
/// are a number and the buffers of its table.
namespace {
struct ArgumentWords {
  SmallVector<Value> words;
  SmallVector<std::pair<unsigned, SmallVector<Value>>> tables; // by word
};
} // namespace

Value LaunchLowering::getAddress(OpBuilder &builder, Location loc,
                                 Value memref) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    address);
}

static Value createWord(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                      value);
}

/// Words on the stack for all launches of a function: a launch is over when the
/// call returns.
Value LaunchLowering::getWords(LaunchOp launch, int64_t count) {
  auto function = launch->getParentOfType<FunctionOpInterface>();
  LLVM::AllocaOp &words = wordsOf[function];
  OpBuilder builder(function.getFunctionBody());
  if (!words) {
    Value size = LLVM::ConstantOp::create(builder, launch.getLoc(),
                                          builder.getI64IntegerAttr(0));
    words =
        LLVM::AllocaOp::create(builder, launch.getLoc(),
                               LLVM::LLVMPointerType::get(builder.getContext()),
                               builder.getI64Type(), size, /*alignment=*/64);
  }
  auto size = words.getArraySize().getDefiningOp<LLVM::ConstantOp>();
  int64_t have = cast<IntegerAttr>(size.getValue()).getInt();
  size.setValueAttr(builder.getI64IntegerAttr(std::max(have, count)));
  return words;
}

/// What time in a kernel counts as: kernels are called after the ops in them.
static IsobathPart getPart(StringRef name) {
  for (StringRef op : {"route", "partial", "merge", "fixed", "static"})
    if (name.contains(op))
      return ISOBATH_PART_ROUTE;
  if (name.contains("cross_entropy"))
    return ISOBATH_PART_LOSS;
  if (name.contains("adamw") || name.contains("squared_norm"))
    return ISOBATH_PART_OPTIMIZER;
  return ISOBATH_PART_ROWS;
}

void LaunchLowering::lower(LaunchOp launch) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  auto [kernel, function] = compiled.at(launch.getKernel());
  ArgumentWords call;
  auto scratch = launch.getScratch();
  auto append = [&](Type type, ValueRange group) {
    auto address = [&](Value memref) {
      return getAddress(builder, loc, memref);
    };
    if (isa<ListType>(type)) {
      call.words.push_back(createWord(builder, loc, group.size()));
      call.tables.emplace_back(call.words.size(),
                               llvm::map_to_vector(group, address));
      call.words.push_back({});
      return;
    }
    if (isa<SumType>(type)) {
      call.words.push_back(address(scratch.front()));
      scratch = scratch.drop_front();
      return;
    }
    call.words.push_back(address(group.front()));
    if (auto scalars = dyn_cast<ScalarsType>(type)) {
      int64_t plane =
          cast<MemRefType>(group.front().getType()).getNumElements() /
          scalars.getPlanes();
      call.words.push_back(createWord(builder, loc, plane / launch.getRows()));
      call.words.push_back(createWord(builder, loc, plane));
    }
  };
  for (auto [position, type] : llvm::enumerate(kernel.getInputTypes()))
    append(type, launch.getInputGroup(position));
  for (auto [position, type] : llvm::enumerate(kernel.getOutputTypes()))
    append(type, launch.getOutputGroup(position));

  // The words, then the tables.
  int64_t total = call.words.size();
  for (auto &[word, table] : call.tables)
    total += table.size();
  Value words = getWords(launch, total);
  auto pointer = words.getType();
  auto slot = [&](int64_t number) -> Value {
    return LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), words,
        ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(number)));
  };
  int64_t next = call.words.size();
  for (auto &[word, table] : call.tables) {
    call.words[word] = LLVM::PtrToIntOp::create(
        builder, loc, builder.getI64Type(), slot(next));
    for (Value address : table)
      LLVM::StoreOp::create(builder, loc, address, slot(next++));
  }
  for (auto [number, word] : llvm::enumerate(call.words))
    LLVM::StoreOp::create(builder, loc, word, slot(number));

  Value rows = createWord(builder, loc, launch.getRows());
  Value chunks =
      createWord(builder, loc, countChunks(kernel, launch.getRows()));
  Value code = func::ConstantOp::create(
      builder, loc, function.getFunctionType(), function.getSymName());
  Value part = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                            getPart(kernel.getSymName()));
  func::CallOp::create(builder, loc, getRuntimeFunction(),
                       ValueRange{code, words, rows, chunks, part});
  launch.erase();
}

func::FuncOp LaunchLowering::getRuntimeFunction() {
  constexpr StringLiteral name = "isobath_cpu_launch";
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(
      builder, module.getLoc(), name,
      builder.getFunctionType({getKernelType(builder.getContext()), pointer,
                               i64, i64, builder.getI32Type()},
                              {}));
  function.setPrivate();
  return function;
}

FunctionType LaunchLowering::getKernelType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  return FunctionType::get(context, {pointer, i64, i64, i64}, {});
}
