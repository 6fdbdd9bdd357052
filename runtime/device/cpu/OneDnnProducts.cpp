//===- OneDnnProducts.cpp - Blocks of products by oneDNN ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN multiplies bf16 only on processors with AVX-512, and never f32 into
// bf16.
//
//===----------------------------------------------------------------------===//

#include "BlockProduct.h"
#include "isobath/runtime/cpu_library.h"

#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

namespace isobath::runtime {

namespace {
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

static bool supports(const BlockProduct &product) {
  return static_cast<bool>(findPrimitive(product).matmul);
}

static std::size_t workspaceBytes(const BlockProduct &product) {
  return findPrimitive(product).scratchpad.get_size();
}

static void multiply(const BlockProduct &product, void *c, const void *a,
                     const void *b, void *workspace) {
  static thread_local dnnl::stream stream(engine());
  const Primitive &primitive = findPrimitive(product);
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

const ProductLibrary oneDnnProducts = {supports, workspaceBytes, multiply,
                                       /*copiesFarRows=*/true};

} // namespace isobath::runtime
