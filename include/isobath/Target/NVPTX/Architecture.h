//===- Architecture.h - NVIDIA GPUs that code is made for --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_NVPTX_ARCHITECTURE_H
#define ISOBATH_TARGET_NVPTX_ARCHITECTURE_H

#include "mlir/IR/Attributes.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace isobath::nvptx {

/// A version of PTX: 7.8 is {7, 8}.
struct PtxVersion {
  int major, minor;

  /// Reads "7.8"; none if that is no version that LLVM writes.
  static std::optional<PtxVersion> parse(llvm::StringRef text);
  std::string str() const;
  auto operator<=>(const PtxVersion &) const = default;
};

/// An architecture, and the PTX that code for it is written in.
struct Architecture {
  std::string name; // sm_90
  PtxVersion ptx;   // the lowest that it needs, unless another is asked for

  /// One of those that listArchitectures names.
  static mlir::FailureOr<Architecture> get(llvm::StringRef name);
  /// Asks for another version; otherwise what is wrong with it, in one line.
  std::string setPtx(llvm::StringRef version);

  /// LLVM's name of the version.
  std::string getFeatures() const;
  /// #nvvm.target<…>
  mlir::Attribute getAttribute(mlir::MLIRContext *context) const;
};

/// "sm_80, … or sm_120", with `prefix` in front of each.
std::string listArchitectures(llvm::StringRef prefix = "");

} // namespace isobath::nvptx

#endif // ISOBATH_TARGET_NVPTX_ARCHITECTURE_H
