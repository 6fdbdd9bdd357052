//===- SimProgram.h - One kernel on the simulated device ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TOOLS_ISOBATH_SIMPROGRAM_H
#define ISOBATH_TOOLS_ISOBATH_SIMPROGRAM_H

#include "FunctionBuffer.h"
#include "isobath/Simulator/SimulatedDevice.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace isobath {

/// What a user says about parameters of a kernel, by their numbers.
struct SimArguments {
  /// What buffers hold: `normal`, `zero` or `none`, which is uninitialised.
  /// Without one, `normal` for floating-point numbers and `zero` for others.
  std::vector<std::pair<unsigned, std::string>> fills;
  std::vector<std::pair<unsigned, std::string>> values; // of numbers
  std::string data; // a file with tensors for buffers; empty: none
};

/// A kernel of a module of the gpu dialect, compiled, with its arguments.
class SimProgram {
public:
  struct Argument {
    FunctionBuffer buffer; // of a number: its name and type
    bool isBuffer = false;
    void *memory = nullptr;   // of a buffer
    std::uint64_t value = 0;  // of a number, in its low bytes
    bool written = false;     // by the last launch
    bool initialized = false; // all of it, after that
  };

  /// Compiles `module`, which is changed, for `chip` and chooses the kernel
  /// `name`, which may be empty if there is one alone. Throws Error.
  SimProgram(mlir::ModuleOp module, const std::string &file,
             const std::string &name, const std::string &chip,
             const SimArguments &arguments);

  /// Sizes that the module gives, in the order x, y, z.
  std::optional<simulator::Dim3> getKnownBlock() const { return knownBlock; }
  std::optional<simulator::Dim3> getKnownGrid() const { return knownGrid; }

  /// Throws Error.
  simulator::LaunchReport
  launch(const simulator::LaunchConfiguration &configuration);

  const std::vector<Argument> &getArguments() const { return arguments; }

  /// What a buffer holds.
  static std::span<std::byte> getBytes(const Argument &argument) {
    return {static_cast<std::byte *>(argument.memory), argument.buffer.bytes};
  }

private:
  void describeArguments(mlir::gpu::GPUFuncOp function);
  void fillArguments(const SimArguments &given);
  void readFile(const std::string &path);
  Argument &getArgument(const char *option, unsigned number, bool isBuffer);

  simulator::SimulatedDevice device;
  const simulator::SimulatedKernel *kernel = nullptr;
  std::string name;
  std::vector<Argument> arguments;
  std::optional<simulator::Dim3> knownBlock, knownGrid;
};

} // namespace isobath

#endif // ISOBATH_TOOLS_ISOBATH_SIMPROGRAM_H
