//===- progress.h - What a user sees while a run goes on ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bar that is drawn over and over on a terminal, and messages of one line
// that go anywhere. Nothing that a program should parse is printed here.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_PROGRESS_H
#define ISOBATH_RUNTIME_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace isobath::runtime {

/// How far a run is.
struct ProgressState {
  std::uint64_t step = 0;
  std::uint64_t steps = 0;
  double loss = 0;
  double tokensPerSecond = 0; // 0: not known yet
  double secondsLeft = 0;
};

class Progress {
public:
  /// The bar is drawn only if `terminal`.
  Progress(std::ostream &output, bool terminal)
      : output(output), terminal(terminal) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// Takes the bar away.
  ~Progress();

  /// Draws the bar, at most ten times a second and at the last step.
  void update(const ProgressState &state);
  /// Prints a line, above the bar if there is one.
  void message(std::string_view line);

private:
  void erase();

  std::ostream &output;
  bool terminal;
  bool drawn = false;
  std::chrono::steady_clock::time_point lastDrawn;
};

/// Whether standard error is a terminal.
bool standardErrorIsTerminal();

/// The bar with its numbers, without line ends.
std::string formatProgress(const ProgressState &state);

/// "1:02:03" or "2:03".
std::string formatDuration(double seconds);

/// "512 bytes", "12.3 KiB", "4.0 GiB".
std::string formatBytes(std::uint64_t bytes);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_PROGRESS_H
