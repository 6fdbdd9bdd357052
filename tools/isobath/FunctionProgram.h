//===- FunctionProgram.h - Functions over tensors, ready to be called -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model's entries go through from the routing stage on, for functions
// without a model around them.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_FUNCTIONPROGRAM_H
#define ISOBATH_TOOLS_ISOBATH_FUNCTIONPROGRAM_H

#include "CompilerProgram.h"
#include "FunctionBuffer.h"
#include "isobath/runtime/buffers.h"

namespace isobath {

struct CompiledFunction {
  std::string name;
  std::vector<FunctionBuffer> buffers; // in the order of the call
  IsobathEntryFunction run = nullptr;

  /// The bytes of all buffers with `role`.
  std::uint64_t countBytes(FunctionBuffer::Role role) const;
};

/// The public functions of a module, compiled, with the memory of their calls.
class FunctionProgram {
public:
  /// Compiles `module`, which is changed. Its memory is allocated, inputs hold
  /// random numbers of the standard normal distribution, whose seed is the
  /// buffer's name, and integers are 0. Throws Error.
  FunctionProgram(const CompilerProgram &compiler, const Lowering &lowering,
                  mlir::OwningOpRef<mlir::ModuleOp> module);

  const std::vector<CompiledFunction> &getFunctions() const {
    return functions;
  }
  void run(const CompiledFunction &function) const;

  std::span<std::byte> getData(const FunctionBuffer &buffer) const {
    return buffers.get<std::byte>(buffer.name);
  }
  std::uint64_t getPlannedBytes() const { return buffers.plannedBytes(); }

private:
  void allocate();

  std::vector<CompiledFunction> functions;
  runtime::Buffers buffers;
  JitUnit unit;
};

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_FUNCTIONPROGRAM_H
