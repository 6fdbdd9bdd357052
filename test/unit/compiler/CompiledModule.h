//===- CompiledModule.h - Small modules, run in this process --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles functions over tensors in this process, by the pipelines that the
// program itself uses, and calls them with numbers. For tests alone: whole
// models run through the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_COMPILER_COMPILEDMODULE_H
#define ISOBATH_TEST_UNIT_COMPILER_COMPILEDMODULE_H

#include "isobath/Driver/Jit.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>
#include <string>
#include <vector>

namespace isobath::test {

/// A tensor of f64, f32 or i32, whose elements are held as doubles.
struct Tensor {
  std::string type; // f64, f32 or i32
  std::vector<int64_t> shape;
  std::vector<double> values;
};

using Tensors = std::vector<Tensor>;

enum class Target { reference, cpu };

/// The functions of a module, ready to be called.
class CompiledModule {
public:
  /// Parses `text`, runs the textual pass pipeline `passes` on it and compiles
  /// its public functions for `target`. Throws std::runtime_error, after MLIR's
  /// diagnostics went to standard error, if any of this fails.
  explicit CompiledModule(const std::string &text,
                          const std::string &passes = "",
                          Target target = Target::reference);

  /// Calls `function`, whose arguments must be given one by one and have the
  /// declared types and shapes, and returns its results.
  Tensors call(const std::string &function, const Tensors &arguments) const;

  /// Tensors like the arguments of `function`, with zeros.
  Tensors arguments(const std::string &function) const;

private:
  /// An entry of the unit, from its manifest.
  struct Entry {
    IsobathEntryFunction run;
    std::vector<Tensor> buffers; // zeros of the right type and shape
    size_t argumentCount;        // these come first,
    size_t resultCount;          // then these, then perhaps the arena
  };
  const Entry &find(const std::string &function) const;

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  JitUnit unit;
  std::vector<std::pair<std::string, Entry>> entries;
};

/// Numbers from −1 to 1, the same in every run.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : engine(seed) {}

  /// Fills all floating-point tensors.
  void fill(Tensors &tensors);
  void fill(Tensor &tensor);

private:
  std::mt19937_64 engine;
};

/// The Euclidean norm of `tensor`.
double norm(const Tensor &tensor);

/// The Euclidean norm of left − right, which must have one shape.
double distance(const Tensor &left, const Tensor &right);

/// The sum of two tensors of one shape.
Tensor operator+(const Tensor &left, const Tensor &right);

} // namespace isobath::test

#endif // ISOBATH_TEST_UNIT_COMPILER_COMPILEDMODULE_H
