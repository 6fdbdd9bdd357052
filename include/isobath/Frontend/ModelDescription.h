//===- ModelDescription.h - A model and its training settings, as data ----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a user writes in a model description, after every default is filled in.
// It is plain data and knows neither YAML nor MLIR: ModelSchema.h lists its
// keys and their limits, ParseModelDescription.h reads and writes it as text,
// and BuildModel.h turns it into IR.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_MODELDESCRIPTION_H
#define ISOBATH_FRONTEND_MODELDESCRIPTION_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>

namespace isobath {

/// How sublayers are connected over depth.
enum class ResidualKind {
  standard, ///< h ← h + f; no routes.
  full,     ///< Routes over every earlier sublayer: blocks of one sublayer.
  block,    ///< Routes over sums of `block` consecutive sublayers.
};

/// How the three roles of an attention sublayer (query, key, value) share
/// routes.
enum class RoleGrouping {
  tied,           ///< {qkv}: one route.
  decoupledValue, ///< {qk, v}: matching and content read different depths.
  separate,       ///< {q, k, v}: three routes.
};

/// What the route of a group computes. Only the group `v` may be other than
/// learned.
enum class RouteRule {
  learned,   ///< A softmax over the sources, with a query of its own.
  uniform,   ///< The mean of the sources.
  newest,    ///< The last source of the list.
  embedding, ///< The first source: the embedding output.
  repeat,    ///< The route of the group with q, executed a second time.
};

/// What a learned route's logits are.
enum class RouteScore {
  dot,           ///< Products of a token's normalised sources with a query.
  staticMixture, ///< Parameters: one number a source, the same for all tokens.
};

/// How route queries start.
enum class QueryInit { zero, normal };

/// The storage type of a training run.
enum class Precision { f32, bf16 };

/// The shape of the learning rate after the warm-up.
enum class Schedule { cosine, linear, constant };

/// The routes of an attention sublayer.
struct RoutesTable {
  RoleGrouping grouping = RoleGrouping::tied;
  /// The rule of the group `v`; learned when the grouping is tied.
  RouteRule value = RouteRule::learned;

  bool operator==(const RoutesTable &) const = default;
};

/// `model.residual`. All but `kind` keep their defaults when kind is standard.
struct ResidualSection {
  ResidualKind kind = ResidualKind::standard;
  int64_t block = 4; ///< Sublayers in a block; unused unless kind is block.
  RouteScore score = RouteScore::dot;
  // Of queries alone: defaults unless score is dot.
  int64_t depthHeads = 1; ///< Divides the width.
  bool keyGain = false;
  QueryInit queryInit = QueryInit::zero;
  double queryStd = 0.02; ///< Used when queryInit is normal.
  RoutesTable routes;

  bool operator==(const ResidualSection &) const = default;
};

/// `model.controls`: additions whose only purpose is a fair comparison.
struct ControlsSection {
  bool extraVector = false; ///< x_v ← x_v + u, D more parameters a layer.

  bool operator==(const ControlsSection &) const = default;
};

/// `model`: everything that fixes the parameters and the arithmetic.
struct ModelSection {
  int64_t vocabulary = 0; ///< V
  int64_t width = 0;      ///< D
  int64_t layers = 0;     ///< L
  int64_t heads = 0;      ///< H; d = D/H is even.
  int64_t kvHeads = 0;    ///< K; divides H.
  int64_t hidden = 0;     ///< F
  int64_t context = 0;    ///< T
  double normEpsilon = 1.0e-6;
  double ropeBase = 10000.0;
  bool tiedHead = true;
  bool qkNorm = false;
  ResidualSection residual;
  ControlsSection controls;

  /// d, the width of one attention head.
  int64_t headWidth() const { return width / heads; }

  bool operator==(const ModelSection &) const = default;
};

/// `train`: everything that fixes a training run of the model.
struct TrainSection {
  Precision precision = Precision::f32;
  int64_t batch = 8;      ///< B: sequences in one micro-step.
  int64_t accumulate = 1; ///< Micro-steps in one optimiser step.
  int64_t steps = 1000;
  double learningRate = 3.0e-3;
  int64_t warmup = 50; ///< Steps; fewer than `steps`.
  Schedule schedule = Schedule::cosine;
  double finalFraction = 0.1;
  double weightDecay = 0.1;
  std::array<double, 2> betas = {0.9, 0.95};
  double adamEpsilon = 1.0e-8;
  double clip = 1.0; ///< 0: off.
  int64_t seed = 1;
  int64_t evalEvery = 200;       ///< Steps; 0: only after the last.
  int64_t evalTokens = 0;        ///< 0: the whole validation data.
  int64_t checkpointEvery = 200; ///< Steps.
  int64_t keep = 2;              ///< Checkpoints kept.

  bool operator==(const TrainSection &) const = default;
};

/// A whole model description.
struct ModelDescription {
  std::string name;
  ModelSection model;
  TrainSection train;

  bool operator==(const ModelDescription &) const = default;
};

/// The MLP hidden width F that a model of width `width` has unless it says
/// otherwise: ⌊8D/3⌋ rounded up to a multiple of 64.
int64_t defaultHidden(int64_t width);

/// The name of a model that does not give one: that of its file without the
/// extension, made fit to be a name.
std::string nameOfFile(llvm::StringRef path);

/// The number of parameters of `model`, saturated at INT64_MAX.
int64_t countParameters(const ModelSection &model);

} // namespace isobath

#endif // ISOBATH_FRONTEND_MODELDESCRIPTION_H
