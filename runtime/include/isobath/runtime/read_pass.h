//===- read_pass.h - How fast memory can be read --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The physical limit that kernels are measured beside: whoever computes with
// data has to read it.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_READ_PASS_H
#define ISOBATH_RUNTIME_READ_PASS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace isobath::runtime {

/// Reads all of `buffers` with vector loads, on threads() threads. Returns the
/// exclusive or of their 64-bit words, so that nothing can be left out; the
/// rest of a buffer below a multiple of 128 bytes is.
std::uint64_t readPass(std::span<const std::span<const std::byte>> buffers);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_READ_PASS_H
