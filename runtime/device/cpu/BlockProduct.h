//===- BlockProduct.h - One block of a matrix product, on one thread ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two libraries can do it. oneDNN's code for AVX-512 is twice as fast as
// OpenBLAS's, and multiplies bf16; without AVX-512, oneDNN reads operands where
// they are, and OpenBLAS, which packs them, is up to 1.4 times as fast. So the
// processor decides, and ISOBATH_PRODUCTS=onednn|openblas overrides it.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_DEVICE_CPU_BLOCKPRODUCT_H
#define ISOBATH_RUNTIME_DEVICE_CPU_BLOCKPRODUCT_H

#include <compare>
#include <cstddef>
#include <cstdint>

namespace isobath::runtime {

/// A product as in cpu_library.h, of matrices whose stored rows are `pitch`
/// elements apart.
struct BlockProduct {
  int64_t M, N, K;
  int64_t pitchC, pitchA, pitchB;
  int32_t typeC, typeA, typeB, flags;

  auto operator<=>(const BlockProduct &) const = default;
};

/// The interface to a library. Its functions may be called by several threads
/// at once, and use none besides the caller's.
struct ProductLibrary {
  /// Whether there is such a product.
  bool (*supports)(const BlockProduct &product);
  /// Bytes of scratch memory that it takes.
  std::size_t (*workspaceBytes)(const BlockProduct &product);
  void (*multiply)(const BlockProduct &product, void *c, const void *a,
                   const void *b, void *workspace);
  /// Whether a transposed A in rows far apart is read from a copy in closer
  /// rows: down a column, elements may compete for a few places in the caches,
  /// up to half of the speed.
  bool copiesFarRows;
};

/// The library of this process.
const ProductLibrary &productLibrary();

extern const ProductLibrary oneDnnProducts, openBlasProducts;

/// Keeps OpenBLAS from starting threads. Which build of it a system loads is
/// its administrator's choice: returns whether this one may be called by
/// several threads at once. One without threads was seen to give wrong results
/// then.
bool useOpenBlasOnOneThread();

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_DEVICE_CPU_BLOCKPRODUCT_H
