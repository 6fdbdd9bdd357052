//===- OpenBlasProducts.cpp - Blocks of products by OpenBLAS --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockProduct.h"
#include "isobath/runtime/cpu_library.h"

#include <cblas.h>
#include <string_view>

namespace isobath::runtime {

bool useOpenBlasOnOneThread() {
  const std::string_view configuration = openblas_get_config();
  const bool isSafe =
      openblas_get_parallel() != OPENBLAS_SEQUENTIAL ||
      configuration.find("USE_LOCKING") != std::string_view::npos;
  if (isSafe)
    openblas_set_num_threads(1);
  return isSafe;
}

static bool supports(const BlockProduct &product) {
  return product.typeA == ISOBATH_F32 && product.typeB == ISOBATH_F32 &&
         product.typeC == ISOBATH_F32;
}

static std::size_t workspaceBytes(const BlockProduct & /*product*/) {
  return 0; // OpenBLAS keeps its own
}

static void multiply(const BlockProduct &product, void *c, const void *a,
                     const void *b, void * /*workspace*/) {
  const auto transposed = [&](int32_t flag) {
    return product.flags & flag ? CblasTrans : CblasNoTrans;
  };
  const float beta = product.flags & ISOBATH_ACCUMULATE ? 1.0f : 0.0f;
  const auto size = [](int64_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, transposed(ISOBATH_TRANSPOSE_A),
              transposed(ISOBATH_TRANSPOSE_B), size(product.M), size(product.N),
              size(product.K), 1.0f, static_cast<const float *>(a),
              size(product.pitchA), static_cast<const float *>(b),
              size(product.pitchB), beta, static_cast<float *>(c),
              size(product.pitchC));
}

const ProductLibrary openBlasProducts = {supports, workspaceBytes, multiply,
                                         /*copiesFarRows=*/false};

} // namespace isobath::runtime
