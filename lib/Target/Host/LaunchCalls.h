//===- LaunchCalls.h - Launches as calls of the device --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is a call of isobath_launch (device_calls.h) with constant data that
// says what is launched, and words on the stack that say on what. The words of
// a row kernel are those of RowAddresses.h; targets may add to them.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_TARGET_HOST_LAUNCHCALLS_H
#define ISOBATH_LIB_TARGET_HOST_LAUNCHCALLS_H

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace isobath::host {

/// What is launched: fields of IsobathLaunch that a target decides.
struct KernelLaunch {
  std::string kernel;
  mlir::func::FuncOp function = nullptr; // of the CPU
  int64_t rows = 0;
  int64_t chunks = 0;
  int64_t blocks = 0;
  int64_t threads = 0;
  int64_t sharedBytes = 0;
};

/// The words of one launch.
class LaunchWords {
public:
  void addAddress(mlir::Value memref) { words.push_back({memref, 0, {}}); }
  void addNumber(int64_t number) { words.push_back({{}, number, {}}); }
  /// Two words: a number and a table of as many addresses.
  void addTable(mlir::ValueRange memrefs) {
    addNumber(memrefs.size());
    words.push_back({{}, 0, llvm::to_vector(memrefs)});
  }
  /// Those of a launch of `kernel`, whose sums are added up in its scratch.
  void addArguments(row::LaunchOp launch, row::KernelOp kernel);

private:
  friend class LaunchCalls;
  struct Word {
    mlir::Value memref;
    int64_t number;
    llvm::SmallVector<mlir::Value> table; // never empty where there is one
  };
  llvm::SmallVector<Word> words;
};

/// The partial sums of `sum`, of which there are `parts`; `total` is what they
/// are added up to.
mlir::MemRefType getScratchType(row::SumType sum, int64_t parts,
                                mlir::Value total);

/// Checks that the launch has the scratch that its sums over `parts` parts
/// need; a diagnostic says what is missing.
mlir::LogicalResult checkScratch(row::LaunchOp launch, row::KernelOp kernel,
                                 int64_t parts);

class LaunchCalls {
public:
  LaunchCalls(mlir::ModuleOp module, mlir::SymbolTable &symbols)
      : module(module), symbols(symbols) {}

  /// Builds the call. `origin` is the row kernel whose time it counts as.
  void build(mlir::OpBuilder &builder, mlir::Location loc,
             const KernelLaunch &launch, const LaunchWords &words,
             llvm::StringRef origin);

private:
  mlir::LLVM::GlobalOp getDescription(mlir::Location loc,
                                      const KernelLaunch &launch,
                                      const LaunchWords &words,
                                      llvm::StringRef origin);
  mlir::LLVM::GlobalOp addText(mlir::Location loc, llvm::StringRef text);
  mlir::LLVM::GlobalOp addNumbers(mlir::Location loc,
                                  llvm::ArrayRef<int32_t> numbers);
  mlir::Value getStack(mlir::Operation *function, int64_t count);

  mlir::ModuleOp module;
  mlir::SymbolTable &symbols;
  llvm::StringMap<mlir::LLVM::GlobalOp> descriptions; // by all that is in them
  llvm::DenseMap<mlir::Operation *, mlir::LLVM::AllocaOp> stackOf;
};

} // namespace isobath::host

#endif // ISOBATH_LIB_TARGET_HOST_LAUNCHCALLS_H
