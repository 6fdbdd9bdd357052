//===- Progress.cpp - What a user sees while a run goes on ----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bar needs a carriage return and one escape sequence (erase to the end of
// the line), which every terminal of the last decades knows.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace isobath::runtime {

bool standardErrorIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

std::string formatDuration(double seconds) {
  constexpr double longest = 1e9; // thirty years; also stands for infinity
  const auto whole =
      static_cast<std::uint64_t>(std::round(std::clamp(seconds, 0.0, longest)));
  char text[40];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%llu:%02u:%02u",
                  static_cast<unsigned long long>(whole / 3600),
                  static_cast<unsigned>(whole / 60 % 60),
                  static_cast<unsigned>(whole % 60));
  else
    std::snprintf(text, sizeof text, "%u:%02u",
                  static_cast<unsigned>(whole / 60),
                  static_cast<unsigned>(whole % 60));
  return text;
}

std::string formatBytes(std::uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[40];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string formatProgress(const ProgressState &state) {
  constexpr std::uint64_t width = 24;
  const std::uint64_t steps = std::max<std::uint64_t>(state.steps, 1);
  const std::uint64_t step = std::min(state.step, steps);
  const auto full = static_cast<std::size_t>(
      static_cast<double>(step) / static_cast<double>(steps) * width);
  const std::string bar =
      std::string(full, '#') + std::string(width - full, '-');
  char text[160];
  std::snprintf(text, sizeof text, "[%s] %llu/%llu  loss %.4f", bar.c_str(),
                static_cast<unsigned long long>(state.step),
                static_cast<unsigned long long>(state.steps), state.loss);
  std::string line = text;
  if (state.tokensPerSecond > 0) {
    std::snprintf(text, sizeof text, "  %.0f tokens/s  %s left",
                  state.tokensPerSecond,
                  formatDuration(state.secondsLeft).c_str());
    line += text;
  }
  return line;
}

Progress::~Progress() {
  if (drawn)
    erase();
}

void Progress::erase() {
  output << "\r\x1b[K" << std::flush;
  drawn = false;
}

void Progress::update(const ProgressState &state) {
  if (!terminal)
    return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn && state.step < state.steps &&
      now - lastDrawn < std::chrono::milliseconds(100))
    return;
  output << '\r' << formatProgress(state) << "\x1b[K" << std::flush;
  drawn = true;
  lastDrawn = now;
}

void Progress::message(std::string_view line) {
  if (drawn)
    erase();
  output << line << std::endl;
}

} // namespace isobath::runtime
