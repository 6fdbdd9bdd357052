//===- SimProgram.cpp - One kernel on the simulated device ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimProgram.h"
#include "CompilerProgram.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Simulator/LowerGpuModule.h"
#include "isobath/runtime/error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include <cstring>

using namespace isobath;
using namespace isobath::simulator;
using runtime::fail;
using runtime::printable;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static mlir::gpu::GPUFuncOp findKernel(mlir::ModuleOp module,
                                       const std::string &file,
                                       const std::string &name) {
  std::vector<mlir::gpu::GPUFuncOp> kernels;
  std::vector<std::string> names;
  for (auto gpuModule : module.getOps<mlir::gpu::GPUModuleOp>())
    for (auto function : gpuModule.getOps<mlir::gpu::GPUFuncOp>())
      if (function.isKernel()) {
        kernels.push_back(function);
        names.push_back(function.getName().str());
      }
  if (kernels.empty())
    fail(file, ": expected a gpu.module with a gpu.func that is a kernel");
  if (name.empty()) {
    if (kernels.size() > 1)
      fail("--kernel: expected one of ", llvm::join(names, ", "), ", since ",
           file, " has several kernels");
    return kernels.front();
  }
  auto found = llvm::find(names, name);
  if (found == names.end())
    fail("--kernel: given ", printable(name), ", expected one of ",
         llvm::join(names, ", "));
  return kernels[found - names.begin()];
}

/// The sizes that a kernel says it is launched with, under either spelling of
/// the attribute.
static std::optional<Dim3> getKnownSizes(mlir::gpu::GPUFuncOp function,
                                         const std::string &attribute) {
  auto sizes = function->getAttrOfType<mlir::DenseI32ArrayAttr>(attribute);
  if (!sizes)
    sizes =
        function->getAttrOfType<mlir::DenseI32ArrayAttr>("gpu." + attribute);
  if (!sizes || sizes.size() != 3)
    return std::nullopt;
  // Negative ones become too large, which the launch refuses.
  return Dim3{static_cast<std::uint32_t>(sizes[0]),
              static_cast<std::uint32_t>(sizes[1]),
              static_cast<std::uint32_t>(sizes[2])};
}

static bool isNumber(mlir::Type type) {
  return type.isIndex() ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0 &&
          type.getIntOrFloatBitWidth() <= 64);
}

/// Buffers above this would not be filled in sensible time.
static constexpr std::int64_t maxElements = std::int64_t(1) << 32;

static FunctionBuffer describeBuffer(const std::string &name, mlir::Type type) {
  FunctionBuffer buffer;
  buffer.name = name;
  auto memory = llvm::dyn_cast<mlir::MemRefType>(type);
  mlir::Type element = memory ? memory.getElementType() : type;
  if (!isNumber(element) ||
      (memory &&
       (!memory.hasStaticShape() || !memory.getLayout().isIdentity() ||
        memory.getNumElements() < 1 || memory.getNumElements() > maxElements)))
    fail(printable(name), ": given ", nameOfType(type),
         ", expected a number or a memref of numbers whose shape is static, "
         "with up to 2^32 elements");
  buffer.type = nameOfType(element);
  std::uint64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  buffer.bytes = bits / 8;
  if (memory) {
    buffer.shape.assign(memory.getShape().begin(), memory.getShape().end());
    buffer.bytes *= memory.getNumElements();
  }
  return buffer;
}

void SimProgram::describeArguments(mlir::gpu::GPUFuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string argument = runtime::concat(name, ".argument ", i);
    if (auto given =
            function.getArgAttrOfType<mlir::StringAttr>(i, net::nameAttrName))
      argument = given.str();
    mlir::Type type = function.getArgument(i).getType();
    arguments.push_back({.buffer = describeBuffer(argument, type),
                         .isBuffer = llvm::isa<mlir::MemRefType>(type)});
  }
}

SimProgram::SimProgram(mlir::ModuleOp module, const std::string &file,
                       const std::string &kernelName, const std::string &chip,
                       const SimArguments &given) {
  mlir::gpu::GPUFuncOp function = findKernel(module, file, kernelName);
  name = function.getName();
  describeArguments(function);
  knownBlock = getKnownSizes(function, "known_block_size");
  knownGrid = getKnownSizes(function, "known_grid_size");
  std::string gpuModule =
      function->getParentOfType<mlir::gpu::GPUModuleOp>().getName().str();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered;
  runOrThrow(module.getContext(), [&]() -> mlir::LogicalResult {
    mlir::PassManager manager(module.getContext());
    buildGpuModulePipeline(manager);
    if (mlir::failed(manager.run(module)))
      return mlir::failure();
    auto translated = translateGpuModule(
        module.lookupSymbol<mlir::gpu::GPUModuleOp>(gpuModule), context);
    if (mlir::failed(translated))
      return mlir::failure();
    lowered = std::move(*translated);
    return mlir::success();
  });
  auto check = [](llvm::Error error) {
    if (error)
      fail(llvm::toString(std::move(error)));
  };
  check(optimizeForNvptx(*lowered, chip));
  SimulatedModule *loaded = valueOrThrow(device.loadModule(*lowered));
  kernel = valueOrThrow(device.getKernel(loaded, name));
  fillArguments(given);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

SimProgram::Argument &SimProgram::getArgument(const char *option,
                                              unsigned number, bool isBuffer) {
  if (number >= arguments.size())
    fail(option, ": given parameter ", number, ", expected one of the ",
         arguments.size(), " of @", name);
  Argument &argument = arguments[number];
  if (argument.isBuffer != isBuffer)
    fail(option, ": given parameter ", number, " of @", name, ", which is a ",
         argument.isBuffer ? "buffer, expected a number"
                           : "number, expected a buffer");
  return argument;
}

/// The bits of a number of `type` that `text` spells.
static std::uint64_t parseNumber(const std::string &text,
                                 const std::string &type) {
  std::uint64_t bits = 0;
  llvm::StringRef digits = text;
  if (type == "f32" || type == "f64") {
    double value;
    if (!digits.getAsDouble(value)) {
      if (type == "f64")
        return llvm::bit_cast<std::uint64_t>(value);
      return llvm::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
  } else if (type == "index" || llvm::StringRef(type).starts_with("i")) {
    std::int64_t value;
    unsigned width = 64;
    if (type != "index")
      llvm::StringRef(type).drop_front().getAsInteger(10, width);
    if (!digits.getAsInteger(0, value) && llvm::isIntN(width, value))
      return value;
  }
  fail("--argument: given ", printable(text), ", expected a number of type ",
       type);
  return bits;
}

void SimProgram::readFile(const std::string &path) {
  runtime::SafetensorsFile file(path);
  for (const runtime::TensorEntry &tensor : file.tensors()) {
    auto found = llvm::find_if(arguments, [&](const Argument &argument) {
      return argument.isBuffer && isFloat(argument.buffer) &&
             argument.buffer.name == tensor.name;
    });
    if (found == arguments.end())
      fail(file.name(), ": given a tensor ", printable(tensor.name),
           ", expected names of floating-point buffers of @", name);
    readTensor(file, tensor, found->buffer, getBytes(*found));
  }
}

void SimProgram::fillArguments(const SimArguments &given) {
  std::map<unsigned, std::string> fills;
  for (const auto &[number, kind] : given.fills) {
    getArgument("--fill", number, /*isBuffer=*/true);
    fills[number] = kind;
  }
  std::vector<bool> known(arguments.size());
  for (const auto &[number, text] : given.values) {
    Argument &argument = getArgument("--argument", number, /*isBuffer=*/false);
    argument.value = parseNumber(text, argument.buffer.type);
    known[number] = true;
  }
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    if (!argument.isBuffer) {
      if (!known[number])
        fail("--argument: expected ", number, "=NUMBER for ",
             printable(argument.buffer.name), " of type ",
             argument.buffer.type);
      continue;
    }
    argument.memory = valueOrThrow(
        device.allocate(argument.buffer.bytes, argument.buffer.name));
    const std::string &kind = fills[number];
    if (kind == "none")
      continue;
    if (llvm::Error error =
            device.fill(argument.memory, 0, argument.buffer.bytes))
      fail(llvm::toString(std::move(error)));
    if (kind != "zero")
      fillRandom(argument.buffer, getBytes(argument));
  }
  if (!given.data.empty())
    readFile(given.data);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

LaunchReport SimProgram::launch(const LaunchConfiguration &configuration) {
  std::vector<const void *> pointers;
  for (const Argument &argument : arguments)
    if (argument.isBuffer)
      pointers.push_back(&argument.memory);
    else
      pointers.push_back(&argument.value);
  LaunchReport report =
      valueOrThrow(device.launch(*kernel, configuration, pointers));
  for (Argument &argument : arguments)
    if (argument.isBuffer) {
      argument.written = valueOrThrow(device.wasWritten(argument.memory));
      argument.initialized = valueOrThrow(
          device.isInitialized(argument.memory, argument.buffer.bytes));
    }
  return report;
}
