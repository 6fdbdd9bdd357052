//===- Symbols.cpp - The library's names ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that load code which they compiled themselves.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/cpu_library.h"

namespace isobath::runtime {

std::span<const CpuSymbol> cpuSymbols() {
#define SYMBOL(name)                                                           \
  CpuSymbol { #name, reinterpret_cast<void *>(&(name)) }
  static const CpuSymbol table[] = {
      SYMBOL(isobath_cpu_launch),       SYMBOL(isobath_cpu_product),
      SYMBOL(isobath_cpu_attention),    SYMBOL(isobath_cpu_attention_adjoint),
      SYMBOL(isobath_cpu_group_tokens),
  };
#undef SYMBOL
  return table;
}

} // namespace isobath::runtime
