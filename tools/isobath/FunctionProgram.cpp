//===- FunctionProgram.cpp - Functions over tensors, ready to be called ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionProgram.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Driver/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace isobath;
using namespace isobath::runtime;

using Role = FunctionBuffer::Role;

std::uint64_t CompiledFunction::countBytes(Role role) const {
  std::uint64_t sum = 0;
  for (const FunctionBuffer &buffer : buffers)
    if (buffer.role == role)
      sum += buffer.bytes;
  return sum;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static auto getPublicFunctions(mlir::ModuleOp module) {
  return llvm::make_filter_range(
      module.getOps<mlir::func::FuncOp>(), [](mlir::func::FuncOp function) {
        return function.isPublic() && !function.isExternal();
      });
}

/// Gives a name to what has none, as buffers need one.
static void nameBuffers(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : getPublicFunctions(module)) {
    auto name = [&](llvm::StringRef kind, unsigned number) {
      return mlir::StringAttr::get(module.getContext(),
                                   function.getName() + "." + kind + " " +
                                       llvm::Twine(number));
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!function.getArgAttr(i, net::parameterAttrName) &&
          !function.getArgAttr(i, net::nameAttrName))
        function.setArgAttr(i, net::nameAttrName, name("argument", i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!function.getResultAttr(i, net::gradientAttrName) &&
          !function.getResultAttr(i, net::updatesAttrName) &&
          !function.getResultAttr(i, net::nameAttrName))
        function.setResultAttr(i, net::nameAttrName, name("result", i));
  }
}

/// How many buffers of the lowered `function` are inputs: they come first, and
/// all parameters are one.
static unsigned countInputs(mlir::func::FuncOp function) {
  unsigned inputs = 0;
  bool hasParameters = false;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, net::parameterAttrName))
      hasParameters = true;
    else
      ++inputs;
  return inputs + hasParameters;
}

static FunctionBuffer describeBuffer(mlir::func::FuncOp function,
                                     unsigned index, unsigned inputs) {
  auto type = llvm::cast<mlir::MemRefType>(function.getArgumentTypes()[index]);
  FunctionBuffer buffer;
  buffer.name =
      function.getArgAttrOfType<mlir::StringAttr>(index, net::nameAttrName)
          .str();
  buffer.bytes = static_cast<std::uint64_t>(type.getNumElements()) *
                 type.getElementTypeBitWidth() / 8;
  mlir::Type element = type.getElementType();
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  // Of contiguous parameters, the buffer has bytes.
  if (auto vector = function.getArgAttrOfType<mlir::TypeAttr>(
          index, net::vectorOfAttrName)) {
    element = vector.getValue();
    buffer.shape = {buffer.bytes * 8 / element.getIntOrFloatBitWidth()};
  }
  buffer.type = nameOfType(element);
  if (buffer.name == "arena")
    buffer.role = Role::Scratch;
  else
    buffer.role = index < inputs ? Role::Input : Role::Result;
  return buffer;
}

static std::vector<CompiledFunction>
describeFunctions(mlir::ModuleOp module,
                  const std::map<std::string, unsigned> &inputs) {
  std::vector<CompiledFunction> functions;
  for (mlir::func::FuncOp function : getPublicFunctions(module)) {
    CompiledFunction &described = functions.emplace_back();
    described.name = function.getName();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      described.buffers.push_back(
          describeBuffer(function, i, inputs.at(described.name)));
  }
  return functions;
}

FunctionProgram::FunctionProgram(const CompilerProgram &compiler,
                                 const Lowering &lowering,
                                 mlir::OwningOpRef<mlir::ModuleOp> module) {
  LoadedModel program;
  program.module = std::move(module);
  nameBuffers(*program.module);
  runPipeline(program, buildSharingPipeline);
  std::map<std::string, unsigned> inputs;
  for (mlir::func::FuncOp function : getPublicFunctions(*program.module))
    inputs[function.getName().str()] = countInputs(function);
  if (inputs.empty())
    fail("expected a module with a public function, given one without");
  lowerToRouted(program, lowering);
  lowerToPlanned(program, lowering);
  functions = describeFunctions(*program.module, inputs);
  emitPlanned(program, lowering, {});
  compiler.setThreads();
  device = createDevice(lowering.device);
  unit = loadJit(
      llvm::MemoryBuffer::getMemBufferCopy(compileHere(program), "functions"),
      *device);
  device->loadCode({unit.unit->deviceCode, unit.unit->deviceCodeSize});
  planCalls();
  allocate();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void FunctionProgram::planCalls() {
  signatures.reserve(functions.size()); // entries point into both
  entries.reserve(functions.size());
  for (const CompiledFunction &function : functions) {
    EntrySignature &signature = signatures.emplace_back();
    signature.name = function.name;
    for (const FunctionBuffer &buffer : function.buffers) {
      Buffer &planned = signature.buffers.emplace_back();
      planned.name = buffer.name;
      planned.bytes = buffer.bytes;
    }
    llvm::ArrayRef found(unit.unit->entries, unit.unit->entryCount);
    const IsobathEntry *code =
        llvm::find_if(found, [&](const IsobathEntry &entry) {
          return function.name == entry.name;
        });
    calls.push_back(
        buffers.plan(entries.emplace_back(signature, code->run, *device)));
  }
}

void FunctionProgram::allocate() {
  std::map<std::string, const FunctionBuffer *> known;
  for (const CompiledFunction &function : functions) {
    llvm::StringSet<> ownNames;
    for (const FunctionBuffer &buffer : function.buffers) {
      if (!ownNames.insert(buffer.name).second)
        fail("@", function.name, ": given the name ", printable(buffer.name),
             " twice, expected one for each argument and result");
      const FunctionBuffer &first =
          *known.insert({buffer.name, &buffer}).first->second;
      if (buffer.role != Role::Scratch &&
          (first.type != buffer.type || first.shape != buffer.shape))
        fail(printable(buffer.name), ": given ", buffer.type,
             runtime::describe(buffer.shape), " in @", function.name, " and ",
             first.type, runtime::describe(first.shape),
             " before, expected one type for one name");
    }
  }
  buffers.allocate();
  for (const auto &[name, buffer] : known)
    if (buffer->role == Role::Input)
      fillRandom(*buffer, write(*buffer));
}

void FunctionProgram::run(const CompiledFunction &function) const {
  calls[&function - functions.data()].run();
}
