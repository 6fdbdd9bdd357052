//===- ProgressTest.cpp - What a user sees while a run goes on ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of the bar, and silence where there is no terminal.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/progress.h"

#include <gtest/gtest.h>
#include <limits>
#include <sstream>

using namespace isobath::runtime;

TEST(Progress, BarShowsStepLossSpeedAndTimeLeft) {
  EXPECT_EQ(formatProgress({50, 200, 2.34567, 81234.4, 3723}),
            "[######------------------] 50/200  loss 2.3457  81234 tokens/s  "
            "1:02:03 left");
  EXPECT_EQ(formatProgress({200, 200, 1, 10, 0}),
            "[########################] 200/200  loss 1.0000  10 tokens/s  "
            "0:00 left");
  EXPECT_EQ(formatProgress({0, 0, 0, 0, 0}),
            "[------------------------] 0/0  loss 0.0000");
}

TEST(Progress, Durations) {
  EXPECT_EQ(formatDuration(0), "0:00");
  EXPECT_EQ(formatDuration(59.6), "1:00");
  EXPECT_EQ(formatDuration(3599), "59:59");
  EXPECT_EQ(formatDuration(3600), "1:00:00");
  EXPECT_EQ(formatDuration(-1), "0:00");
  EXPECT_EQ(formatDuration(std::numeric_limits<double>::infinity()),
            formatDuration(1e9));
}

TEST(Progress, Bytes) {
  EXPECT_EQ(formatBytes(1023), "1023 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(std::uint64_t(3) << 30), "3.0 GiB");
  EXPECT_EQ(formatBytes(~std::uint64_t(0)), "16.0 EiB");
}

TEST(Progress, WithoutATerminalOnlyMessagesArePrinted) {
  std::ostringstream output;
  {
    Progress progress(output, false);
    progress.update({1, 2, 3, 4, 5});
    progress.message("step 1: saved");
  }
  EXPECT_EQ(output.str(), "step 1: saved\n");
}

TEST(Progress, OnATerminalMessagesReplaceTheBar) {
  std::ostringstream output;
  {
    Progress progress(output, true);
    progress.update({1, 2, 3, 0, 0});
    progress.message("saved");
    progress.update({2, 2, 3, 0, 0});
  }
  EXPECT_EQ(output.str(), "\r[############------------] 1/2  loss 3.0000\x1b[K"
                          "\r\x1b[Ksaved\n"
                          "\r[########################] 2/2  loss 3.0000\x1b[K"
                          "\r\x1b[K");
}
