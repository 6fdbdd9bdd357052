//===- Product.cpp - Matrix products by oneDNN ----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN's own threads are not used: how it divides a sum among them depends on
// their number, and with that the bits of the result. C is cut into blocks by
// the sizes alone, each block is a product over the whole of K, and one thread
// computes it with a primitive made for one thread.
//
// oneDNN multiplies bf16 only on processors with AVX-512, and never f32 into
// bf16. What it has no primitive for is widened to f32, block by block.
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"
#include "Profile.h"
#include "isobath/runtime/bfloat16.h"
#include "isobath/runtime/cpu_library.h"

#include <algorithm>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

using namespace isobath::runtime;

extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

namespace {
/// All that a primitive depends on: a product as in cpu_library.h, of matrices
/// whose stored rows are `pitch` elements apart.
struct BlockProduct {
  int64_t M, N, K;
  int64_t pitchC, pitchA, pitchB;
  int32_t typeC, typeA, typeB, flags;

  auto operator<=>(const BlockProduct &) const = default;
};

struct Primitive {
  dnnl::memory::desc a, b, c, scratchpad;
  dnnl::matmul matmul; // empty: oneDNN has none
};
} // namespace

static const dnnl::engine &engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

static dnnl::memory::desc describe(int64_t rows, int64_t columns, int64_t pitch,
                                   int32_t type, bool isTransposed) {
  const auto strides = isTransposed ? dnnl::memory::dims{1, pitch}
                                    : dnnl::memory::dims{pitch, 1};
  return {{rows, columns},
          type == ISOBATH_BF16 ? dnnl::memory::data_type::bf16
                               : dnnl::memory::data_type::f32,
          strides};
}

static std::unique_ptr<Primitive> makePrimitive(const BlockProduct &product) {
  auto result = std::make_unique<Primitive>();
  result->a = describe(product.M, product.K, product.pitchA, product.typeA,
                       product.flags & ISOBATH_TRANSPOSE_A);
  result->b = describe(product.K, product.N, product.pitchB, product.typeB,
                       product.flags & ISOBATH_TRANSPOSE_B);
  result->c =
      describe(product.M, product.N, product.pitchC, product.typeC, false);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (product.flags & ISOBATH_ACCUMULATE) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  // A primitive is planned for the number of threads at its making.
  const int outside = omp_get_max_threads();
  omp_set_num_threads(1);
  const dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(result->a, result->b, result->c), attributes, engine(),
      /*allow_empty=*/true);
  if (description) {
    result->scratchpad = description.scratchpad_desc();
    result->matmul = dnnl::matmul(description);
  }
  omp_set_num_threads(outside);
  return result;
}

/// Primitives are made once and kept: a model has a few dozen shapes.
static const Primitive &findPrimitive(const BlockProduct &product) {
  static std::mutex mutex;
  static std::map<BlockProduct, std::unique_ptr<Primitive>> primitives;
  std::lock_guard lock(mutex);
  std::unique_ptr<Primitive> &entry = primitives[product];
  if (!entry)
    entry = makePrimitive(product);
  return *entry;
}

/// `workspace` has the bytes of the primitive's scratchpad.
static void execute(const Primitive &primitive, void *c, const void *a,
                    const void *b, void *workspace) {
  static thread_local dnnl::stream stream(engine());
  const auto memory = [](const dnnl::memory::desc &description,
                         const void *data) {
    return dnnl::memory(description, engine(), const_cast<void *>(data));
  };
  primitive.matmul.execute(
      stream, {{DNNL_ARG_SRC, memory(primitive.a, a)},
               {DNNL_ARG_WEIGHTS, memory(primitive.b, b)},
               {DNNL_ARG_DST, memory(primitive.c, c)},
               {DNNL_ARG_SCRATCHPAD, memory(primitive.scratchpad, workspace)}});
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

/// Whether oneDNN would read A down columns whose elements are far apart: they
/// may compete for a few places in the caches, up to half of its speed. From a
/// copy in closer rows it reads faster.
static bool readsFarApart(const BlockProduct &product) {
  return (product.flags & ISOBATH_TRANSPOSE_A) && product.K >= 256 &&
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
/// A product as oneDNN has it: of matrices as they are stored, or of copies.
struct Slice {
  Copy a, b;
  const Primitive &primitive;

  int64_t bytes() const {
    return a.bytes() + b.bytes() +
           static_cast<int64_t>(primitive.scratchpad.get_size());
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
  const Primitive &primitive = findPrimitive(
      {product.M, product.N, product.K, c.pitchOfCopy, a.pitchOfCopy,
       b.pitchOfCopy, c.copyType, a.copyType, b.copyType, product.flags});
  if (!primitive.matmul) {
    std::fprintf(stderr, "error: cpu: oneDNN has no product of f32 matrices\n");
    std::abort();
  }
  return {a, b, primitive};
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
  execute(slice.primitive, c, a, b, workspace);
}

static void multiplyBlock(const BlockProduct &product, char *c, const char *a,
                          const char *b) {
  const bool isNative = static_cast<bool>(findPrimitive(product).matmul);
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
