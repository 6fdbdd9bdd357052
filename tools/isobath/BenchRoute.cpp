//===- BenchRoute.cpp - The verb bench route ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountKernels.h"
#include "FunctionProgram.h"
#include "Verbs.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetDialect.h"
#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/files.h"
#include "isobath/runtime/option_checks.h"
#include "isobath/runtime/read_pass.h"
#include "isobath/runtime/timing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <iostream>

using namespace isobath;
using namespace isobath::runtime;

namespace {
struct BenchRouteCommand {
  std::int64_t sources = 9, width = 2048, tokens = 4096, queries = 1, heads = 1;
  std::uint64_t repeats = 9;
  bool backward = false;
  std::string module; // empty: is not written
  bool json = false;
};

/// Medians, in milliseconds.
struct RouteTimes {
  double readPass, forward, backward;
};
} // namespace

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
/// Builds `@forward`, a route over closed sources, and `@backward`, its
/// adjoint.
class RouteBuilder {
public:
  RouteBuilder(mlir::MLIRContext &context, const BenchRouteCommand &command,
               bool isBf16)
      : command(command), builder(&context), loc(builder.getUnknownLoc()),
        module(mlir::ModuleOp::create(builder, loc)),
        query(
            mlir::RankedTensorType::get({command.width}, builder.getF32Type())),
        source(mlir::RankedTensorType::get(
            {1, command.tokens, command.width},
            isBf16 ? mlir::Type(builder.getBF16Type())
                   : mlir::Type(builder.getF32Type()))) {}

  mlir::OwningOpRef<mlir::ModuleOp> build() {
    buildForward();
    if (command.backward)
      buildBackward();
    return std::move(module);
  }

private:
  /// Opens a function; its arguments are added as they are needed.
  mlir::func::FuncOp open(llvm::StringRef name) {
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, loc, name,
                                               builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    return function;
  }

  mlir::DictionaryAttr nameOf(const llvm::Twine &name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(net::nameAttrName, builder.getStringAttr(name)));
  }

  mlir::Value addArgument(mlir::func::FuncOp function, mlir::Type type,
                          const llvm::Twine &name) {
    unsigned index = function.getNumArguments();
    if (mlir::failed(function.insertArgument(index, type, nameOf(name), loc)))
      llvm_unreachable("a function takes any argument");
    return function.getArgument(index);
  }

  llvm::SmallVector<mlir::Value> addArguments(mlir::func::FuncOp function,
                                              mlir::Type type, int64_t count,
                                              llvm::StringRef name) {
    llvm::SmallVector<mlir::Value> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(
          addArgument(function, type, name + " " + llvm::Twine(i)));
    return values;
  }

  void finish(mlir::func::FuncOp function, mlir::ValueRange results,
              llvm::ArrayRef<std::string> names) {
    mlir::func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(builder.getFunctionType(
        function.getArgumentTypes(), results.getTypes()));
    for (auto [index, name] : llvm::enumerate(names))
      function.setResultAttr(index, net::nameAttrName,
                             builder.getStringAttr(name));
  }

  static void addNames(std::vector<std::string> &names, llvm::StringRef name,
                       int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      names.push_back((name + " " + llvm::Twine(i)).str());
  }

  /// Whoever trains keeps what the adjoint needs; nobody else does.
  void buildForward() {
    mlir::func::FuncOp function = open("forward");
    auto queries = addArguments(function, query, command.queries, "query");
    auto sources = addArguments(function, source, command.sources, "source");
    auto route = depth::RouteOp::create(
        builder, loc, queries, sources, /*partial=*/mlir::Value(),
        builder.getI64IntegerAttr(command.heads), epsilon(),
        /*repeated=*/mlir::UnitAttr(), /*site=*/mlir::StringAttr(),
        /*groups=*/mlir::ArrayAttr());
    std::vector<std::string> names;
    addNames(names, "mix", command.queries);
    llvm::SmallVector<mlir::Value> results(route.getMixes());
    if (command.backward) {
      llvm::append_values(results, route.getWeights(), route.getLogits(),
                          route.getRstd());
      llvm::append_values(names, "weights", "logits", "rstd");
    }
    finish(function, results, names);
  }

  void buildBackward() {
    mlir::func::FuncOp function = open("backward");
    auto queries = addArguments(function, query, command.queries, "query");
    auto sources = addArguments(function, source, command.sources, "source");
    auto mixes = addArguments(function, source, command.queries, "mix");
    auto gradients =
        addArguments(function, source, command.queries, "gradient");
    mlir::Type f32 = builder.getF32Type();
    auto distribution = mlir::RankedTensorType::get(
        {command.queries, 1, command.tokens, command.heads, command.sources},
        f32);
    auto scalars =
        mlir::RankedTensorType::get({1, command.tokens, command.sources}, f32);
    mlir::Value weights = addArgument(function, distribution, "weights"),
                logits = addArgument(function, distribution, "logits"),
                rstd = addArgument(function, scalars, "rstd");
    auto local = depth::RouteAdjointLocalOp::create(
        builder, loc, queries, gradients, mixes, /*partial=*/mlir::Value(),
        weights, logits, rstd);
    auto deferred = depth::RouteAdjointDeferredOp::create(
        builder, loc, queries, gradients, sources, weights, logits,
        local.getDots(), rstd, /*newest=*/false);
    std::vector<std::string> names;
    addNames(names, "source gradient", command.sources);
    addNames(names, "query gradient", command.queries);
    finish(function, deferred.getResults(), names);
  }

  mlir::FloatAttr epsilon() { return builder.getF64FloatAttr(1e-6); }

  const BenchRouteCommand &command;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::RankedTensorType query, source;
};
} // namespace

//===----------------------------------------------------------------------===//
// The verb
//===----------------------------------------------------------------------===//

static void checkSizes(const BenchRouteCommand &command) {
  if (command.width % command.heads != 0)
    throw CLI::ValidationError(
        "--depth-heads", concat("expected a divisor of the width ",
                                command.width, ", given ", command.heads));
}

static RouteTimes measure(const FunctionProgram &program,
                          std::uint64_t repeats) {
  const std::vector<CompiledFunction> &functions = program.getFunctions();
  Device &device = program.getDevice();
  std::vector<std::span<const std::byte>> sources;
  for (const FunctionBuffer &buffer : functions.front().buffers)
    if (llvm::StringRef(buffer.name).starts_with("source "))
      sources.push_back(program.read(buffer));
  // One after the other in every round, so that what else the machine does
  // meets all of them.
  std::vector<double> readPasses, forward, backward;
  for (std::uint64_t round = 0; round <= repeats; ++round) {
    double read = timeOf([&] { readPass(sources); });
    double there = timeOn(device, [&] { program.run(functions.front()); });
    double back = functions.size() == 1
                      ? 0
                      : timeOn(device, [&] { program.run(functions.back()); });
    if (round == 0) // touches memory
      continue;
    readPasses.push_back(read);
    forward.push_back(there);
    backward.push_back(back);
  }
  return {median(readPasses), median(forward), median(backward)};
}

static void print(const RouteTimes &times, const BenchRouteCommand &command) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.json) {
    llvm::json::Object object{{"read_pass_ms", times.readPass},
                              {"forward_ms", times.forward}};
    if (command.backward)
      object["backward_ms"] = times.backward;
    object["threads"] = threads();
    object["repeats"] = command.repeats;
    stream << llvm::json::Value(std::move(object)) << '\n';
  } else {
    auto printLine = [&](llvm::StringRef name, double time) {
      stream << llvm::left_justify(name, 22)
             << llvm::format("%9.3f ms %8.2f\n", time, time / times.readPass);
    };
    stream << "                              time    ratio\n";
    printLine("read pass of sources", times.readPass);
    printLine("forward", times.forward);
    if (command.backward) {
      printLine("backward", times.backward);
      printLine("forward and backward", times.forward + times.backward);
    }
  }
  std::cout << text;
}

static void runBenchRoute(const CompilerProgram &compiler,
                          const BenchRouteCommand &command) {
  checkSizes(command);
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  Lowering lowering = compiler.getLowering(/*isF64=*/false);
  auto module = RouteBuilder(*context, command, lowering.bf16).build();
  lowering.bf16 = false; // its tensors are bf16 already
  if (!command.module.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    writeFile(command.module, text);
  }
  FunctionProgram program(compiler, lowering, std::move(module));
  if (lowering.device == DeviceKind::Simulated)
    printBytes(program, command.json);
  else
    print(measure(program, command.repeats), command);
}

void isobath::addBenchRoute(CLI::App &bench, CompilerProgram &program) {
  auto command = std::make_shared<BenchRouteCommand>();
  CLI::App *verb = bench.add_subcommand(
      "route", "Time a route over closed sources beside a read pass over them");
  auto add = [&](const char *name, std::int64_t &value, std::int64_t most,
                 const char *description) {
    verb->add_option(name, value, description)
        ->check(wholeNumber(1, static_cast<std::uint64_t>(most)))
        ->capture_default_str()
        ->type_name("N");
  };
  add("--sources", command->sources, 1024, "Sources");
  add("--width", command->width, 1 << 20, "Elements of a source, D");
  add("--tokens", command->tokens, 1 << 24, "Tokens");
  add("--queries", command->queries, 64, "Queries, each with a mix of its own");
  add("--depth-heads", command->heads, 1 << 20,
      "Groups of channels with a distribution each; a divisor of the width");
  program.addLoweringOptions(*verb);
  verb->add_flag("--backward", command->backward,
                 "Also time the adjoint: the gradients of all sources and "
                 "queries");
  verb->add_option("--emit", command->module,
                   "File for the module that is timed, to change it and to "
                   "time it with `bench FILE`")
      ->type_name("FILE");
  verb->add_option("--repeats", command->repeats,
                   "Runs to take the median of, after one that does not count")
      ->check(wholeNumber(1, 10000))
      ->type_name("N");
  verb->add_flag("--json", command->json,
                 "Print the result as one JSON object on standard output");
  verb->callback([command, &program] { runBenchRoute(program, *command); });
}
