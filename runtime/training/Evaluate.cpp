//===- Evaluate.cpp - The loss over validation data -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The batch is the entry's own, so it need not divide the data: rows and
// positions that are left over have the target that does not count, and the
// program gives them a loss of 0.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/evaluate.h"

#include <cmath>

namespace isobath::runtime {

double sumLosses(const Unit &unit, const Buffers &buffers,
                 std::uint64_t batch) {
  return withElementType(unit.manifest().elementType, [&](auto zero) {
    using Real = decltype(zero);
    double sum = 0;
    for (Real loss :
         buffers.read<Real>("losses").first(batch * unit.manifest().context))
      sum += static_cast<double>(loss);
    return sum;
  });
}

Evaluator::Evaluator(const Unit &unit, Buffers &buffers)
    : unit(unit), buffers(buffers), loss(buffers.plan(unit.entry("loss"))) {}

Evaluation Evaluator::evaluate(const EvaluationData &data) const {
  const std::uint64_t batch = loss.signature().batch;
  const std::uint64_t positions = batch * unit.manifest().context;
  Evaluation result;
  double sum = 0;
  for (std::uint64_t i = 0; i < data.batches(batch); ++i) {
    result.tokens +=
        data.fill(i, buffers.write<std::int32_t>("tokens").first(positions),
                  buffers.write<std::int32_t>("targets").first(positions));
    loss.run();
    sum += sumLosses(unit, buffers, batch);
  }
  result.loss = sum / static_cast<double>(result.tokens);
  result.perplexity = std::exp(result.loss);
  return result;
}

} // namespace isobath::runtime
