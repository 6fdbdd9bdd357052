//===- CompileCommand.cpp - The verb compile ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without --emit, the result is a program; with it, one of the stages on the
// way there.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "isobath/Driver/Codegen.h"
#include "isobath/Driver/DeviceCode.h"
#include "isobath/Driver/Link.h"
#include "isobath/Driver/Pipelines.h"
#include "isobath/Target/EmitUnit.h"
#include "isobath/runtime/cpu.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <optional>

using namespace isobath;

/// What objects and programs are compiled for: every 64-bit processor of this
/// machine's architecture, as the runtime's own archives are, so that the
/// result runs wherever it is copied to. A newer processor is asked for by
/// name.
#if defined(__aarch64__)
static constexpr llvm::StringLiteral portableCpu = "aarch64";
#else
static constexpr llvm::StringLiteral portableCpu = "x86-64";
#endif

namespace {
struct CompileCommand {
  std::string stage; // empty: a training binary
  std::string output;
  std::optional<std::string> cpu;
  std::optional<std::string> linker;
  std::string target = "cpu"; // or nvptx:ARCHITECTURE
  std::optional<std::string> ptx;
  std::vector<std::string> overrides;

  /// The architecture of a target that is a GPU.
  std::optional<nvptx::Architecture> gpu;
};
} // namespace

//===----------------------------------------------------------------------===//
// Objects and programs
//===----------------------------------------------------------------------===//

/// What the manifest says about the processor: the features that the runtime
/// can look for.
static llvm::json::Object describe(llvm::StringRef cpu,
                                   const CodeTarget &target) {
  llvm::json::Array features;
  for (std::string_view known : runtime::knownCpuFeatures())
    if (llvm::is_contained(target.features, known))
      features.push_back(std::string(known));
  llvm::StringRef name =
      cpu == nativeCpu ? llvm::StringRef(target.machine.getCPU()) : cpu;
  return llvm::json::Object{{"name", name}, {"features", std::move(features)}};
}

static std::string emitObject(LoadedModel &model, const Lowering &lowering,
                              const CompileCommand &command) {
  std::string cpu = command.cpu.value_or(portableCpu.str());
  CodeTarget target = valueOrThrow(describeTarget(cpu));
  if (command.stage.empty() && !target.isOfHost())
    throw runtime::Error("cpu: given " + cpu +
                         ", for which there is no "
                         "runtime to link a training binary with here, "
                         "expected --emit=obj with it");
  llvm::json::Object manifest = describe(model, lowering);
  manifest["cpu"] = describe(cpu, target);
  lowerToStep(model, getAllEntries());
  lowerToRouted(model, lowering);
  lowerToUnit(model, lowering, std::move(manifest));
  return valueOrThrow(compileToObject(*model.module, target));
}

/// Arguments that the runtime's archives, as they were built, make necessary.
static std::vector<std::string> getLinkArguments() {
  std::vector<std::string> arguments = {"-ldnnl", "-lopenblas",
                                        "-l:libgomp.so.1"};
  std::string sanitizers = ISOBATH_SANITIZE;
  if (!sanitizers.empty())
    arguments.push_back("-fsanitize=" + sanitizers);
  return arguments;
}

/// Writes `program` so that it can be run.
static void writeProgram(const std::string &path, const std::string &program) {
  namespace fs = std::filesystem;
  runtime::writeFile(path, program);
  std::error_code error;
  fs::permissions(path,
                  fs::perms::owner_exec | fs::perms::group_exec |
                      fs::perms::others_exec,
                  fs::perm_options::add, error);
  if (error)
    runtime::failSystemCall(path, "make executable", error.value());
}

static void emitProgram(LoadedModel &model, const Lowering &lowering,
                        const CompileCommand &command) {
  LinkOptions options;
  // The compiler that built the archives comes first: it fits them best.
  options.linker = command.linker
                       ? *command.linker
                       : valueOrThrow(findLinker(
                             {ISOBATH_CXX_COMPILER, "clang++-22", "c++"}));
  options.archives = valueOrThrow(findArchives());
  options.arguments = getLinkArguments();
  std::string object = emitObject(model, lowering, command);
  writeProgram(command.output,
               valueOrThrow(linkTrainingBinary(object, options)));
}

//===----------------------------------------------------------------------===//
// Kernels of a GPU
//===----------------------------------------------------------------------===//

/// What lowerToRouted made, as code for the GPU.
static std::string emitDeviceCode(LoadedModel &model, const Lowering &lowering,
                                  const CompileCommand &command) {
  lowerToKernels(model, lowering);
  runPipeline(model, [&](mlir::OpPassManager &manager) {
    buildNvptxCodePipeline(manager, *command.gpu);
  });
  auto kernels = takeKernels(*model.module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.stage == "nvvm") {
    kernels->print(stream);
    stream << "\n";
    return text;
  }
  llvm::LLVMContext context;
  auto code = valueOrThrow(translateKernels(*kernels, context, *command.gpu));
  if (command.stage == "llvm") {
    code->print(stream, nullptr);
    return text;
  }
  std::string ptx = valueOrThrow(writePtx(*code, *command.gpu));
  return command.stage == "ptx" ? ptx
                                : valueOrThrow(assemblePtx(ptx, *command.gpu));
}

//===----------------------------------------------------------------------===//
// Stages as text
//===----------------------------------------------------------------------===//

/// The program at the stage that was asked for.
static std::string emitText(LoadedModel &model, const Lowering &lowering,
                            const CompileCommand &command) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (command.stage == "model") {
    model.module->print(stream);
    return text;
  }
  llvm::json::Object manifest = describe(model, lowering);
  lowerToStep(model, getAllEntries());
  if (command.stage != "step")
    lowerToRouted(model, lowering);
  if (command.gpu && command.stage != "step" && command.stage != "routed" &&
      command.stage != "kernels")
    return emitDeviceCode(model, lowering, command);
  if (command.stage != "llvm") {
    if (command.stage == "kernels")
      lowerToKernels(model, lowering);
    else if (command.stage == "planned")
      lowerToPlanned(model, lowering);
    model.module->print(stream);
    return text;
  }
  lowerToUnit(model, lowering, std::move(manifest));
  CodeTarget target = valueOrThrow(describeTarget(nativeCpu));
  llvm::LLVMContext context;
  valueOrThrow(translateToLLVM(*model.module, context, target))
      ->print(stream, nullptr);
  return text;
}

//===----------------------------------------------------------------------===//
// The verb
//===----------------------------------------------------------------------===//

/// The GPU of --target and --ptx; none for the CPU.
static std::optional<nvptx::Architecture>
parseTarget(const CompileCommand &command) {
  llvm::StringRef name = command.target;
  if (name == "cpu") {
    if (command.ptx)
      throw CLI::ValidationError(
          "--ptx", "expected --target nvptx:ARCHITECTURE, given cpu");
    return std::nullopt;
  }
  auto architecture = mlir::FailureOr<nvptx::Architecture>();
  if (name.consume_front("nvptx:"))
    architecture = nvptx::Architecture::get(name);
  if (mlir::failed(architecture))
    throw CLI::ValidationError(
        "--target", "given " + command.target + ", expected cpu or " +
                        nvptx::listArchitectures("nvptx:"));
  if (!command.ptx)
    return *architecture;
  if (std::string error = architecture->setPtx(*command.ptx); !error.empty())
    throw CLI::ValidationError("--ptx", error);
  return *architecture;
}

/// Stages that there are for one kind of target alone.
static void checkStage(const CompileCommand &command) {
  llvm::StringRef stage = command.stage;
  bool isOfCpu = stage.empty() || stage == "planned" || stage == "obj";
  bool isOfGpu = stage == "nvvm" || stage == "ptx" || stage == "cubin";
  if (command.ptx && !isOfGpu && stage != "llvm")
    throw CLI::ValidationError(
        "--ptx", "expected --emit=nvvm, llvm, ptx or cubin, given --emit=" +
                     command.stage);
  if (command.gpu && isOfCpu)
    throw CLI::ValidationError(
        "--target",
        "given " + command.target +
            (stage.empty() ? std::string(" without --emit")
                           : " with --emit=" + command.stage) +
            ", expected --emit=kernels, nvvm, llvm, ptx or cubin with it");
  if (!command.gpu && isOfGpu)
    throw CLI::ValidationError("--emit", "given " + command.stage +
                                             " for the target cpu, expected " +
                                             "--target nvptx:ARCHITECTURE");
}

/// Options that the stage would ignore are refused.
static void checkOptions(const CompileCommand &command) {
  checkStage(command);
  bool isProgram = command.stage.empty();
  if (command.cpu && !isProgram && command.stage != "obj")
    throw CLI::ValidationError(
        "--cpu",
        "expected --emit=obj or no --emit, given --emit=" + command.stage);
  if (command.linker && !isProgram)
    throw CLI::ValidationError("--linker", "expected no --emit, given --emit=" +
                                               command.stage);
  if (isProgram && command.output == "-")
    throw CLI::ValidationError(
        "--output", "expected a file for a training binary, given -");
}

static void runCompile(const CompilerProgram &program,
                       CompileCommand &command) {
  command.gpu = parseTarget(command);
  checkOptions(command);
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  LoadOptions options;
  options.overrides = command.overrides;
  LoadedModel model = program.loadModel(*context, options);
  Lowering lowering = program.getLowering(model);
  if (command.stage == "kernels" && lowering.device == DeviceKind::Reference)
    throw runtime::Error(
        "--emit: given kernels for the device reference, which "
        "has none, expected planned or --device cpu");
  if (command.gpu && lowering.device == DeviceKind::Reference)
    throw runtime::Error("--target: given " + command.target +
                         " for the device reference, which has no kernels, "
                         "expected --device cpu");
  if ((command.stage.empty() || command.stage == "obj") &&
      lowering.device == DeviceKind::Simulated)
    throw runtime::Error("--device: given simulated, which is a part of this "
                         "tool and of no training binary, expected cpu or "
                         "reference, or --emit with another stage");
  if (command.stage.empty()) {
    emitProgram(model, lowering, command);
    return;
  }
  std::string result = command.stage == "obj"
                           ? emitObject(model, lowering, command)
                           : emitText(model, lowering, command);
  if (command.output == "-")
    std::cout << result;
  else
    runtime::writeFile(command.output, result);
}

void isobath::addCompileCommand(CLI::App &application,
                                CompilerProgram &program) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *verb = application.add_subcommand(
      "compile", "Make a training binary of a model: one program with train, "
                 "eval, grad, routes, init and info; or write the model at one "
                 "of the compiler's stages");
  program.addOptions(*verb);
  verb->add_option(
          "--emit", command->stage,
          "model: what the model is; step: with derivatives and "
          "updates; routed: with routes batched; kernels: as fused row "
          "kernels and products; "
          "planned: with every buffer placed; llvm: LLVM IR of the "
          "whole unit; obj: an object file that exports isobath_unit; for a "
          "GPU, nvvm, llvm, ptx, cubin: its kernels in that form")
      ->check(CLI::IsMember({"model", "step", "routed", "kernels", "planned",
                             "nvvm", "llvm", "ptx", "cubin", "obj"}))
      ->type_name("STAGE");
  verb->add_option("--target", command->target,
                   "What kernels are made for: cpu, the default, or an NVIDIA "
                   "GPU: nvptx:sm_80, nvptx:sm_90, nvptx:sm_100 or "
                   "nvptx:sm_120")
      ->type_name("TARGET");
  verb->add_option("--ptx", command->ptx,
                   "Version of PTX for a GPU: 7.8, 8.6, …; the lowest that it "
                   "needs unless given")
      ->type_name("VERSION");
  verb->add_option("--cpu", command->cpu,
                   "Processor of the object or training binary: native, "
                   "x86-64-v3, znver4, …, for objects also aarch64; x86-64, "
                   "which every 64-bit x86 machine runs, unless given")
      ->type_name("NAME");
  verb->add_option("--linker", command->linker,
                   "C++ compiler that links the training binary; found in "
                   "PATH unless given")
      ->type_name("PATH");
  verb->add_option("--set", command->overrides,
                   "Another value for a key of the description")
      ->type_name("KEY=VALUE");
  verb->add_option("-o,--output", command->output,
                   "File to write; - for standard output, except for a "
                   "training binary")
      ->required()
      ->type_name("FILE");
  verb->callback([command, &program] { runCompile(program, *command); });
}
