//===- evaluate.h - The loss over validation data -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the entry `loss` over every batch of an EvaluationData and weighs each
// target the same.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_EVALUATE_H
#define ISOBATH_RUNTIME_EVALUATE_H

#include "isobath/runtime/buffers.h"
#include "isobath/runtime/windows.h"

#include <cstdint>

namespace isobath::runtime {

struct Evaluation {
  double loss = 0;          // mean cross-entropy, in nats per token
  double perplexity = 0;    // e^loss
  std::uint64_t tokens = 0; // targets that counted
};

class Evaluator {
public:
  /// Plans the buffers of the entry `loss`. The unit and the buffers outlive
  /// the evaluator.
  Evaluator(const Unit &unit, Buffers &buffers);

  /// Evaluates the parameters that the buffers hold. `data` has at least one
  /// target.
  Evaluation evaluate(const EvaluationData &data) const;

private:
  const Unit &unit;
  Buffers &buffers;
  Buffers::Call loss;
};

/// The sum over the buffer `losses` of a call with B = `batch` sequences, in
/// double and in the order of the positions.
double sumLosses(const Unit &unit, const Buffers &buffers, std::uint64_t batch);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_EVALUATE_H
