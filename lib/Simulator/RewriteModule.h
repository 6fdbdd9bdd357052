//===- RewriteModule.h - From NVPTX's IR to the host's --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the rewrite, in the order in which they run. Each is a file.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_SIMULATOR_REWRITEMODULE_H
#define ISOBATH_LIB_SIMULATOR_REWRITEMODULE_H

#include "Sites.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <functional>

namespace isobath::simulator {

/// A kernel as it is in a rewritten module.
struct RewrittenKernel {
  /// void(ThreadState *, const void *const *arguments)
  std::string entry;
  unsigned parameters = 0;
  std::uint64_t localBytes = 0; ///< of stack that its variables take
  std::uint64_t staticSharedBytes = 0;
  std::uint64_t maxThreads = 0; ///< of a block; 0: as many as the device has
  std::uint32_t requiredBlock[3] = {0, 0, 0}; ///< 0: any
};

/// A global variable outside of shared memory.
struct RewrittenGlobal {
  std::string symbol;
  std::uint64_t bytes = 0;
  bool isConstant = false;
};

struct RewrittenModule {
  SiteTable sites;
  llvm::StringMap<RewrittenKernel> kernels;
  std::vector<RewrittenGlobal> globals;
  /// Functions of libdevice that are called and that the host's C library does.
  std::vector<std::string> libdeviceFunctions;
};

/// Makes of `module`, which was made for NVPTX, one for `host` that calls the
/// functions of ThreadState.h. The error names what the simulator does not
/// know.
llvm::Expected<RewrittenModule> rewriteModule(llvm::Module &module,
                                              llvm::TargetMachine &host);

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Gives numbers to places.
class SiteNumbering {
public:
  /// Notes what `module` has, before it is changed.
  SiteNumbering(SiteTable &table, const llvm::Module &module);

  /// A new site at `instruction`, which `module` had.
  Site &add(const llvm::Instruction &instruction);
  /// The number of the last site.
  llvm::ConstantInt *getNumber(llvm::LLVMContext &context) const;

private:
  SiteTable &table;
  llvm::DenseMap<const llvm::Instruction *, std::string> locations;
};

llvm::Error makeError(const llvm::Twine &message);

/// Fails if `module` has something that the parts below do not know, or that no
/// GPU would run.
llvm::Error checkModule(const llvm::Module &module);

/// The bytes of variables on the stack of `function` and of all it calls, which
/// is not recursive.
std::uint64_t countLocalBytes(const llvm::Function &function);

/// Gives every function a first argument, the ThreadState.
void addThreadArguments(llvm::Module &module);

/// The ThreadState of the function around an instruction.
llvm::Value *getThread(const llvm::Instruction &instruction);

/// Calls for accesses, and one in every loop.
void instrumentAccesses(llvm::Module &module, SiteNumbering &sites);

/// Puts variables of shared memory at offsets from ThreadState::shared, and
/// says how many static bytes each kernel needs.
void placeSharedVariables(llvm::Module &module,
                          llvm::StringMap<RewrittenKernel> &kernels);

/// Whether lowerIntrinsics knows the call of an llvm.nvvm intrinsic.
bool isKnownIntrinsic(const llvm::CallInst &call);

/// Replaces the calls of llvm.nvvm intrinsics.
void lowerIntrinsics(llvm::Module &module, SiteNumbering &sites);

/// What an intrinsic computes, which has no effect.
using MathRule =
    std::function<llvm::Value *(llvm::IRBuilder<> &, llvm::CallInst &)>;
/// By names as getNvvmName gives them.
const llvm::StringMap<MathRule> &getMathRules();

/// The name of an llvm.nvvm intrinsic without that prefix and without the
/// suffixes of overloaded types, or nothing for another function.
llvm::StringRef getNvvmName(const llvm::Function &function);

/// Calls one of `functions`. It has unknown effects on memory, or if `watches`
/// on none that the kernel sees.
llvm::CallInst *callRuntime(llvm::IRBuilder<> &builder, llvm::StringRef name,
                            llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> arguments,
                            bool watches = false);

/// Marks a call that threads make together: it is neither moved into other
/// control flow nor merged with another.
void markConvergent(llvm::CallInst &call);

/// What the host's C library has for the function `name` of libdevice, or null.
void *findLibdeviceFunction(llvm::StringRef name);

} // namespace isobath::simulator

#endif // ISOBATH_LIB_SIMULATOR_REWRITEMODULE_H
