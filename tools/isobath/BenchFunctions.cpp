//===- BenchFunctions.cpp - The verb bench FILE ---------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A place to try things: a few operations in functions of their own, optimised
// as those of a model are, run on random numbers or on those of a file, and
// timed beside a read pass over what they take.
//
//===----------------------------------------------------------------------===//

#include "CountKernels.h"
#include "FunctionProgram.h"
#include "Verbs.h"
#include "isobath/Frontend/LoadModel.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/read_pass.h"
#include "isobath/runtime/timing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;
using namespace isobath::runtime;

using Role = FunctionBuffer::Role;

namespace {
struct BenchFunctionsCommand {
  std::string file;
  std::string data;   // empty: random numbers
  std::string output; // empty: results are not written
  std::uint64_t repeats = 5;
  bool json = false;
};

struct FunctionTimes {
  double function, readPass; // milliseconds
};
} // namespace

static bool hasF64(mlir::ModuleOp module) {
  auto isF64 = [](mlir::Type type) {
    return mlir::getElementTypeOrSelf(type).isF64();
  };
  return llvm::any_of(
      module.getOps<mlir::func::FuncOp>(), [&](mlir::func::FuncOp function) {
        return llvm::any_of(function.getArgumentTypes(), isF64) ||
               llvm::any_of(function.getResultTypes(), isF64);
      });
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Puts the tensors of `file` where the inputs of their names are.
static void readInputs(const FunctionProgram &program,
                       const SafetensorsFile &file) {
  std::map<std::string, FunctionBuffer> inputs;
  for (const CompiledFunction &function : program.getFunctions())
    for (const FunctionBuffer &buffer : function.buffers)
      if (buffer.role == Role::Input && isFloat(buffer))
        inputs.insert({buffer.name, buffer});
  for (const TensorEntry &tensor : file.tensors()) {
    auto input = inputs.find(tensor.name);
    if (input == inputs.end())
      fail(file.name(), ": given a tensor ", printable(tensor.name),
           ", expected names of floating-point arguments");
    readTensor(file, tensor, input->second, program.write(input->second));
  }
}

static void writeResults(const FunctionProgram &program,
                         const std::string &path) {
  TensorFile file;
  llvm::StringSet<> names;
  for (const CompiledFunction &function : program.getFunctions())
    for (const FunctionBuffer &buffer : function.buffers)
      if (buffer.role == Role::Result && isFloat(buffer) &&
          names.insert(buffer.name).second)
        file.add(buffer, program.read(buffer));
  file.write(path);
}

//===----------------------------------------------------------------------===//
// The verb
//===----------------------------------------------------------------------===//

/// Functions run in their order, the read pass of each before it; the first
/// round does not count.
static std::vector<FunctionTimes> measure(const FunctionProgram &program,
                                          std::uint64_t repeats) {
  size_t count = program.getFunctions().size();
  std::vector<std::vector<double>> functions(count), readPasses(count);
  for (std::uint64_t round = 0; round <= repeats; ++round)
    for (auto [i, function] : llvm::enumerate(program.getFunctions())) {
      std::vector<std::span<const std::byte>> inputs;
      for (const FunctionBuffer &buffer : function.buffers)
        if (buffer.role == Role::Input)
          inputs.push_back(program.read(buffer));
      double readPassTime = timeOf([&] { readPass(inputs); });
      double time = timeOn(program.getDevice(), [&] { program.run(function); });
      if (round == 0)
        continue;
      readPasses[i].push_back(readPassTime);
      functions[i].push_back(time);
    }
  std::vector<FunctionTimes> times;
  times.reserve(count);
  for (size_t i = 0; i < count; ++i)
    times.push_back({median(functions[i]), median(readPasses[i])});
  return times;
}

static void print(const FunctionProgram &program,
                  const std::vector<FunctionTimes> &times,
                  const BenchFunctionsCommand &command) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.json) {
    llvm::json::Array functions;
    for (auto [function, time] : llvm::zip_equal(program.getFunctions(), times))
      functions.push_back(llvm::json::Object{
          {"name", function.name},
          {"ms", time.function},
          {"read_pass_ms", time.readPass},
          {"input_bytes", function.countBytes(Role::Input)},
          {"result_bytes", function.countBytes(Role::Result)},
          {"scratch_bytes", function.countBytes(Role::Scratch)}});
    stream << llvm::json::Value(
                  llvm::json::Object{{"functions", std::move(functions)},
                                     {"threads", threads()},
                                     {"repeats", command.repeats}})
           << '\n';
  } else {
    stream << "function                    time    read pass    ratio       "
              "inputs      results\n";
    for (auto [function, time] : llvm::zip_equal(program.getFunctions(), times))
      stream << llvm::left_justify(function.name, 20)
             << llvm::format("%9.3f ms %9.3f ms %8.2f %9.3f MB %9.3f MB\n",
                             time.function, time.readPass,
                             time.function / time.readPass,
                             1e-6 * function.countBytes(Role::Input),
                             1e-6 * function.countBytes(Role::Result));
  }
  std::cout << text;
}

static void runBenchFunctions(const CompilerProgram &compiler,
                              const BenchFunctionsCommand &command) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  auto module = valueOrThrow(loadFunctions(*context, command.file));
  Lowering lowering = compiler.getLowering(hasF64(*module));
  FunctionProgram program(compiler, lowering, std::move(module));
  if (!command.data.empty())
    readInputs(program, SafetensorsFile(command.data));
  if (lowering.device == DeviceKind::Simulated) {
    printBytes(program, command.json);
    if (!command.output.empty())
      writeResults(program, command.output);
    return;
  }
  std::vector<FunctionTimes> times = measure(program, command.repeats);
  if (!command.output.empty())
    writeResults(program, command.output);
  print(program, times, command);
}

void isobath::addBenchFunctions(CLI::App &bench, CompilerProgram &program) {
  auto command = std::make_shared<BenchFunctionsCommand>();
  CLI::Option *file = bench.add_option(
      "FILE", command->file,
      "A module (.mlir) whose public functions over tensors are timed");
  file->type_name("");
  program.addLoweringOptions(bench);
  bench
      .add_option("--data", command->data,
                  "Safetensors file with tensors for arguments, by their "
                  "net.name or as `FUNCTION.argument 0`; others are random")
      ->type_name("FILE");
  bench
      .add_option("-o,--output", command->output,
                  "Safetensors file for the results of the last run")
      ->type_name("FILE");
  bench
      .add_option("--repeats", command->repeats,
                  "Runs to take the median of, after one that does not count")
      ->check(wholeNumber(1, 10000))
      ->type_name("N");
  bench.add_flag("--json", command->json,
                 "Print the result as one JSON object on standard output");
  bench.callback([&bench, command, file, &program] {
    if (!bench.get_subcommands().empty())
      return;
    if (file->empty())
      throw CLI::RequiredError("FILE, step or route");
    runBenchFunctions(program, *command);
  });
}
