//===- Architecture.cpp - NVIDIA GPUs that code is made for ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Target/NVPTX/Architecture.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace isobath;
using namespace isobath::nvptx;

/// With the lowest version of PTX for each.
static const Architecture architectures[] = {
    {"sm_80", {7, 0}},  // A100
    {"sm_90", {7, 8}},  // H100, H200
    {"sm_100", {8, 6}}, // B200
    {"sm_120", {8, 7}}, // RTX 50
};

/// What LLVM writes, from what the first architecture needs on.
static constexpr PtxVersion ptxVersions[] = {
    {7, 0}, {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 6},
    {7, 7}, {7, 8}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4},
    {8, 5}, {8, 6}, {8, 7}, {8, 8}, {9, 0}};

std::string PtxVersion::str() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::optional<PtxVersion> PtxVersion::parse(StringRef text) {
  for (PtxVersion version : ptxVersions)
    if (text == version.str())
      return version;
  return std::nullopt;
}

FailureOr<Architecture> Architecture::get(StringRef name) {
  for (const Architecture &architecture : architectures)
    if (name == architecture.name)
      return architecture;
  return failure();
}

std::string nvptx::listArchitectures(StringRef prefix) {
  std::string list;
  size_t left = std::size(architectures);
  for (const Architecture &known : architectures) {
    list += prefix.str() + known.name;
    --left;
    list += left > 1 ? ", " : left == 1 ? " or " : "";
  }
  return list;
}

std::string Architecture::setPtx(StringRef version) {
  std::optional<PtxVersion> parsed = PtxVersion::parse(version);
  if (parsed && *parsed >= ptx) {
    ptx = *parsed;
    return "";
  }
  SmallVector<std::string> choices;
  for (PtxVersion known : ptxVersions)
    if (known >= ptx)
      choices.push_back(known.str());
  return "given " + version.str() + " for " + name + ", expected " +
         llvm::join(choices, ", ");
}

std::string Architecture::getFeatures() const {
  return "+ptx" + std::to_string(ptx.major * 10 + ptx.minor);
}

Attribute Architecture::getAttribute(MLIRContext *context) const {
  return NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3,
                                   "nvptx64-nvidia-cuda", name, getFeatures());
}
