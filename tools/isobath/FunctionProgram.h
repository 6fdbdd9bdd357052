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

  /// What a buffer holds, and the same to write to.
  std::span<const std::byte> read(const FunctionBuffer &buffer) const {
    return buffers.read<std::byte>(buffer.name);
  }
  std::span<std::byte> write(const FunctionBuffer &buffer) const {
    return buffers.write<std::byte>(buffer.name);
  }
  std::uint64_t getPlannedBytes() const { return buffers.plannedBytes(); }
  runtime::Device &getDevice() const { return *device; }

private:
  void allocate();
  void planCalls();

  std::vector<CompiledFunction> functions;
  std::shared_ptr<runtime::Device> device;
  JitUnit unit;
  // As the runtime sees functions: entries, and calls of them with buffers.
  std::vector<runtime::EntrySignature> signatures;
  std::vector<runtime::Entry> entries;
  runtime::Buffers buffers;
  std::vector<runtime::Buffers::Call> calls;
};

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_FUNCTIONPROGRAM_H
