//===- Product.cpp - Matrix products, by a library and blocks -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries' own threads are not used: how they divide a sum among them
// depends on their number, and with that the bits of the result. C is cut into
// blocks by the sizes alone, each block is a product over the whole of K, and
// one thread computes it.
//
// What the library has no product for is widened to f32, block by block.
//
//===----------------------------------------------------------------------===//

#include "BlockProduct.h"
#include "Parallel.h"
#include "Profile.h"
#include "isobath/runtime/bfloat16.h"
#include "isobath/runtime/cpu_library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace isobath::runtime;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static bool hasAvx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

/// Ends the program with one line if the user asks for what there is not.
static const ProductLibrary &chooseLibrary() {
  const char *variable = std::getenv("ISOBATH_PRODUCTS");
  const std::string_view asked = variable ? variable : "";
  if (asked.empty())
    return !hasAvx512() && useOpenBlasOnOneThread() ? openBlasProducts
                                                    : oneDnnProducts;
  if (asked == "onednn")
    return oneDnnProducts;
  if (asked != "openblas")
    std::fprintf(stderr,
                 "error: ISOBATH_PRODUCTS: given '%s', expected onednn or "
                 "openblas\n",
                 variable);
  else if (useOpenBlasOnOneThread())
    return openBlasProducts;
  else
    std::fprintf(stderr, "error: ISOBATH_PRODUCTS: given 'openblas', but the "
                         "one installed is not safe for threads; expected "
                         "libopenblas0-pthread\n");
  std::exit(1);
}

const ProductLibrary &isobath::runtime::productLibrary() {
  static const ProductLibrary &library = chooseLibrary();
  return library;
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static int64_t elementBytes(int32_t type) {
  return type == ISOBATH_BF16 ? sizeof(Bfloat16) : sizeof(float);
}

/// Whether A is to be read from a copy in closer rows.
static bool readsFarApart(const BlockProduct &product) {
  return productLibrary().copiesFarRows &&
         (product.flags & ISOBATH_TRANSPOSE_A) && product.K >= 256 &&
         product.pitchA > product.M;
}

/// Elements between rows of a copy: an odd number of the cache's lines, in f32.
static int64_t copyPitch(int64_t columns) {
  return roundUp(columns + 16, 32) - 16;
}

namespace {
/// A matrix as it is stored, and the copy that the product is made with.
struct Copy {
  Copy(int64_t rows, int64_t columns, int64_t pitch, int32_t type,
       int32_t copyType, bool isNeeded)
      : rows(rows), columns(columns), pitch(pitch), type(type),
        copyType(copyType), isNeeded(isNeeded || type != copyType),
        pitchOfCopy(this->isNeeded ? copyPitch(columns) : pitch) {}

  int64_t rows, columns, pitch;
  int32_t type, copyType;
  bool isNeeded; // else the product is made with the matrix itself
  int64_t pitchOfCopy;

  int64_t bytes() const {
    return isNeeded ? roundUp(rows * pitchOfCopy * elementBytes(copyType), 64)
                    : 0;
  }
};
} // namespace

/// Into the copy.
static void copyIn(const Copy &copy, void *to, const void *from) {
  const auto *source = static_cast<const char *>(from);
  auto *target = static_cast<char *>(to);
  for (int64_t row = 0; row < copy.rows; ++row) {
    const char *sourceRow = source + row * copy.pitch * elementBytes(copy.type);
    char *targetRow =
        target + row * copy.pitchOfCopy * elementBytes(copy.copyType);
    if (copy.type == copy.copyType) {
      std::memcpy(targetRow, sourceRow, copy.columns * elementBytes(copy.type));
      continue;
    }
    const auto *narrow = reinterpret_cast<const Bfloat16 *>(sourceRow);
    auto *wide = reinterpret_cast<float *>(targetRow);
    for (int64_t column = 0; column < copy.columns; ++column)
      wide[column] = toFloat(narrow[column]);
  }
}

/// Back from a copy in f32 to bf16.
static void copyOut(const Copy &copy, void *to, const void *from) {
  for (int64_t row = 0; row < copy.rows; ++row) {
    auto *narrow = static_cast<Bfloat16 *>(to) + row * copy.pitch;
    const auto *wide =
        static_cast<const float *>(from) + row * copy.pitchOfCopy;
    for (int64_t column = 0; column < copy.columns; ++column)
      narrow[column] = toBfloat16(wide[column]);
  }
}

/// Element (row, column) of a stored matrix.
template <typename Byte>
static Byte *address(Byte *data, int32_t type, int64_t pitch, int64_t row,
                     int64_t column) {
  return data + (row * pitch + column) * elementBytes(type);
}

namespace {
/// A product as the library has it: of matrices as they are stored, or of
/// copies.
struct Slice {
  Copy a, b;
  BlockProduct product;

  int64_t bytes() const {
    return a.bytes() + b.bytes() +
           static_cast<int64_t>(productLibrary().workspaceBytes(product));
  }
};
} // namespace

static Slice planSlice(const BlockProduct &product, const Copy &c,
                       bool isNative) {
  const auto typeOf = [&](int32_t type) {
    return isNative ? type : ISOBATH_F32;
  };
  const bool transposeA = product.flags & ISOBATH_TRANSPOSE_A;
  const bool transposeB = product.flags & ISOBATH_TRANSPOSE_B;
  const Copy a(transposeA ? product.K : product.M,
               transposeA ? product.M : product.K, product.pitchA,
               product.typeA, typeOf(product.typeA), readsFarApart(product));
  const Copy b(transposeB ? product.N : product.K,
               transposeB ? product.K : product.N, product.pitchB,
               product.typeB, typeOf(product.typeB), false);
  return {a,
          b,
          {product.M, product.N, product.K, c.pitchOfCopy, a.pitchOfCopy,
           b.pitchOfCopy, c.copyType, a.copyType, b.copyType, product.flags}};
}

/// `workspace` has the slice's bytes.
static void multiplySlice(const Slice &slice, void *c, const void *a,
                          const void *b, char *workspace) {
  if (slice.a.isNeeded) {
    copyIn(slice.a, workspace, a);
    a = workspace;
    workspace += slice.a.bytes();
  }
  if (slice.b.isNeeded) {
    copyIn(slice.b, workspace, b);
    b = workspace;
    workspace += slice.b.bytes();
  }
  productLibrary().multiply(slice.product, c, a, b, workspace);
}

static void multiplyBlock(const BlockProduct &product, char *c, const char *a,
                          const char *b) {
  const bool isNative = productLibrary().supports(product);
  const Copy copyC(product.M, product.N, product.pitchC, product.typeC,
                   isNative ? product.typeC : int32_t(ISOBATH_F32), false);
  // Widened copies of so much depth are still in the caches when they are read,
  // and do not grow with the vocabulary. Their sum is f32 throughout.
  const int64_t deepestCopy = 2048;
  const int64_t depth = isNative ? product.K : std::min(product.K, deepestCopy);
  const auto sliceAt = [&](int64_t k) {
    BlockProduct part = product;
    part.K = std::min(depth, product.K - k);
    if (k > 0)
      part.flags |= ISOBATH_ACCUMULATE;
    return planSlice(part, copyC, isNative);
  };
  int64_t sliceBytes = 0;
  for (int64_t k = 0; k < product.K; k += depth)
    sliceBytes = std::max(sliceBytes, sliceAt(k).bytes());

  auto *workspace =
      static_cast<char *>(threadWorkspace(copyC.bytes() + sliceBytes));
  char *sum = copyC.isNeeded ? workspace : c;
  if (copyC.isNeeded && (product.flags & ISOBATH_ACCUMULATE))
    copyIn(copyC, sum, c);
  const bool transposeA = product.flags & ISOBATH_TRANSPOSE_A;
  const bool transposeB = product.flags & ISOBATH_TRANSPOSE_B;
  for (int64_t k = 0; k < product.K; k += depth)
    multiplySlice(sliceAt(k), sum,
                  address(a, product.typeA, product.pitchA, transposeA ? k : 0,
                          transposeA ? 0 : k),
                  address(b, product.typeB, product.pitchB, transposeB ? 0 : k,
                          transposeB ? k : 0),
                  workspace + copyC.bytes());
  if (copyC.isNeeded)
    copyOut(copyC, c, sum);
}

//===----------------------------------------------------------------------===//
// Division into blocks
//===----------------------------------------------------------------------===//

namespace {
struct Blocks {
  int64_t rows, columns;           // of one block; the last may be smaller
  int64_t rowBlocks, columnBlocks; // how many
};
} // namespace

/// Enough blocks for all threads, if there is work enough, but large ones: what
/// each copies of A and B on its own is then little beside its products. Whole
/// rows of C are best, since oneDNN's fastest code takes contiguous matrices
/// only; but not very long ones, for which all of B would pass by every block.
static Blocks divide(int64_t M, int64_t N, int64_t K, bool transposeA) {
  const int64_t leastWork = 1 << 20;
  int64_t rowParts = (M + 255) / 256, columnParts = (N + 2047) / 2048;
  const auto halve = [&](int64_t size, int64_t &parts, int64_t leastSide,
                         int64_t enoughBlocks) {
    while (rowParts * columnParts < enoughBlocks &&
           size / parts >= 2 * leastSide &&
           M * N * K / (rowParts * columnParts) >= 2 * leastWork)
      parts *= 2;
  };
  halve(M, rowParts, 128, 16);
  halve(N, columnParts, 128, 8);
  halve(M, rowParts, 64, 8);
  halve(N, columnParts, 64, 8);
  // Rows in Copy's pitch, so that a copy of a transposed A is contiguous.
  const int64_t rows = transposeA ? copyPitch((M + rowParts - 1) / rowParts)
                                  : roundUp((M + rowParts - 1) / rowParts, 16);
  const int64_t columns = roundUp((N + columnParts - 1) / columnParts, 16);
  return {rows, columns, (M + rows - 1) / rows, (N + columns - 1) / columns};
}

void isobath_cpu_product(void *c, const void *a, const void *b, int64_t M,
                         int64_t N, int64_t K, int32_t typeC, int32_t typeA,
                         int32_t typeB, int32_t flags) {
  productLibrary(); // may end the program, which no thread of a loop should
  const ProfiledCall timer{CpuPart::gemm};
  recordProduct({M, N, K, typeC, typeA, typeB, flags});
  auto *bytesC = static_cast<char *>(c);
  const auto *bytesA = static_cast<const char *>(a);
  const auto *bytesB = static_cast<const char *>(b);
  if (M == 0 || N == 0)
    return;
  if (K == 0) {
    if (!(flags & ISOBATH_ACCUMULATE))
      std::fill(bytesC, bytesC + M * N * elementBytes(typeC), 0);
    return;
  }
  const bool transposeA = flags & ISOBATH_TRANSPOSE_A;
  const bool transposeB = flags & ISOBATH_TRANSPOSE_B;
  const int64_t pitchA = transposeA ? M : K, pitchB = transposeB ? K : N;
  const Blocks blocks = divide(M, N, K, transposeA);
  parallelFor(blocks.rowBlocks * blocks.columnBlocks, [&](int64_t i) {
    const int64_t row = i / blocks.columnBlocks * blocks.rows;
    const int64_t column = i % blocks.columnBlocks * blocks.columns;
    const BlockProduct block = {std::min(blocks.rows, M - row),
                                std::min(blocks.columns, N - column),
                                K,
                                /*pitchC=*/N,
                                pitchA,
                                pitchB,
                                typeC,
                                typeA,
                                typeB,
                                flags};
    multiplyBlock(block, address(bytesC, typeC, N, row, column),
                  transposeA ? address(bytesA, typeA, pitchA, 0, row)
                             : address(bytesA, typeA, pitchA, row, 0),
                  transposeB ? address(bytesB, typeB, pitchB, column, 0)
                             : address(bytesB, typeB, pitchB, 0, column));
  });
}
