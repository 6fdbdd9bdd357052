//===- DescriptionRules.cpp - Rules between the values of a description ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule is reported at the key that was written, never at a default.
//
//===----------------------------------------------------------------------===//

#include "DescriptionRules.h"
#include "KeyCollector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace isobath;
using llvm::StringRef;
using llvm::Twine;

/// The error at the first of `keys` that was given, showing what was given for
/// it unless `given` says more. A default breaks a rule only together with a
/// key that was given, so that one of `keys` always was.
static llvm::Error fail(const Origins &origins, llvm::ArrayRef<StringRef> keys,
                        const Twine &expected,
                        std::optional<std::string> given = std::nullopt) {
  StringRef key = *llvm::find_if(
      keys, [&](StringRef key) { return origins.count(key.str()) > 0; });
  const Origin &origin = origins.at(key.str());
  return descriptionError(origin.where, key, given ? *given : origin.given,
                          expected);
}

static llvm::Error checkHeads(const ModelSection &model,
                              const Origins &origins) {
  std::string width = std::to_string(model.width);
  if (model.width % model.heads != 0)
    return fail(origins, {"model.heads"},
                "a divisor of model.width, which is " + width);
  if (model.headWidth() % 2 != 0)
    return fail(origins, {"model.heads"},
                "an even model.width / model.heads, which is " + width + " / " +
                    Twine(model.heads) + " = " + Twine(model.headWidth()));
  if (model.heads % model.kvHeads != 0)
    return fail(origins, {"model.kv_heads"},
                "a divisor of model.heads, which is " + Twine(model.heads));
  return llvm::Error::success();
}

/// Fails at a key of `model.residual` that was given and that `residual` does
/// not allow; `reason` says why.
static llvm::Error checkAllowedKeys(ResidualSection residual,
                                    const Twine &reason,
                                    const Origins &origins) {
  KeyCollector all, allowed;
  visitResidualKeys(all, residual, /*onlyAllowed=*/false);
  visitResidualKeys(allowed, residual, /*onlyAllowed=*/true);
  for (StringRef key : all.keys) {
    std::string path = dottedKey("model.residual", key);
    if (!llvm::is_contained(allowed.keys, key) && origins.count(path))
      return fail(origins, {path}, "no such key when model.residual." + reason);
  }
  return llvm::Error::success();
}

static llvm::Error checkResidual(const ModelSection &model,
                                 const Origins &origins) {
  const ResidualSection &residual = model.residual;
  ResidualSection ofKind = residual; // whatever the score
  ofKind.score = RouteScore::dot;
  if (llvm::Error error = checkAllowedKeys(
          ofKind, "kind is " + spellingOf(residual.kind), origins))
    return error;
  if (llvm::Error error = checkAllowedKeys(
          residual, "score is " + spellingOf(residual.score), origins))
    return error;
  if (residual.score == RouteScore::staticMixture &&
      residual.routes.value == RouteRule::repeat)
    return fail(origins, {"model.residual.routes"},
                "learned, uniform, newest or embedding when "
                "model.residual.score is static",
                "v: repeat");
  if (model.width % residual.depthHeads != 0)
    return fail(origins, {"model.residual.depth_heads"},
                "a divisor of model.width, which is " + Twine(model.width));
  return llvm::Error::success();
}

/// No buffer may have more elements. It keeps every sum of sizes in bytes that
/// is taken later below 2^63, and is more than any machine holds.
static constexpr int64_t maxElements = int64_t(1) << 40;

static llvm::Error checkSizes(const ModelSection &model, int64_t batch,
                              const Origins &origins) {
  std::string most = "at most 2^40";
  int64_t parameters = countParameters(model);
  if (parameters > maxElements)
    return fail(origins, {"model"}, most,
                std::to_string(parameters) + " parameters");
  using Wide = __int128;
  Wide tokens = Wide(batch) * model.context;
  // Each factor is below 2^31, so that 128 bits hold four of them.
  Wide scores = tokens * model.context * model.heads;
  if (scores > maxElements)
    return fail(origins, {"model.context"},
                "batch · context² · heads of " + most + " (train.batch is " +
                    Twine(batch) + ", model.heads is " + Twine(model.heads) +
                    ")");
  int64_t widest = std::max({model.vocabulary, model.width, model.hidden});
  if (tokens * widest > maxElements)
    return fail(origins, {"model.context"},
                "batch · context · widest row of " + most +
                    " (train.batch is " + Twine(batch) +
                    ", the widest row has " + Twine(widest) + ")");
  return llvm::Error::success();
}

llvm::Error isobath::checkTrainRules(const TrainSection &train,
                                     const Origins &origins) {
  if (train.warmup >= train.steps) {
    if (origins.count("train.warmup"))
      return fail(origins, {"train.warmup"},
                  "fewer than train.steps, which is " + Twine(train.steps));
    return fail(origins, {"train.steps"},
                "more than train.warmup, which is " + Twine(train.warmup) +
                    " by default");
  }
  // Samples are numbered by a signed 64-bit integer.
  __int128 perStep = __int128(train.batch) * train.accumulate;
  if (perStep * train.steps > std::numeric_limits<int64_t>::max())
    return fail(origins, {"train.steps", "train.accumulate", "train.batch"},
                "steps · accumulate · batch below 2^63");
  return llvm::Error::success();
}

llvm::Error isobath::checkModelRules(const ModelSection &model, int64_t batch,
                                     const Origins &origins) {
  if (llvm::Error error = checkHeads(model, origins))
    return error;
  if (llvm::Error error = checkResidual(model, origins))
    return error;
  return checkSizes(model, batch, origins);
}
