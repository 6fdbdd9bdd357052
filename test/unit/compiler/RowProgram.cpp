//===- RowProgram.cpp - Row kernels, compiled and run ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "isobath/Driver/Codegen.h"
#include "isobath/Driver/Dialects.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Target/Passes.h"
#include "isobath/runtime/device_calls.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <regex>
#include <stdexcept>

using namespace isobath;
using namespace isobath::test;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static void launch(void *, const IsobathLaunch *launch, void *const *words) {
  int64_t size = (launch->rows + launch->chunks - 1) / launch->chunks;
  for (int64_t chunk = launch->chunks - 1; chunk >= 0; --chunk)
    launch->function(words, std::min(launch->rows, chunk * size),
                     std::min(launch->rows, (chunk + 1) * size), chunk);
}

template <typename T> static T require(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}
static void require(bool condition, const std::string &message) {
  if (!condition)
    throw std::runtime_error(message);
}

RowProgram::RowProgram(const std::string &text, const std::string &cpu) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  require(bool(module), "the module does not parse:\n" + text);
  mlir::PassManager passes(&context);
  passes.addPass(createLowerRowsToCpu());
  buildLLVMPipeline(passes);
  require(succeeded(passes.run(*module)), "the passes failed");

  CodeTarget target = require(describeTarget(cpu));
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto code = require(translateToLLVM(*module, *llvmContext, target));
  std::shared_ptr<llvm::orc::LLJIT> jit =
      require(llvm::orc::LLJITBuilder()
                  .setJITTargetMachineBuilder(std::move(target.machine))
                  .create());
  auto &library = jit->getMainJITDylib();
  library.addGenerator(
      require(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  auto defined = library.define(llvm::orc::absoluteSymbols(
      {{jit->mangleAndIntern("isobath_launch"),
        llvm::orc::ExecutorSymbolDef::fromPtr(&launch)},
       {jit->mangleAndIntern(ISOBATH_DEVICE_SYMBOL), // which nobody reads
        llvm::orc::ExecutorSymbolDef::fromPtr(&jit)}}));
  require(!defined, "the launcher cannot be defined");
  auto added = jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(code), std::move(llvmContext)));
  require(!added, "the code cannot be loaded");
  owner = jit;
  lookup = [jit = jit.get()](const std::string &name) {
    return require(jit->lookup(name)).toPtr<void *>();
  };
}

template <size_t> using Pointer = void *;

template <size_t... numbers>
static void callWith(void *function, const std::vector<void *> &buffers,
                     std::index_sequence<numbers...>) {
  reinterpret_cast<void (*)(Pointer<numbers>...)>(function)(
      buffers[numbers]...);
}

void RowProgram::call(const std::string &function,
                      const std::vector<void *> &buffers) const {
  // Arguments that a function does not have do no harm.
  std::vector<void *> all(buffers);
  require(all.size() <= 20, "too many buffers");
  all.resize(20);
  callWith(lookup(function), all, std::make_index_sequence<20>());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static constexpr size_t margin = 256; // bytes
static constexpr unsigned char untouched = 0xA5;

float isobath::test::roundToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return value;
  bits += 0x7FFF + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xFFFF0000u);
}

static size_t sizeOf(const std::string &type) { return type == "f32" ? 4 : 2; }

RowBuffer::RowBuffer(size_t elements, std::string type)
    : elements(elements), type(std::move(type)),
      bytes(elements * sizeOf(this->type) + 2 * margin, untouched) {}

RowBuffer RowBuffer::random(size_t elements, const std::string &type,
                            uint64_t seed) {
  RowBuffer buffer(elements, type);
  std::mt19937_64 engine(seed);
  for (size_t i = 0; i < elements; ++i) {
    float value = static_cast<float>(
        static_cast<double>(engine() >> 11) * 0x1.0p-52 - 1.0);
    unsigned char *place =
        static_cast<unsigned char *>(buffer.data()) + i * sizeOf(type);
    if (type == "bf16") {
      auto bits = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(roundToBf16(value)) >> 16);
      std::memcpy(place, &bits, sizeof(bits));
    } else {
      std::memcpy(place, &value, sizeof(value));
    }
  }
  return buffer;
}

void *RowBuffer::data() { return bytes.data() + margin; }

float RowBuffer::operator[](size_t index) const {
  const unsigned char *place = bytes.data() + margin + index * sizeOf(type);
  if (type == "bf16") {
    uint16_t bits;
    std::memcpy(&bits, place, sizeof(bits));
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  float value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

std::vector<double> RowBuffer::values() const {
  std::vector<double> result(elements);
  for (size_t i = 0; i < elements; ++i)
    result[i] = (*this)[i];
  return result;
}

bool RowBuffer::isIntact() const {
  for (size_t i = 0; i < margin; ++i)
    if (bytes[i] != untouched || bytes[bytes.size() - 1 - i] != untouched)
      return false;
  return true;
}

void isobath::test::expectNear(const RowBuffer &actual,
                               const std::vector<double> &expected,
                               double tolerance, const std::string &what) {
  EXPECT_TRUE(actual.isIntact()) << what << " was written outside of its rows";
  double largest = 1e-6, difference = 0;
  size_t worst = 0;
  for (double value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    double here = std::abs(actual[i] - expected[i]);
    if (std::isnan(here) || here > difference) {
      difference = here;
      worst = i;
      if (std::isnan(here))
        break;
    }
  }
  EXPECT_LE(difference, tolerance * largest)
      << what << '[' << worst << "] is " << actual[worst] << ", expected "
      << expected[worst];
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static bool hasFusedProducts(const std::string &cpu) {
  return llvm::is_contained(require(describeTarget(cpu)).features, "fma");
}

void isobath::test::forEachCase(
    const std::function<std::vector<RowBuffer>(const RowCase &)> &run) {
  std::vector<RowCase> cases;
  for (int64_t width : {1, 5, 16, 17, 64, 100, 130, 1023, 1024})
    cases.push_back({"native", "f32", width});
  for (int64_t width : {1, 17, 64, 130})
    cases.push_back({"native", "bf16", width});
  for (int64_t width : {17, 64, 130})
    cases.push_back({"x86-64-v3", "f32", width});
  cases.push_back({"x86-64-v3", "bf16", 130});
  cases.push_back({"x86-64", "f32", 130});
  cases.push_back({"x86-64", "bf16", 17});
  std::map<std::pair<std::string, int64_t>, std::vector<RowBuffer>> native;
  bool comparable = hasFusedProducts("native");
  for (const RowCase &one : cases) {
    SCOPED_TRACE(one.cpu + ", " + one.type + ", width " +
                 std::to_string(one.width));
    std::vector<RowBuffer> results = run(one);
    auto key = std::make_pair(one.type, one.width);
    if (one.cpu == "native") {
      native.emplace(key, std::move(results));
    } else if (comparable && hasFusedProducts(one.cpu)) {
      const std::vector<RowBuffer> &expected = native.at(key);
      for (size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(results[i].hasBytesOf(expected[i]))
            << "result " << i << " has other bits than on this machine";
    }
    if (::testing::Test::HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Text of kernels
//===----------------------------------------------------------------------===//

std::string
isobath::test::substitute(std::string text,
                          const std::vector<Substitution> &substitutions) {
  for (const auto &[name, value] : substitutions)
    for (size_t at; (at = text.find("$" + name)) != std::string::npos;)
      text.replace(at, name.size() + 1, value);
  return text;
}

std::string isobath::test::expandRows(std::string text,
                                      const std::string &type) {
  static const std::regex load("LOAD %(\\w+) = (.*) -> (\\d+)");
  static const std::regex store("STORE %(\\w+)(#?)(\\d*), (.*) : (\\d+), (.*)");
  text = substitute(std::move(text), {{"T", type}});
  if (type == "f32") {
    text =
        std::regex_replace(text, load, "%$1 = row.load $2 -> vector<$3xf32>");
    return std::regex_replace(text, store,
                              "row.store %$1$2$3, $4 : vector<$5xf32>, $6");
  }
  text = std::regex_replace(
      text, load,
      "%raw_$1 = row.load $2 -> vector<$3xbf16>\n"
      "%$1 = arith.extf %raw_$1 : vector<$3xbf16> to vector<$3xf32>");
  return std::regex_replace(
      text, store,
      "%out_$1_$3 = arith.truncf %$1$2$3 : vector<$5xf32> to vector<$5xbf16>\n"
      "row.store %out_$1_$3, $4 : vector<$5xbf16>, $6");
}

/// Constants that all kernels begin with.
static const std::string constants = R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ones = arith.constant dense<1.0> : vector<$Wxf32>
  %width = arith.constant $W.0 : f32
  %eps = arith.constant 1.0e-5 : f32
)";

RowProgram isobath::test::compile(const RowCase &one, int64_t rows,
                                  std::string text,
                                  std::vector<Substitution> more) {
  text = substitute(text, {{"CONSTANTS", constants}});
  more.push_back({"R", std::to_string(rows)});
  more.push_back({"W", std::to_string(one.width)});
  return RowProgram(expandRows(substitute(text, more), one.type), one.cpu);
}

double isobath::test::toleranceOf(const RowCase &one) {
  return one.type == "f32" ? 1e-5 : 5e-3;
}
