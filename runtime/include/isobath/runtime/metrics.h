//===- metrics.h - The file metrics.jsonl of a run ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One JSON object a line: {"step", "loss", "lr", "grad_norm", "tokens",
// "seconds"} for a step, {"step", "valid_loss"} for an evaluation. Numbers are
// printed so that they read back to the same bits; those that are not finite
// are null.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_METRICS_H
#define ISOBATH_RUNTIME_METRICS_H

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace isobath::runtime {

/// A line about a step.
struct StepMetrics {
  std::uint64_t step = 0;
  double loss = 0;
  double learningRate = 0;
  double gradientNorm = 0;  // before clipping
  std::uint64_t tokens = 0; // trained on since step 1
  double seconds = 0;       // spent in the run, interruptions left out
};

class MetricsFile {
public:
  /// Opens the file, creating it if absent, and cuts it behind its first
  /// `lines` lines, which are read. Throws Error when it has fewer.
  MetricsFile(const std::filesystem::path &path, std::uint64_t lines);
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  ~MetricsFile();

  void append(const StepMetrics &metrics);
  void appendEvaluation(std::uint64_t step, double validationLoss);
  /// Returns once all lines are on disk.
  void sync();

  std::uint64_t lines() const { return count; }
  /// The last step's line. Its loss is NaN where the file says null.
  const std::optional<StepMetrics> &lastStep() const { return last; }
  /// The validation loss at the last step, if it was measured there.
  std::optional<double> lastEvaluation() const;

private:
  void read(std::string_view line, std::uint64_t number);
  void openCut(std::uint64_t bytes);
  void write(const nlohmann::ordered_json &line);

  std::filesystem::path path;
  int descriptor = -1;
  std::uint64_t count = 0;
  std::optional<StepMetrics> last;
  std::uint64_t evaluatedStep = 0;
  double evaluation = 0;
};

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_METRICS_H
