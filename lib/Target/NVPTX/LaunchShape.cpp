//===- LaunchShape.cpp - How kernels are launched ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowEmitter.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;
using namespace isobath::row;

std::string nvptx::getFunctionName(KernelOp kernel) {
  std::string name = kernel.getSymName().str();
  std::replace(name.begin(), name.end(), '.', '$');
  return name;
}

FailureOr<LaunchShape> LaunchShape::get(KernelOp kernel) {
  // The layout is that of the order in which the code runs.
  OwningOpRef<KernelOp> clone(kernel.clone());
  gatherReductions(*clone);
  FailureOr<RowLayout> layout = RowLayout::get(*clone);
  if (failed(layout))
    return failure();
  LaunchShape shape;
  shape.threadsPerBlock = layout->getThreadsPerBlock();
  shape.rowsPerBlock = layout->getRowsPerBlock();
  shape.sharedCopies = shape.threadsPerBlock / warpThreads;
  for (BlockArgument scalars : findCopiedScalars(kernel)) {
    shape.sharedScalars.push_back(scalars.getArgNumber());
    shape.sharedScalarBytes.push_back(
        getBytesOfPlanes(cast<ScalarsType>(scalars.getType())));
  }
  for (BlockArgument output : kernel.getOutputs())
    if (auto sum = dyn_cast<SumType>(output.getType())) {
      shape.sums.push_back(output.getArgNumber());
      // Those of any width have a number for each source, which is few.
      int64_t width = sum.isWidthKnown() ? sum.getWidth() : 1;
      shape.widestSum = std::max(shape.widestSum, width);
    }
  return shape;
}

int64_t LaunchShape::countBlocks(int64_t rows) const {
  if (sums.empty())
    return llvm::divideCeil(rows, rowsPerBlock);
  // Parts are written and read once more: few in comparison with the rows, and
  // enough to have every processor of a large GPU at work.
  constexpr int64_t fewestRows = 8, fewestParts = 64, mostParts = 2048,
                    mostElements = 1 << 21;
  int64_t most = std::clamp(mostElements / widestSum, fewestParts, mostParts);
  int64_t parts = std::min<int64_t>(most, llvm::divideCeil(rows, fewestRows));
  return llvm::divideCeil(parts, rowsPerBlock);
}

int64_t LaunchShape::countSharedBytes(ArrayRef<int64_t> scalarsOfRow) const {
  int64_t bytes = 0;
  for (auto [numbers, size] : llvm::zip_equal(scalarsOfRow, sharedScalarBytes))
    bytes += llvm::alignTo(numbers * size, copyAlignment);
  return bytes * sharedCopies;
}
