//===- SimCommand.cpp - The verb sim --------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A place to develop GPU kernels without a GPU: one kernel runs on the
// simulated device, and its errors and what it asked of memory are printed.
//
//===----------------------------------------------------------------------===//

#include "SimProgram.h"
#include "Verbs.h"
#include "isobath/Frontend/LoadModel.h"
#include "isobath/Simulator/LowerGpuModule.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;
using namespace isobath::simulator;
using runtime::fail;

namespace {
struct SimCommand {
  std::string file;
  std::string kernel; // empty: the only one
  std::string grid;   // empty: what the kernel says
  std::string block;  // likewise
  std::uint64_t shared = 0;
  std::uint64_t seed = 0;
  std::string chip = "sm_90";
  std::vector<std::string> fills;
  std::vector<std::string> values;
  std::string data;
  std::string output;
  bool json = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static std::optional<Dim3> parseSizes(llvm::StringRef text) {
  std::uint32_t sizes[3] = {1, 1, 1};
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  if (parts.size() > 3)
    return std::nullopt;
  for (auto [part, size] : llvm::zip(parts, sizes))
    if (part.getAsInteger(10, size) || size == 0)
      return std::nullopt;
  return Dim3{sizes[0], sizes[1], sizes[2]};
}

static std::string checkSizes(const std::string &text) {
  return parseSizes(text) ? std::string()
                          : "given " + runtime::printable(text) +
                                ", expected X[,Y[,Z]], numbers from 1";
}

/// The two sides of NUMBER=TEXT.
static std::optional<std::pair<unsigned, std::string>>
parsePair(llvm::StringRef text) {
  auto [left, right] = text.split('=');
  unsigned number;
  if (left.getAsInteger(10, number) || right.empty())
    return std::nullopt;
  return std::make_pair(number, right.str());
}

static std::string checkFill(const std::string &text) {
  auto fill = parsePair(text);
  if (fill && llvm::is_contained({"normal", "zero", "none"}, fill->second))
    return {};
  return "given " + runtime::printable(text) +
         ", expected NUMBER=KIND with normal, zero or none";
}

static std::string checkValue(const std::string &text) {
  return parsePair(text)
             ? std::string()
             : "given " + runtime::printable(text) + ", expected NUMBER=VALUE";
}

static Dim3 chooseSizes(const char *option, const std::string &given,
                        std::optional<Dim3> known) {
  if (!given.empty())
    return *parseSizes(given);
  if (!known)
    fail(option, ": expected X[,Y[,Z]], since the kernel has no gpu.known_",
         option + 2, "_size");
  return *known;
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static std::string getChecksum(const SimProgram::Argument &argument) {
  std::span<std::byte> bytes = SimProgram::getBytes(argument);
  std::uint64_t hash = llvm::xxh3_64bits(llvm::ArrayRef(
      reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()));
  return llvm::toHex(
      llvm::StringRef(reinterpret_cast<const char *>(&hash), sizeof hash),
      /*LowerCase=*/true);
}

static void printText(const SimProgram &program, const LaunchReport &report,
                      llvm::raw_ostream &os) {
  printLaunchReport(report, os);
  for (const SimProgram::Argument &argument : program.getArguments()) {
    if (!argument.written)
      continue;
    os << argument.buffer.name << ' ' << argument.buffer.type
       << runtime::describe(argument.buffer.shape);
    if (argument.initialized)
      os << " checksum " << getChecksum(argument) << '\n';
    else
      os << " partly uninitialized\n";
  }
}

static llvm::json::Object toJson(const SimProgram &program,
                                 const LaunchReport &report) {
  llvm::json::Array buffers;
  for (const SimProgram::Argument &argument : program.getArguments()) {
    if (!argument.isBuffer)
      continue;
    llvm::json::Object buffer{
        {"name", argument.buffer.name},
        {"type", argument.buffer.type},
        {"shape", llvm::json::Array(argument.buffer.shape)},
        {"written", argument.written}};
    if (argument.initialized)
      buffer["checksum"] = getChecksum(argument);
    buffers.push_back(std::move(buffer));
  }
  llvm::json::Object object = simulator::toJson(report);
  object["buffers"] = std::move(buffers);
  return object;
}

static void writeBuffers(const SimProgram &program, const std::string &path) {
  TensorFile file;
  for (const SimProgram::Argument &argument : program.getArguments())
    if (argument.written && isFloat(argument.buffer)) {
      if (!argument.initialized)
        fail(path, ": ", runtime::printable(argument.buffer.name),
             " is partly uninitialized, expected all of it to be written");
      file.add(argument.buffer, SimProgram::getBytes(argument));
    }
  file.write(path);
}

static void runSim(const SimCommand &command) {
  mlir::DialectRegistry registry;
  registerGpuDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = valueOrThrow(loadFunctions(context, command.file));
  SimArguments arguments;
  for (const std::string &fill : command.fills)
    arguments.fills.push_back(*parsePair(fill));
  for (const std::string &value : command.values)
    arguments.values.push_back(*parsePair(value));
  arguments.data = command.data;
  SimProgram program(*module, command.file, command.kernel, command.chip,
                     arguments);
  LaunchConfiguration configuration;
  configuration.grid =
      chooseSizes("--grid", command.grid, program.getKnownGrid());
  configuration.block =
      chooseSizes("--block", command.block, program.getKnownBlock());
  configuration.dynamicSharedBytes = command.shared;
  configuration.seed = command.seed;
  LaunchReport report = program.launch(configuration);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.json)
    stream << llvm::json::Value(toJson(program, report)) << '\n';
  else
    printText(program, report, stream);
  std::cout << text << std::flush;
  if (!report.findings.empty())
    fail("@", report.kernel, ": ", report.findings.size(),
         report.findings.size() == 1 ? " error was found"
                                     : " errors were found");
  if (!command.output.empty())
    writeBuffers(program, command.output);
}

void isobath::addSimCommand(CLI::App &application) {
  auto command = std::make_shared<SimCommand>();
  CLI::App *verb = application.add_subcommand(
      "sim", "Run a GPU kernel on the simulated device, say what is wrong with "
             "it and what it asks of memory");
  verb->add_option("FILE", command->file,
                   "A module (.mlir) that has a gpu.module with kernels")
      ->required()
      ->type_name("");
  verb->add_option("--kernel", command->kernel,
                   "The kernel to run, if there are several")
      ->type_name("NAME");
  verb->add_option("--grid", command->grid,
                   "Blocks of the grid; the kernel's gpu.known_grid_size if "
                   "not given")
      ->check(checkSizes)
      ->type_name("X[,Y[,Z]]");
  verb->add_option("--block", command->block,
                   "Threads of a block; the kernel's gpu.known_block_size if "
                   "not given")
      ->check(checkSizes)
      ->type_name("X[,Y[,Z]]");
  verb->add_option("--shared", command->shared,
                   "Bytes of dynamic shared memory")
      ->check(runtime::wholeNumber(0, std::uint64_t(1) << 32))
      ->type_name("BYTES");
  verb->add_option("--seed", command->seed,
                   "Decides in which order threads and blocks run")
      ->check(runtime::wholeNumber(0))
      ->type_name("N");
  verb->add_option("--chip", command->chip,
                   "The GPU whose middle end the kernel goes through")
      ->capture_default_str()
      ->type_name("SM");
  verb->add_option("--fill", command->fills,
                   "What the buffer of a parameter holds: normal, zero, or "
                   "none, which is uninitialised. Without it, floating-point "
                   "numbers are random and integers 0")
      ->check(checkFill)
      ->allow_extra_args(false)
      ->type_name("NUMBER=KIND");
  verb->add_option("--argument", command->values,
                   "The value of a parameter that is a number")
      ->check(checkValue)
      ->allow_extra_args(false)
      ->type_name("NUMBER=VALUE");
  verb->add_option("--data", command->data,
                   "Safetensors file with tensors for buffers, by their "
                   "net.name or as `KERNEL.argument 0`")
      ->type_name("FILE");
  verb->add_option("-o,--output", command->output,
                   "Safetensors file for the buffers that the kernel writes")
      ->type_name("FILE");
  verb->add_flag("--json", command->json,
                 "Print the report as one JSON object on standard output");
  verb->callback([command] { runSim(*command); });
}
