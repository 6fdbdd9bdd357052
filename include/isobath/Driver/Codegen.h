//===- Codegen.h - From LLVM's dialect to machine code --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One way for both uses of it: code that is run in this process (Jit.h) and
// object files (objects for other programs, training binaries) differ in the
// processor that they are described for, and in nothing else. For one
// processor, both compute the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_CODEGEN_H
#define ISOBATH_DRIVER_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace isobath {

/// The name of the processor that this process runs on.
inline constexpr llvm::StringLiteral nativeCpu = "native";

/// The processor that code is made for.
struct CodeTarget {
  llvm::orc::JITTargetMachineBuilder machine;
  /// What the code may use, in LLVM's names: "avx2", "fma", …
  std::vector<std::string> features;

  /// Whether this machine's processors are of the same architecture, if not of
  /// the same model.
  bool isOfHost() const;
};

/// The processor called `cpu`: nativeCpu, an x86-64 processor or level as LLVM
/// names it, or aarch64. The error names the choices.
llvm::Expected<CodeTarget> describeTarget(llvm::StringRef cpu);

/// Translates `module`, all of it in LLVM's dialect, to LLVM IR optimised for
/// `target`.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                CodeTarget &target);

/// The relocatable, position-independent object of `module`, to which emitUnit
/// added a unit: it exports ISOBATH_UNIT_SYMBOL.
llvm::Expected<std::string> compileToObject(mlir::ModuleOp module,
                                            CodeTarget &target);

/// The same as compileToObject as a static library of several objects, made on
/// all processors at once. Their number does not depend on that of processors.
llvm::Expected<std::string> compileToArchive(mlir::ModuleOp module,
                                             CodeTarget &target);

} // namespace isobath

#endif // ISOBATH_DRIVER_CODEGEN_H
