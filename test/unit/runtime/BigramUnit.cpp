//===- BigramUnit.cpp - A compiled unit written by hand -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each entry is a C function that takes its buffers by position, as compiled
// code does.
//
//===----------------------------------------------------------------------===//

#include "BigramUnit.h"

#include "isobath/runtime/shard.h"

#include <algorithm>
#include <cmath>
#include <limits>

using nlohmann::ordered_json;

namespace isobath::runtime::test {

std::function<void()> BigramUnit::onGradient;
std::int64_t BigramUnit::poisoned = -1;

namespace {

constexpr auto V = BigramUnit::vocabulary;
constexpr auto T = BigramUnit::context;
constexpr auto B = BigramUnit::batch;
constexpr auto biasOffset = BigramUnit::biasOffset;
constexpr auto elements = BigramUnit::elements;

template <typename Real> struct Code {
  static Real *reals(void *buffer) { return static_cast<Real *>(buffer); }
  static const std::int32_t *ids(void *buffer) {
    return static_cast<const std::int32_t *>(buffer);
  }

  static void softmax(const Real *parameters, std::int32_t token,
                      Real *probabilities) {
    Real sum = 0;
    for (std::uint64_t v = 0; v < V; ++v) {
      probabilities[v] =
          std::exp(parameters[token * V + v] + parameters[biasOffset + v]);
      sum += probabilities[v];
    }
    for (std::uint64_t v = 0; v < V; ++v)
      probabilities[v] /= sum;
  }

  // tokens, targets, parameters, losses, arena
  static void loss(void *const *buffers) {
    Real probabilities[V];
    for (std::uint64_t i = 0; i < BigramUnit::lossBatch * T; ++i) {
      const std::int32_t target = ids(buffers[1])[i];
      softmax(reals(buffers[2]), ids(buffers[0])[i], probabilities);
      reals(buffers[3])[i] = target < 0 ? 0 : -std::log(probabilities[target]);
    }
  }

  // tokens, targets, scale, parameters, losses, gradients, arena
  static void gradient(void *const *buffers) {
    if (BigramUnit::onGradient)
      BigramUnit::onGradient();
    Real *gradients = reals(buffers[5]);
    std::fill_n(gradients, elements, Real(0));
    Real *probabilities = reals(buffers[6]);
    const Real scale = *reals(buffers[2]);
    for (std::uint64_t i = 0; i < B * T; ++i) {
      const std::int32_t token = ids(buffers[0])[i];
      const std::int32_t target = ids(buffers[1])[i];
      reals(buffers[4])[i] = 0;
      if (target < 0)
        continue;
      softmax(reals(buffers[3]), token, probabilities);
      reals(buffers[4])[i] = -std::log(probabilities[target]);
      probabilities[target] -= 1;
      for (std::uint64_t v = 0; v < V; ++v) {
        gradients[token * V + v] += scale * probabilities[v];
        gradients[biasOffset + v] += scale * probabilities[v];
      }
    }
    if (BigramUnit::poisoned >= 0)
      gradients[BigramUnit::poisoned] = std::numeric_limits<Real>::quiet_NaN();
  }

  // total, gradients
  static void accumulate(void *const *buffers) {
    for (std::uint64_t i = 0; i < elements; ++i)
      reals(buffers[0])[i] += reals(buffers[1])[i];
  }

  // gradients, norm
  static void norm(void *const *buffers) {
    double sum = 0;
    for (std::uint64_t i = 0; i < elements; ++i)
      sum += double(reals(buffers[0])[i]) * double(reals(buffers[0])[i]);
    *static_cast<double *>(buffers[1]) = sum;
  }

  // parameters, gradients, first_moment, second_moment, scalars; β = 0.9 and
  // 0.95, ε = 1e-8 and weight decay 0.1 are compiled in
  static void update(void *const *buffers) {
    const Real *scalars = reals(buffers[4]);
    for (std::uint64_t i = 0; i < elements; ++i) {
      Real &parameter = reals(buffers[0])[i];
      Real &first = reals(buffers[2])[i];
      Real &second = reals(buffers[3])[i];
      const Real g = reals(buffers[1])[i] * scalars[1];
      first = Real(0.9) * first + Real(0.1) * g;
      second = Real(0.95) * second + Real(0.05) * g * g;
      const Real decay = i < biasOffset ? Real(0.1) : Real(0);
      parameter -=
          scalars[0] *
          (first / scalars[2] / (std::sqrt(second / scalars[3]) + Real(1e-8)) +
           decay * parameter);
    }
  }

  // tokens, parameters, layers.0.attn q+v, layers.0.mlp. The token t makes the
  // weights; the two depth heads of the first site mirror each other.
  static void routes(void *const *buffers) {
    Real *attention = reals(buffers[2]); // [2, B, T, 2, 2]
    Real *mlp = reals(buffers[3]);       // [1, B, T, 1, 3]
    for (std::uint64_t i = 0; i < B * T; ++i) {
      const Real share = Real(ids(buffers[0])[i]) / Real(V - 1);
      const Real matching[4] = {share, 1 - share, 1 - share, share};
      const Real content[4] = {1, 0, 1, 0};
      std::copy_n(matching, 4, attention + i * 4);
      std::copy_n(content, 4, attention + (B * T + i) * 4);
      std::fill_n(mlp + i * 3, 3, Real(1) / 3);
    }
  }
};

ordered_json buffer(const std::string &name, const std::string &type,
                    const std::vector<std::uint64_t> &shape) {
  std::uint64_t bytes = type == "f64" ? 8 : type == "i8" ? 1 : 4;
  for (const std::uint64_t extent : shape)
    bytes *= extent;
  return {{"name", name}, {"type", type}, {"shape", shape}, {"bytes", bytes}};
}

ordered_json entry(const std::string &name, std::vector<ordered_json> buffers,
                   std::uint64_t batch = 0) {
  ordered_json result = {{"name", name}, {"buffers", std::move(buffers)}};
  if (batch)
    result["batch"] = batch;
  return result;
}

ordered_json distribution(const std::string &type, const std::string &site,
                          const std::vector<std::string> &groups,
                          const std::vector<std::string> &sources,
                          std::uint64_t heads) {
  ordered_json result =
      buffer(site, type, {groups.size(), B, T, heads, sources.size()});
  result["kind"] = "distribution";
  result["groups"] = groups;
  result["sources"] = sources;
  return result;
}

ordered_json entryList(const std::string &real) {
  const auto tokens = [](const char *name, std::uint64_t rows) {
    return buffer(name, "i32", {rows, T});
  };
  const auto all = [&](const char *name) {
    return buffer(name, real, {elements});
  };
  const std::uint64_t L = BigramUnit::lossBatch;
  return {
      entry("loss",
            {tokens("tokens", L), tokens("targets", L), all("parameters"),
             buffer("losses", real, {L, T}), buffer("arena", "i8", {64})},
            L),
      entry("gradient",
            {tokens("tokens", B), tokens("targets", B),
             buffer("scale", real, {}), all("parameters"),
             buffer("losses", real, {B, T}), all("gradients"),
             buffer("arena", "i8", {128})},
            B),
      entry("accumulate", {all("total"), all("gradients")}),
      entry("norm", {all("gradients"), buffer("norm", "f64", {})}),
      entry("update", {all("parameters"), all("gradients"), all("first_moment"),
                       all("second_moment"), buffer("scalars", real, {4})}),
      entry("routes",
            {tokens("tokens", B), all("parameters"),
             distribution(real, "layers.0.attn", {"qk", "v"},
                          {"embedding", "partial"}, 2),
             distribution(real, "layers.0.mlp", {"mlp"},
                          {"embedding", "block 0", "partial"}, 1)},
            B)};
}

template <typename Real> std::vector<IsobathEntry> codeOf() {
  return {{"loss", Code<Real>::loss},
          {"gradient", Code<Real>::gradient},
          {"accumulate", Code<Real>::accumulate},
          {"norm", Code<Real>::norm},
          {"update", Code<Real>::update},
          {"routes", Code<Real>::routes}};
}

} // namespace

BigramUnit::BigramUnit(const std::string &elementType) {
  onGradient = nullptr;
  poisoned = -1;
  manifest = {
      {"name", "bigram"},
      {"device", "reference"},
      {"lowering", "by hand"},
      {"element_type", elementType},
      {"vocabulary", vocabulary},
      {"context", context},
      {"source", {{"format", "yaml"}, {"text", "name: bigram\nwidth: 7\n"}}},
      {"parameters",
       {{"elements", elements},
        {"matrix_elements", biasOffset},
        {"tensors",
         {{{"name", "embed.weight"},
           {"shape", {vocabulary, vocabulary}},
           {"offset", 0},
           {"initial",
            {{"kind", "normal"}, {"std", 0.02}, {"key", "embed.weight"}}},
           {"decay", true}},
          {{"name", "bias"},
           {"shape", {vocabulary}},
           {"offset", biasOffset},
           {"initial", {{"kind", "zeros"}}},
           {"decay", false}}}}}},
      {"entries", entryList(elementType)},
      {"train",
       {{"precision", elementType},
        {"batch", batch},
        {"accumulate", 1},
        {"steps", 40},
        {"learning_rate", 0.05},
        {"warmup", 12},
        {"schedule", "cosine"},
        {"final_fraction", 0.1},
        {"weight_decay", 0.1},
        {"betas", {0.9, 0.95}},
        {"adam_epsilon", 1e-8},
        {"clip", 0.1},
        {"seed", 1},
        {"eval_every", 7},
        {"eval_tokens", 0},
        {"checkpoint_every", 6},
        {"keep", 2}}}};
}

const IsobathUnit *BigramUnit::unit() {
  text = manifest.dump();
  const bool wide = manifest["element_type"] == "f64";
  entries = wide ? codeOf<double>() : codeOf<float>();
  exported = {ISOBATH_ABI_MAGIC,
              ISOBATH_ABI_VERSION,
              static_cast<std::uint32_t>(entries.size()),
              entries.data(),
              text.data(),
              text.size(),
              nullptr,
              0};
  return &exported;
}

static std::vector<std::uint32_t> pattern(std::uint32_t start,
                                          std::size_t count) {
  std::vector<std::uint32_t> ids;
  std::uint32_t state = start;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223; // Numerical Recipes' generator
    const std::uint32_t next = ids.empty() ? 0 : (ids.back() + 1) % V;
    ids.push_back(state >> 30 == 0 ? (state >> 8) % V : next);
  }
  return ids;
}

void putBigramData(const std::filesystem::path &folder) {
  std::filesystem::create_directories(folder);
  writeShard(folder / "train_000000.bin", pattern(1, 5 * T + 2), V);
  writeShard(folder / "train_000001.bin", pattern(2, 4 * T + 1), V);
  writeShard(folder / "valid_000000.bin", pattern(3, 4 * T + 3), V);
}

} // namespace isobath::runtime::test
