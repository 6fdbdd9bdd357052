//===- ModelSchema.h - The keys of a model description and their limits ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of keys. Each visit function walks the keys of one section in
// their canonical order and hands every key, the field it fills and its limits
// to a visitor; readers, writers and the list of known keys are all visitors.
// Rules between keys (heads divides width, …) are not here but in
// ParseModelDescription.cpp.
//
// A visitor has these members:
//   integer(key, int64_t &, IntegerLimits, need = Need::optional)
//   number(key, double &, NumberLimits)
//   boolean(key, bool &)
//   choice(key, Enum &, need = Need::optional)
//   pair(key, std::array<double, 2> &, NumberLimits)
//   routes(key, RoutesTable &)
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_MODELSCHEMA_H
#define ISOBATH_FRONTEND_MODELSCHEMA_H

#include "isobath/Frontend/ModelDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <limits>

namespace isobath {

/// The integers that a key takes: least … most.
struct IntegerLimits {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// The numbers that a key takes. All are finite in f32, since that is what a
/// model computes in.
enum class NumberLimits {
  positive,    ///< Greater than zero, in f32 too: normal numbers only.
  notNegative, ///< Zero or greater.
  fraction,    ///< 0 … 1, both included.
  decay,       ///< 0 … 1, 1 excluded, in f32 too.
};

/// Whether a key must be given.
enum class Need { optional, required };

/// No dimension is larger than this: token ids and sizes fit an i32.
constexpr int64_t maxDimension = std::numeric_limits<int32_t>::max();

/// Layers are unrolled, so their number is bounded by what can be compiled.
constexpr int64_t maxLayers = 4096;

/// The spellings of an enumeration, in the order of its values.
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(ResidualKind) {
  static constexpr llvm::StringLiteral names[] = {"standard", "full", "block"};
  return names;
}
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(RouteRule) {
  static constexpr llvm::StringLiteral names[] = {
      "learned", "uniform", "newest", "embedding", "repeat"};
  return names;
}
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(RouteScore) {
  static constexpr llvm::StringLiteral names[] = {"dot", "static"};
  return names;
}
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(QueryInit) {
  static constexpr llvm::StringLiteral names[] = {"zero", "normal"};
  return names;
}
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(Precision) {
  static constexpr llvm::StringLiteral names[] = {"f32", "bf16"};
  return names;
}
inline llvm::ArrayRef<llvm::StringLiteral> spellingsOf(Schedule) {
  static constexpr llvm::StringLiteral names[] = {"cosine", "linear",
                                                  "constant"};
  return names;
}

/// The spelling of one value of an enumeration.
template <typename Enum> llvm::StringRef spellingOf(Enum value) {
  return spellingsOf(value)[static_cast<size_t>(value)];
}

/// The groups of roles of a grouping, the group with q first.
inline llvm::ArrayRef<llvm::StringLiteral> groupsOf(RoleGrouping grouping) {
  static constexpr llvm::StringLiteral tied[] = {"qkv"};
  static constexpr llvm::StringLiteral decoupled[] = {"qk", "v"};
  static constexpr llvm::StringLiteral separate[] = {"q", "k", "v"};
  switch (grouping) {
  case RoleGrouping::tied:
    return tied;
  case RoleGrouping::decoupledValue:
    return decoupled;
  case RoleGrouping::separate:
    return separate;
  }
  return {};
}

/// Walks the keys of `model` that hold one value each.
template <typename Visitor>
void visitModelKeys(Visitor &visitor, ModelSection &model) {
  const IntegerLimits dimension = {1, maxDimension};
  visitor.integer("vocabulary", model.vocabulary, dimension, Need::required);
  visitor.integer("width", model.width, dimension, Need::required);
  visitor.integer("layers", model.layers, IntegerLimits{1, maxLayers},
                  Need::required);
  visitor.integer("heads", model.heads, dimension, Need::required);
  visitor.integer("kv_heads", model.kvHeads, dimension);
  visitor.integer("hidden", model.hidden, dimension);
  visitor.integer("context", model.context, dimension, Need::required);
  visitor.number("norm_epsilon", model.normEpsilon, NumberLimits::positive);
  visitor.number("rope_base", model.ropeBase, NumberLimits::positive);
  visitor.boolean("tied_head", model.tiedHead);
  visitor.boolean("qk_norm", model.qkNorm);
}

/// Walks the keys of `model.residual`. A visitor that writes asks only for
/// those that the kind and the score allow; one that reads asks for all of
/// them, since it cannot know these before.
template <typename Visitor>
void visitResidualKeys(Visitor &visitor, ResidualSection &residual,
                       bool onlyAllowed) {
  visitor.choice("kind", residual.kind, Need::required);
  if (!onlyAllowed || residual.kind == ResidualKind::block)
    visitor.integer("block", residual.block, IntegerLimits{1});
  if (onlyAllowed && residual.kind == ResidualKind::standard)
    return;
  visitor.choice("score", residual.score);
  if (!onlyAllowed || residual.score == RouteScore::dot) {
    visitor.integer("depth_heads", residual.depthHeads,
                    IntegerLimits{1, maxDimension});
    visitor.boolean("key_gain", residual.keyGain);
    visitor.choice("query_init", residual.queryInit);
    visitor.number("query_std", residual.queryStd, NumberLimits::notNegative);
  }
  visitor.routes("routes", residual.routes);
}

/// Walks the keys of `model.controls`.
template <typename Visitor>
void visitControlsKeys(Visitor &visitor, ControlsSection &controls) {
  visitor.boolean("extra_vector", controls.extraVector);
}

/// Walks the keys of `train`.
template <typename Visitor>
void visitTrainKeys(Visitor &visitor, TrainSection &train) {
  const IntegerLimits atLeastOne = {1};
  const IntegerLimits atLeastZero = {0};
  const IntegerLimits dimension = {1, maxDimension};
  visitor.choice("precision", train.precision);
  visitor.integer("batch", train.batch, dimension);
  visitor.integer("accumulate", train.accumulate, dimension);
  visitor.integer("steps", train.steps, atLeastOne);
  visitor.number("learning_rate", train.learningRate, NumberLimits::positive);
  visitor.integer("warmup", train.warmup, atLeastZero);
  visitor.choice("schedule", train.schedule);
  visitor.number("final_fraction", train.finalFraction, NumberLimits::fraction);
  visitor.number("weight_decay", train.weightDecay, NumberLimits::notNegative);
  visitor.pair("betas", train.betas, NumberLimits::decay);
  visitor.number("adam_epsilon", train.adamEpsilon, NumberLimits::positive);
  visitor.number("clip", train.clip, NumberLimits::notNegative);
  visitor.integer("seed", train.seed, atLeastZero);
  visitor.integer("eval_every", train.evalEvery, atLeastZero);
  visitor.integer("eval_tokens", train.evalTokens, atLeastZero);
  visitor.integer("checkpoint_every", train.checkpointEvery, atLeastOne);
  visitor.integer("keep", train.keep, atLeastOne);
}

} // namespace isobath

#endif // ISOBATH_FRONTEND_MODELSCHEMA_H
