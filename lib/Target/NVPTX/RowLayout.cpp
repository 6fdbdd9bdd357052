//===- RowLayout.cpp - How rows lie in the threads of a GPU ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLayout.h"
#include "../Rows/KernelSchedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

/// What a thread loads or stores at once.
static constexpr int64_t accessBytes = 16;

/// Rows of a block in which each has one warp.
static constexpr int64_t rowsOfWarps = 4;

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// A number that divides `value` whatever it is when the kernel runs; 0 if it
/// is zero.
static int64_t getDivisor(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  if (isa<arith::MulIOp>(op))
    return getDivisor(op->getOperand(0)) * getDivisor(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return std::gcd(getDivisor(op->getOperand(0)),
                    getDivisor(op->getOperand(1)));
  return 1;
}

namespace {
/// An access of rows in memory.
struct Access {
  int64_t width; // of the row that is loaded or stored
  Type argument;
  Type elementType; // in memory
  Value column;     // or null
};
} // namespace

static void forEachAccess(KernelOp kernel,
                          function_ref<void(const Access &)> visit) {
  kernel.getBodyRegion().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      Type type = load.getSource().getType();
      visit({load.getType().getNumElements(), type, getElementType(type),
             load.getColumn()});
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      Type type = store.getTarget().getType();
      visit({rows::getWidth(store.getValue()), type, getElementType(type),
             store.getColumn()});
    } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      SumType type = accumulate.getSum().getType();
      visit({rows::getWidth(accumulate.getValue()), type,
             type.getArithmeticType(), accumulate.getColumn()});
      // Cleared as a whole, or number by number.
      if (type.isWidthKnown())
        visit({type.getWidth(), type, type.getArithmeticType(), Value()});
    }
  });
}

/// How much memory has to do for an access: vectors and partial sums stay in
/// caches, and there are some sources in a list.
static int64_t getWeight(const Access &access) {
  constexpr int64_t sources = 8;
  int64_t bits = access.elementType.getIntOrFloatBitWidth();
  if (isa<MatrixType>(access.argument))
    return bits * sources;
  if (isa<ListType>(access.argument))
    return bits * sources * sources;
  return 1;
}

namespace {
/// What there is to say about rows of one width.
struct WidthAccesses {
  int64_t divisor;                                   // of widths and columns
  llvm::SmallMapVector<int64_t, int64_t, 4> weights; // by wanted chunk
};
} // namespace

void RowLayout::findChunks(KernelOp kernel) {
  llvm::DenseMap<int64_t, WidthAccesses> found;
  auto get = [&](int64_t width) -> WidthAccesses & {
    return found.try_emplace(width, WidthAccesses{width, {}}).first->second;
  };
  forEachAccess(kernel, [&](const Access &access) {
    WidthAccesses &accesses = get(access.width);
    int64_t wanted = std::max<int64_t>(
        1, accessBytes * 8 / access.elementType.getIntOrFloatBitWidth());
    accesses.weights[wanted] += getWeight(access);
    // Of a row of any width, elements are accessed one by one.
    int64_t width = row::getWidth(access.argument);
    accesses.divisor =
        std::gcd(accesses.divisor, ShapedType::isDynamic(width) ? 1 : width);
    if (access.column)
      accesses.divisor = std::gcd(accesses.divisor, getDivisor(access.column));
  });
  kernel.getBodyRegion().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (rows::isRow(result))
        get(rows::getWidth(result));
    // A chunk lies in one part.
    if (auto spread = dyn_cast<SpreadOp>(op)) {
      int64_t &divisor = get(rows::getWidth(spread)).divisor;
      divisor = std::gcd(divisor, spread.getPartWidth());
    }
  });
  for (auto &[width, accesses] : found) {
    int64_t chunk = 1, most = 0;
    for (auto [wanted, weight] : accesses.weights)
      if (weight > most || (weight == most && wanted < chunk)) {
        chunk = wanted;
        most = weight;
      }
    while (accesses.divisor % chunk != 0)
      chunk /= 2;
    chunks[width] = chunk;
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static bool hasLoops(KernelOp kernel) {
  return kernel.getBodyRegion()
      .walk([](scf::ForOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static bool hasReductions(KernelOp kernel) {
  return kernel.getBodyRegion()
      .walk([](vector::ReductionOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

int64_t RowLayout::getRowsPerBlock() const {
  return threads == warpThreads ? rowsOfWarps : 1;
}

int64_t RowLayout::getWidest() const {
  int64_t widest = 0;
  for (auto [width, chunk] : chunks)
    widest = std::max(widest, width);
  return widest;
}

/// Whether that was possible.
bool RowLayout::chooseThreads(KernelOp kernel) {
  constexpr int64_t mostThreads = 1024, blockRegisters = 65536;
  // What a kernel needs beside its rows, what leaves room for four blocks of
  // 128 threads side by side, and what a thread can have.
  constexpr int64_t otherRegisters = 40, goodRegisters = 128,
                    mostRegisters = 255;
  // Loads of one row that a thread has under way.
  constexpr int64_t mostElements = 32;
  if (chunks.empty())
    return true; // nothing but scalars
  int64_t widest = getWidest();

  bool isStraight = !hasLoops(kernel);
  // Without reductions, strips need no more loads than registers do.
  bool isElementwise = isStraight && !hasReductions(kernel);
  int64_t best = 0;
  double bestShare = 0;
  for (int64_t count = warpThreads; count <= mostThreads; count *= 2) {
    int64_t needed = otherRegisters + countRowRegisters(kernel, *this, count);
    int64_t limit = std::min(mostRegisters, blockRegisters / count);
    int64_t elements =
        llvm::divideCeil(countChunks(widest), count) * getChunk(widest);
    if (needed <= std::min(goodRegisters, limit) && elements <= mostElements) {
      threads = count;
      return true;
    }
    if (isElementwise)
      break;
    // Otherwise what fits, and failing that what spills least.
    double share = std::max(1.0, double(needed) / limit);
    if (elements <= mostElements && (!best || share < bestShare)) {
      best = count;
      bestShare = share;
    }
  }
  if (!isStraight) {
    threads = best;
    return best > 0;
  }
  form = RowForm::Strips;
  constexpr int64_t mostStripThreads = 256;
  threads = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(countChunks(widest), mostElements)),
      warpThreads, mostStripThreads);
  return true;
}

FailureOr<RowLayout> RowLayout::get(KernelOp kernel) {
  RowLayout layout;
  layout.findChunks(kernel);
  if (!layout.chooseThreads(kernel)) {
    return kernel.emitOpError()
           << "with a loop has a row of " << layout.getWidest()
           << " elements, more than 1024 threads hold in registers, expected "
              "at most 32768";
  }
  return layout;
}
