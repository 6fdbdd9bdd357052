//===- Training.cpp - A training run from its first step to its last ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins trainer, data, evaluation, checkpoints, metrics and progress. Nothing
// is written before all input has been read and checked.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/training.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/evaluate.h"
#include "isobath/runtime/metrics.h"
#include "isobath/runtime/run_data.h"
#include "isobath/runtime/run_folder.h"
#include "isobath/runtime/signals.h"
#include "isobath/runtime/tensors.h"
#include "isobath/runtime/trainer.h"

#include <chrono>
#include <cstdio>

namespace isobath::runtime {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {

class TrainingRun {
public:
  TrainingRun(const Unit &unit, const TrainOptions &options,
              Progress &progress);
  TrainSummary run();

private:
  void allocate();
  void begin();
  void resume(std::uint64_t step);
  void trainUntilStopped(const DeferredStop &stop);
  void takeStep();
  void evaluate();
  void save();
  TrainSummary summary() const;

  const Manifest &manifest;
  const TrainSettings &settings;
  const TrainOptions &options;
  Progress &progress;

  RunFolder folder;
  RunData data;
  Buffers buffers;
  Trainer trainer;
  std::optional<Evaluator> evaluator; // with validation data only

  RunState state;     // after the last step taken
  std::uint64_t last; // the step to stop after
  std::optional<MetricsFile> metrics;
  bool stopped = false;

  double earlierSeconds = 0; // of the run, in processes before this one
  Clock::time_point started;
  double stepSeconds = 0; // in steps of this process, evaluations left out
  std::uint64_t stepTokens = 0;
  std::uint64_t stepCount = 0;
};

} // namespace

static std::uint64_t lastStep(const TrainOptions &options,
                              const TrainSettings &settings) {
  const std::uint64_t steps = options.steps.value_or(settings.steps);
  if (steps > settings.steps)
    fail("--steps: given ", steps,
         ", expected at most train.steps = ", settings.steps,
         ", where the learning rate's schedule ends");
  return steps;
}

TrainingRun::TrainingRun(const Unit &unit, const TrainOptions &options,
                         Progress &progress)
    : manifest(unit.manifest()), settings(manifest.train), options(options),
      progress(progress), folder(options.output, manifest, options.resume),
      data(openRunData(options.data, manifest)), trainer(unit, buffers),
      last(lastStep(options, settings)) {
  if (options.weights && !folder.isNew())
    fail("--weights: given ", printable(*options.weights),
         " for the run that is in ", printable(options.output),
         " already, expected a new one");
  if (data.validation)
    evaluator.emplace(unit, buffers);
  else
    progress.message(printable(options.data) +
                     ": no valid_*.bin, so nothing is evaluated");
  state.elementType = nameOf(manifest.elementType);
  state.train = settings;
  state.trainShards = data.trainShards;
  state.validationShards = data.validationShards;
}

void TrainingRun::allocate() {
  progress.message(
      concat(printable(manifest.name), ": device ", printable(manifest.device),
             " (", printable(manifest.lowering), "), ",
             manifest.parameterCount(), " parameters in ",
             nameOf(manifest.elementType), ", ", buffers.plannedBytes(),
             " bytes planned (", formatBytes(buffers.plannedBytes()), ")"));
  buffers.allocate();
}

void TrainingRun::begin() {
  if (options.weights) {
    readTensors(*options.weights, manifest, buffers, weightTensors);
    if (const auto bad = firstNonFinite(manifest, buffers, "parameters"))
      fail(printable(*options.weights), ": given values of ", *bad,
           " that are not finite, expected weights to start a run from");
  } else {
    initialiseParameters(manifest, settings.seed, buffers);
  }
  if (!folder.isNew()) {
    progress.message(printable(options.output) +
                     ": no checkpoint yet, starting again at step 0");
    return;
  }
  folder.begin(manifest, [&] {
    // Initial values can be made again, given weights may be gone.
    if (options.weights)
      writeCheckpoint(folder.path(), state, manifest, buffers);
  });
}

void TrainingRun::resume(std::uint64_t step) {
  const fs::path checkpoint = checkpointPath(folder.path(), step);
  const RunState saved = readCheckpointState(checkpoint);
  checkSameRun(saved, state);
  readCheckpointTensors(checkpoint, manifest, buffers);
  state = saved;
  if (state.step >= last)
    progress.message(concat(printable(checkpoint), ": step ", state.step,
                            " reached already, ", last,
                            " asked for: nothing left to train"));
  else
    progress.message(
        concat(printable(checkpoint), ": continuing after step ", state.step));
}

void TrainingRun::takeStep() {
  const Clock::time_point start = Clock::now();
  const std::uint64_t step = state.step + 1;
  const StepResult result = trainer.step(
      step, [&](std::uint64_t firstSample, std::span<std::int32_t> tokens,
                std::span<std::int32_t> targets) {
        data.train.fill(firstSample, tokens, targets);
      });
  state.step = step;
  state.tokens += result.counted;
  metrics->append({step, result.loss, result.learningRate, result.gradientNorm,
                   state.tokens, earlierSeconds + secondsSince(started)});
  if (result.counted == 0)
    progress.message(
        concat("step ", step, ": no target counts, nothing is changed"));
  stepSeconds += secondsSince(start);
  stepTokens += result.counted;
  ++stepCount;
  progress.update({step, last, result.loss,
                   static_cast<double>(stepTokens) / stepSeconds,
                   stepSeconds / static_cast<double>(stepCount) *
                       static_cast<double>(last - step)});
}

void TrainingRun::evaluate() {
  const Evaluation evaluation = evaluator->evaluate(*data.validation);
  metrics->appendEvaluation(state.step, evaluation.loss);
  char text[40];
  std::snprintf(text, sizeof text, "%.4f", evaluation.loss);
  progress.message(concat("step ", state.step, ": validation loss ", text,
                          " over ", evaluation.tokens, " tokens"));
}

void TrainingRun::save() {
  // A finite gradient can still make a weight infinite; a checkpoint of that
  // would take the place of a good one.
  if (const auto bad = firstNonFinite(manifest, buffers, "parameters"))
    fail("step ", state.step, ": given a tensor with values that are not ",
         "finite, expected weights to save: ", *bad);
  metrics->sync(); // the checkpoint counts its lines
  state.metricsLines = metrics->lines();
  writeCheckpoint(folder.path(), state, manifest, buffers);
  removeOldCheckpoints(folder.path(), settings.keep);
  progress.message(
      concat("step ", state.step, ": saved ",
             printable(checkpointPath(folder.path(), state.step))));
}

static bool isMultiple(std::uint64_t step, std::uint64_t every) {
  return every != 0 && step % every == 0;
}

void TrainingRun::trainUntilStopped(const DeferredStop &stop) {
  while (state.step < last && !stopped) {
    takeStep();
    if (evaluator && isMultiple(state.step, settings.evalEvery))
      evaluate();
    stopped = stop.requested() && state.step < last;
    if (stopped || state.step == last ||
        isMultiple(state.step, settings.checkpointEvery))
      save();
  }
  if (stopped)
    progress.message(concat("stopped by ", stop.signalName(), " after step ",
                            state.step, " of ", last,
                            "; --resume continues the run"));
}

TrainSummary TrainingRun::summary() const {
  TrainSummary summary;
  summary.steps = state.step;
  if (metrics->lastStep())
    summary.loss = metrics->lastStep()->loss;
  summary.validationLoss = metrics->lastEvaluation();
  if (stepTokens > 0)
    summary.tokensPerSecond = static_cast<double>(stepTokens) / stepSeconds;
  summary.plannedBytes = buffers.plannedBytes();
  summary.parameters = manifest.parameterCount();
  summary.stopped = stopped;
  return summary;
}

TrainSummary TrainingRun::run() {
  allocate();
  if (const auto step = folder.lastCheckpoint(); step && !folder.isNew())
    resume(*step);
  else
    begin();
  metrics.emplace(folder.metrics(), state.metricsLines);
  if (metrics->lastStep())
    earlierSeconds = metrics->lastStep()->seconds;
  if (state.step < last)
    fs::remove(folder.final()); // of an earlier, shorter command

  const DeferredStop stop;
  started = Clock::now();
  trainUntilStopped(stop);
  if (stopped)
    return summary();
  if (evaluator && !metrics->lastEvaluation())
    evaluate();
  writeTensors(folder.final(), manifest, buffers, weightTensors);
  return summary();
}

TrainSummary train(const Unit &unit, const TrainOptions &options,
                   Progress &progress) {
  return TrainingRun(unit, options, progress).run();
}

nlohmann::ordered_json toJson(const TrainSummary &summary) {
  using nlohmann::ordered_json;
  const auto orNull = [](const std::optional<double> &value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  return {{"steps", summary.steps},
          {"loss", orNull(summary.loss)},
          {"valid_loss", orNull(summary.validationLoss)},
          {"tokens_per_second", orNull(summary.tokensPerSecond)},
          {"planned_bytes", summary.plannedBytes},
          {"parameters", summary.parameters},
          {"stopped", summary.stopped}};
}

} // namespace isobath::runtime
