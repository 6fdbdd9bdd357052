//===- CompiledModule.cpp - Small modules, run in this process ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/Driver/Codegen.h"
#include "isobath/Driver/Dialects.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Target/EmitUnit.h"
#include "isobath/runtime/cpu_library.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

using namespace isobath;
using namespace isobath::test;

static void require(bool condition, const std::string &message) {
  if (!condition)
    throw std::runtime_error(message);
}

static mlir::DialectRegistry makeRegistry() {
  static const bool registered = [] {
    registerPasses();
    return true;
  }();
  (void)registered;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Buffers come from names: gives one to every result that has none.
static void nameResults(mlir::ModuleOp module) {
  mlir::Builder builder(module.getContext());
  for (auto function : module.getOps<mlir::func::FuncOp>())
    for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
      if (!function.getResultAttr(i, net::nameAttrName))
        function.setResultAttr(
            i, net::nameAttrName,
            builder.getStringAttr("result " + std::to_string(i)));
}

static Tensor toTensor(const llvm::json::Object &buffer) {
  Tensor tensor;
  tensor.type = buffer.getString("type")->str();
  size_t elements = 1;
  for (const llvm::json::Value &size : *buffer.getArray("shape")) {
    tensor.shape.push_back(*size.getAsInteger());
    elements *= tensor.shape.back();
  }
  tensor.values.resize(elements);
  return tensor;
}

static void lower(mlir::OpPassManager &passes, Target target) {
  if (target == Target::reference) {
    buildReferencePipeline(passes);
    return;
  }
  buildKernelsPipeline(passes);
  buildCpuPipeline(passes);
  buildCpuCodePipeline(passes);
}

template <typename T> static T require(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

static JitUnit load(mlir::ModuleOp module) {
  CodeTarget machine = require(describeTarget(nativeCpu));
  std::string archive = require(compileToArchive(module, machine));
  static runtime::CpuDevice device; // without state
  std::vector<JitSymbol> symbols = {{ISOBATH_DEVICE_SYMBOL, &device}};
  for (const runtime::DeviceSymbol &symbol : runtime::deviceSymbols())
    symbols.push_back({symbol.name, symbol.address});
  return require(
      loadArchive(llvm::MemoryBuffer::getMemBufferCopy(archive), symbols));
}

CompiledModule::CompiledModule(const std::string &text,
                               const std::string &passes, Target target)
    : context(makeRegistry()),
      module(mlir::parseSourceString<mlir::ModuleOp>(text, &context)) {
  require(bool(module), "the module does not parse");

  mlir::PassManager before(&context);
  require(succeeded(mlir::parsePassPipeline(passes, before)),
          "unknown pass in '" + passes + "'");
  require(succeeded(before.run(*module)), "the passes failed");
  nameResults(*module);
  std::vector<std::pair<size_t, size_t>> counts; // arguments and results
  for (auto function : module->getOps<mlir::func::FuncOp>())
    counts.emplace_back(function.getNumArguments(), function.getNumResults());

  mlir::PassManager toLoops(&context);
  lower(toLoops, target);
  require(succeeded(toLoops.run(*module)), "lowering to loops failed");
  require(succeeded(emitUnit(*module, llvm::json::Object())),
          "the unit was not made");
  mlir::PassManager toLLVM(&context);
  buildLLVMPipeline(toLLVM);
  require(succeeded(toLLVM.run(*module)), "lowering to LLVM's dialect failed");
  unit = load(*module);

  auto manifest = llvm::json::parse(
      llvm::StringRef(unit.unit->manifest, unit.unit->manifestSize));
  if (!manifest)
    throw std::runtime_error(llvm::toString(manifest.takeError()));
  const llvm::json::Array &described =
      *manifest->getAsObject()->getArray("entries");
  require(described.size() == unit.unit->entryCount &&
              described.size() == counts.size(),
          "the manifest does not describe the entries");
  for (uint32_t i = 0; i < unit.unit->entryCount; ++i) {
    Entry entry{
        unit.unit->entries[i].run, {}, counts[i].first, counts[i].second};
    for (const llvm::json::Value &buffer :
         *described[i].getAsObject()->getArray("buffers"))
      entry.buffers.push_back(toTensor(*buffer.getAsObject()));
    entries.emplace_back(unit.unit->entries[i].name, std::move(entry));
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

const CompiledModule::Entry &
CompiledModule::find(const std::string &function) const {
  for (const auto &[name, entry] : entries)
    if (name == function)
      return entry;
  throw std::runtime_error("no function '" + function + "'");
}

Tensors CompiledModule::arguments(const std::string &function) const {
  const Entry &entry = find(function);
  return Tensors(entry.buffers.begin(),
                 entry.buffers.begin() + entry.argumentCount);
}

namespace {
/// The bytes of a tensor, aligned as the interface of units demands.
class Storage {
public:
  explicit Storage(const Tensor &tensor)
      : bytes(static_cast<char *>(std::aligned_alloc(ISOBATH_ABI_ALIGNMENT,
                                                     allocationSize(tensor)))) {
    if (tensor.type == "f64")
      write<double>(tensor);
    else if (tensor.type == "f32")
      write<float>(tensor);
    else if (tensor.type == "i32")
      write<int32_t>(tensor);
    else // the arena: what it holds before the call means nothing
      std::memset(bytes.get(), 0xFF, tensor.values.size());
  }

  void *get() { return bytes.get(); }

  void read(Tensor &tensor) const {
    if (tensor.type == "f64")
      readAs<double>(tensor);
    else if (tensor.type == "f32")
      readAs<float>(tensor);
    else
      readAs<int32_t>(tensor);
  }

private:
  static size_t allocationSize(const Tensor &tensor) {
    size_t size = tensor.values.size() * sizeof(double);
    return (size / ISOBATH_ABI_ALIGNMENT + 1) * ISOBATH_ABI_ALIGNMENT;
  }
  template <typename T> void write(const Tensor &tensor) {
    for (size_t i = 0; i < tensor.values.size(); ++i)
      reinterpret_cast<T *>(bytes.get())[i] = static_cast<T>(tensor.values[i]);
  }
  template <typename T> void readAs(Tensor &tensor) const {
    for (size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = reinterpret_cast<const T *>(bytes.get())[i];
  }

  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> bytes;
};
} // namespace

Tensors CompiledModule::call(const std::string &function,
                             const Tensors &arguments) const {
  const Entry &entry = find(function);
  require(arguments.size() == entry.argumentCount,
          "'" + function + "' takes " + std::to_string(entry.argumentCount) +
              " arguments, got " + std::to_string(arguments.size()));
  std::vector<Storage> storage;
  std::vector<void *> pointers;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    Tensor value = entry.buffers[i];
    if (i < arguments.size()) {
      require(arguments[i].shape == value.shape &&
                  arguments[i].type == value.type,
              "argument " + std::to_string(i) + " of '" + function +
                  "' has another type");
      value = arguments[i];
    } else if (value.type == "f64" || value.type == "f32") {
      // A result that is not written must not pass for zero.
      value.values.assign(value.values.size(), std::nan(""));
    }
    storage.emplace_back(value);
    pointers.push_back(storage.back().get());
  }
  entry.run(pointers.data());

  Tensors results(entry.buffers.begin() + entry.argumentCount,
                  entry.buffers.begin() + entry.argumentCount +
                      entry.resultCount);
  for (size_t i = 0; i < results.size(); ++i)
    storage[entry.argumentCount + i].read(results[i]);
  return results;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void RandomNumbers::fill(Tensor &tensor) {
  // Not a standard distribution, whose numbers differ between libraries.
  for (double &value : tensor.values)
    value = static_cast<double>(engine() >> 11) * 0x1.0p-52 - 1.0;
}

void RandomNumbers::fill(Tensors &tensors) {
  for (Tensor &tensor : tensors)
    if (tensor.type != "i32")
      fill(tensor);
}

double isobath::test::norm(const Tensor &tensor) {
  double total = 0;
  for (double value : tensor.values)
    total += value * value;
  return std::sqrt(total);
}

double isobath::test::distance(const Tensor &left, const Tensor &right) {
  require(left.shape == right.shape, "tensors of different shapes");
  Tensor difference = left;
  for (size_t i = 0; i < right.values.size(); ++i)
    difference.values[i] -= right.values[i];
  return norm(difference);
}

Tensor isobath::test::operator+(const Tensor &left, const Tensor &right) {
  require(left.shape == right.shape, "tensors of different shapes");
  Tensor sum = left;
  for (size_t i = 0; i < right.values.size(); ++i)
    sum.values[i] += right.values[i];
  return sum;
}
