//===- RowsInPlace.cpp - Kernels that write where they read ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the order in which KernelEmitter.cpp runs a kernel: phase by phase,
// in each the scalars, then the loops, then the passes. A pass goes through
// the strips, and reads all that it needs of one before it writes to it.
//
//===----------------------------------------------------------------------===//

#include "RowsInPlace.h"
#include "KernelSchedule.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::rows;
using namespace isobath::row;

/// Whether running `op` may come to a load of `matrix` for which `isWanted`
/// holds. Rows are evaluated where they are consumed.
static bool mayLoad(Operation *op, Value matrix,
                    function_ref<bool(LoadOp)> isWanted,
                    llvm::DenseSet<Operation *> &visited) {
  if (!visited.insert(op).second)
    return false;
  bool found = op->walk([&](LoadOp load) {
                   return load.getSource() == matrix && isWanted(load)
                              ? WalkResult::interrupt()
                              : WalkResult::advance();
                 }).wasInterrupted();
  forEachInput(op, [&](Value value) {
    if (Operation *definition = value.getDefiningOp();
        definition && isRow(value))
      found |= mayLoad(definition, matrix, isWanted, visited);
  });
  return found;
}

static bool mayLoad(
    ArrayRef<Operation *> ops, Value matrix,
    function_ref<bool(LoadOp)> isWanted = [](LoadOp) { return true; }) {
  llvm::DenseSet<Operation *> visited;
  return llvm::any_of(ops, [&](Operation *op) {
    return mayLoad(op, matrix, isWanted, visited);
  });
}

/// The only store to `output`, if it stores whole rows once for every row.
static StoreOp findStore(KernelOp kernel, BlockArgument output) {
  if (!output.hasOneUse())
    return {};
  auto store = dyn_cast<StoreOp>(*output.user_begin());
  bool isWhole = store && !store.getIndex() && !store.getColumn() &&
                 store->getBlock() == kernel.getBody();
  return isWhole ? store : StoreOp();
}

/// The order in which `kernel` runs. One that has none is reported by the pass
/// that needs it.
static FailureOr<KernelSchedule> findSchedule(KernelOp kernel) {
  ScopedDiagnosticHandler quiet(kernel.getContext(),
                                [](Diagnostic &) { return success(); });
  return KernelSchedule::get(kernel);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Whether the kernel, as it is scheduled, reads of `matrix` only the current
/// row, and no element of it once `output` has that.
static bool isUpdateOfMatrix(KernelOp kernel, BlockArgument matrix,
                             BlockArgument output) {
  if (!isa<MatrixType>(matrix.getType()) ||
      matrix.getType() != output.getType())
    return false;
  // Other rows may be at work at the same time.
  for (Operation *user : matrix.getUsers())
    if (auto load = dyn_cast<LoadOp>(user); !load || load.getIndex())
      return false;
  StoreOp store = findStore(kernel, output);
  if (!store)
    return false;
  FailureOr<KernelSchedule> schedule = findSchedule(kernel);
  if (failed(schedule))
    return false;

  bool isWritten = false;
  for (const KernelSchedule::Phase &phase :
       schedule->getPhases(*kernel.getBody())) {
    SmallVector<Operation *> first(phase.scalars);
    first.append(phase.loops.begin(), phase.loops.end());
    if (isWritten && mayLoad(first, matrix))
      return false;
    for (const KernelSchedule::Pass &pass : phase.passes) {
      if (isWritten && mayLoad(pass.sinks, matrix))
        return false;
      if (!llvm::is_contained(pass.sinks, store.getOperation()))
        continue;
      // Columns of other strips may have been written.
      if (mayLoad(pass.sinks, matrix,
                  [](LoadOp load) { return bool(load.getColumn()); }))
        return false;
      isWritten = true;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Whether each matrix of the list `input` is read only where the row that is
/// made of it is stored to the matrix of the same number in the list `output`:
/// what a pass over the strips of a row reads, it reads before it writes.
static bool isUpdateOfList(BlockArgument input, BlockArgument output) {
  if (!isa<ListType>(input.getType()) || input.getType() != output.getType())
    return false;
  // The one op that does more than to count the list.
  auto getAccess = [](BlockArgument list) {
    Operation *access = nullptr;
    for (Operation *user : list.getUsers()) {
      if (isa<CountOp>(user))
        continue;
      if (access)
        return static_cast<Operation *>(nullptr);
      access = user;
    }
    return access;
  };
  auto load = dyn_cast_or_null<LoadOp>(getAccess(input));
  auto store = dyn_cast_or_null<StoreOp>(getAccess(output));
  if (!load || !store || load->getBlock() != store->getBlock() ||
      load.getIndex() != store.getIndex() || load.getColumn() ||
      store.getColumn())
    return false;
  // From the load to the store element by element, so that both are of one
  // pass.
  Value row = load;
  while (row != store.getValue()) {
    if (!row.hasOneUse())
      return false;
    Operation *user = *row.user_begin();
    if (user->getNumResults() != 1 || isa<vector::ReductionOp>(user) ||
        user->getNumRegions() != 0 || user->getBlock() != store->getBlock())
      return false;
    row = user->getResult(0);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::pair<BlockArgument, unsigned>
rows::findArgument(ArrayRef<int32_t> groups,
                   MutableArrayRef<BlockArgument> arguments,
                   unsigned position) {
  for (auto [size, argument] : llvm::zip_equal(groups, arguments)) {
    if (position < static_cast<unsigned>(size))
      return {argument, position};
    position -= size;
  }
  llvm_unreachable("a position in one of the groups");
}

bool rows::canWriteInPlace(CallOp call, unsigned operand, unsigned result) {
  KernelOp kernel = call.lookupKernel();
  auto [input, inputPlace] =
      findArgument(call.getInputGroups(), kernel.getInputs(), operand);
  auto [output, outputPlace] =
      findArgument(call.getOutputGroups(), kernel.getOutputs(), result);
  if (isUpdateOfList(input, output))
    return inputPlace == outputPlace;
  return isUpdateOfMatrix(kernel, input, output);
}
