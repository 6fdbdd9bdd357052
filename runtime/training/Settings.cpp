//===- Settings.cpp - The settings of a training run ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading, printing and overriding the keys of the section `train`. Where a
// unit has been compiled already, the keys that went into its code are refused
// here; before that they are the compiler's to change.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/settings.h"

#include "isobath/runtime/error.h"

#include <algorithm>
#include <array>

using nlohmann::ordered_json;

namespace isobath::runtime {

static Schedule parseSchedule(const JsonValue &value) {
  std::string name = value.text();
  if (name == "cosine")
    return Schedule::cosine;
  if (name == "linear")
    return Schedule::linear;
  if (name == "constant")
    return Schedule::constant;
  value.fail("cosine, linear or constant");
}

static std::string nameOf(Schedule schedule) {
  switch (schedule) {
  case Schedule::cosine:
    return "cosine";
  case Schedule::linear:
    return "linear";
  case Schedule::constant:
    return "constant";
  }
  return "";
}

static double parseBeta(const JsonValue &value) {
  double beta = value.number(0, 1);
  if (beta == 1) // 1 - beta^n would be a division by zero
    value.fail("a number below 1");
  return beta;
}

TrainSettings parseTrainSettings(const JsonValue &train) {
  TrainSettings settings;
  settings.precision = train["precision"].text();
  settings.batch = train["batch"].count(1);
  settings.accumulate = train["accumulate"].count(1);
  settings.steps = train["steps"].count(1);
  settings.learningRate = train["learning_rate"].number(0);
  settings.warmup = train["warmup"].count(0);
  if (settings.warmup >= settings.steps)
    train["warmup"].fail(concat("less than steps = ", settings.steps));
  settings.schedule = parseSchedule(train["schedule"]);
  settings.finalFraction = train["final_fraction"].number(0);
  settings.weightDecay = train["weight_decay"].number(0);
  std::vector<JsonValue> betas = train["betas"].elements();
  if (betas.size() != 2)
    train["betas"].fail("a list of two numbers");
  settings.beta1 = parseBeta(betas[0]);
  settings.beta2 = parseBeta(betas[1]);
  settings.adamEpsilon = train["adam_epsilon"].number(0);
  settings.clip = train["clip"].number(0);
  settings.seed = train["seed"].count(0);
  settings.evalEvery = train["eval_every"].count(0);
  settings.evalTokens = train["eval_tokens"].count(0);
  settings.checkpointEvery = train["checkpoint_every"].count(0);
  settings.keep = train["keep"].count(1);
  return settings;
}

ordered_json toJson(const TrainSettings &settings) {
  return {{"precision", settings.precision},
          {"batch", settings.batch},
          {"accumulate", settings.accumulate},
          {"steps", settings.steps},
          {"learning_rate", settings.learningRate},
          {"warmup", settings.warmup},
          {"schedule", nameOf(settings.schedule)},
          {"final_fraction", settings.finalFraction},
          {"weight_decay", settings.weightDecay},
          {"betas", ordered_json::array({settings.beta1, settings.beta2})},
          {"adam_epsilon", settings.adamEpsilon},
          {"clip", settings.clip},
          {"seed", settings.seed},
          {"eval_every", settings.evalEvery},
          {"eval_tokens", settings.evalTokens},
          {"checkpoint_every", settings.checkpointEvery},
          {"keep", settings.keep}};
}

/// The value of an override: JSON where it is JSON, else a text (`cosine`).
static ordered_json parseOverrideValue(const std::string &text) {
  ordered_json value =
      ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? ordered_json(text) : value;
}

TrainSettings applyOverrides(const TrainSettings &settings,
                             const std::vector<std::string> &overrides) {
  static constexpr std::array<std::string_view, 5> compiledIn = {
      "precision", "batch", "weight_decay", "betas", "adam_epsilon"};
  ordered_json object = toJson(settings);
  for (const std::string &text : overrides) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      fail("--set: given '", printable(text), "', expected KEY=VALUE");
    std::string key = text.substr(0, equals);
    if (key.starts_with("train."))
      key = key.substr(6);
    if (key.starts_with("model.") ||
        std::find(compiledIn.begin(), compiledIn.end(), key) !=
            compiledIn.end())
      fail("--set: given ", printable(key),
           ", which was fixed when this program was compiled; expected a key "
           "that the runtime reads, such as steps");
    if (!object.contains(key)) {
      std::string known;
      for (const auto &[name, value] : object.items())
        if (std::find(compiledIn.begin(), compiledIn.end(), name) ==
            compiledIn.end())
          known += (known.empty() ? "" : ", ") + name;
      fail("--set: given unknown key ", printable(key), ", expected one of ",
           known);
    }
    object[key] = parseOverrideValue(text.substr(equals + 1));
  }
  return parseTrainSettings(JsonValue(object, "train"));
}

} // namespace isobath::runtime
