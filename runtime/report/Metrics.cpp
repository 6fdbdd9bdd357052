//===- Metrics.cpp - The file metrics.jsonl of a run ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file grows line by line, so it is no atomic file: a kill may leave half a
// line, which the next run cuts off. A checkpoint remembers how many lines it
// stands behind rather than how many bytes, because the bytes depend on how the
// times are printed.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/metrics.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "isobath/runtime/json_value.h"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

using nlohmann::ordered_json;

namespace isobath::runtime {

MetricsFile::MetricsFile(const std::filesystem::path &path, std::uint64_t lines)
    : path(path) {
  const std::string text =
      std::filesystem::exists(path) ? readFile(path) : std::string();
  std::size_t end = 0;
  while (count < lines) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string::npos)
      fail(printable(path), ": given ", count, " lines, expected at least the ",
           lines, " lines before the checkpoint");
    read(std::string_view(text).substr(end, newline - end), count + 1);
    end = newline + 1;
    ++count;
  }
  openCut(end);
}

void MetricsFile::openCut(std::uint64_t bytes) {
  const int opened =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (opened < 0)
    failSystemCall(path, "open", errno);
  if (::ftruncate(opened, static_cast<off_t>(bytes)) != 0) {
    const int number = errno;
    ::close(opened);
    failSystemCall(path, "cut", number);
  }
  descriptor = opened;
}

MetricsFile::~MetricsFile() { ::close(descriptor); }

void MetricsFile::read(std::string_view line, std::uint64_t number) {
  const std::string where = concat(printable(path), ": line ", number);
  const ordered_json object = parseJson(line, where);
  const JsonValue value(object, where);
  const std::uint64_t step = value["step"].count(0);
  // A number that was not finite was printed as null.
  const auto numberOrNaN = [&](const char *key) {
    return value.has(key) && object[key].is_null() ? std::nan("")
                                                   : value[key].number();
  };
  if (value.has("valid_loss")) {
    evaluatedStep = step;
    evaluation = numberOrNaN("valid_loss");
    return;
  }
  last = StepMetrics{step,
                     numberOrNaN("loss"),
                     value["lr"].number(),
                     value["grad_norm"].number(),
                     value["tokens"].count(0),
                     value["seconds"].number(0)};
}

void MetricsFile::write(const ordered_json &line) {
  const std::string text = line.dump() + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t put = ::write(descriptor, rest.data(), rest.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      failSystemCall(path, "write", errno);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  ++count;
}

void MetricsFile::append(const StepMetrics &metrics) {
  // Milliseconds are enough to read, and keep the line short.
  const double seconds = std::round(metrics.seconds * 1000) / 1000;
  write({{"step", metrics.step},
         {"loss", metrics.loss},
         {"lr", metrics.learningRate},
         {"grad_norm", metrics.gradientNorm},
         {"tokens", metrics.tokens},
         {"seconds", seconds}});
  last = metrics;
}

void MetricsFile::appendEvaluation(std::uint64_t step, double validationLoss) {
  write({{"step", step}, {"valid_loss", validationLoss}});
  evaluatedStep = step;
  evaluation = validationLoss;
}

std::optional<double> MetricsFile::lastEvaluation() const {
  if (last && evaluatedStep == last->step)
    return evaluation;
  return std::nullopt;
}

void MetricsFile::sync() {
  if (::fsync(descriptor) != 0)
    failSystemCall(path, "sync", errno);
}

} // namespace isobath::runtime
