//===- MetricsTest.cpp - The file metrics.jsonl of a run ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines written, cut and read back.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/metrics.h"

#include "TestFiles.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace isobath::runtime;
using namespace isobath::runtime::test;

static constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Metrics, LinesHaveTheDocumentedForm) {
  TemporaryFolder folder;
  MetricsFile file(folder / "m", 0);
  file.append({1, 2.5, 0.001, 0.5, 64, 0.12345});
  file.appendEvaluation(1, 1.5);
  file.append({2, infinity, 0.001, 0.5, 128, 1});
  file.appendEvaluation(2, std::nan(""));
  EXPECT_EQ(file.lines(), 4u);
  EXPECT_EQ(getFile(folder / "m"),
            "{\"step\":1,\"loss\":2.5,\"lr\":0.001,\"grad_norm\":0.5,"
            "\"tokens\":64,\"seconds\":0.123}\n"
            "{\"step\":1,\"valid_loss\":1.5}\n"
            "{\"step\":2,\"loss\":null,\"lr\":0.001,\"grad_norm\":0.5,"
            "\"tokens\":128,\"seconds\":1.0}\n"
            "{\"step\":2,\"valid_loss\":null}\n");
}

TEST(Metrics, NumbersReadBackToTheSameBits) {
  TemporaryFolder folder;
  MetricsFile file(folder / "m", 0);
  const double values[] = {0.1,    1.0 / 3, 2.0794415416798357,
                           1e-300, 5e-324,  std::nextafter(1.0, 2.0)};
  for (const double value : values) {
    file.append({1, value, value, value, 1, 0});
    const std::string text = getFile(folder / "m");
    const std::size_t start = text.rfind('\n', text.size() - 2);
    const auto line = nlohmann::json::parse(
        text.substr(start == std::string::npos ? 0 : start + 1));
    EXPECT_EQ(line["loss"].get<double>(), value);
    EXPECT_EQ(line["lr"].get<double>(), value);
    EXPECT_EQ(line["grad_norm"].get<double>(), value);
  }
}

TEST(Metrics, AreCutBehindTheLinesThatStay) {
  TemporaryFolder folder;
  {
    MetricsFile file(folder / "m", 0);
    file.append({1, 3, 0.1, 1, 8, 1.5});
    file.append({2, 2, 0.1, 1, 16, 2.5});
    file.appendEvaluation(2, 1.25);
    file.append({3, 1, 0.1, 1, 24, 3.5});
  }
  const std::string whole = getFile(folder / "m");
  putFile(folder / "m", whole + "{\"step\":4,\"lo");
  {
    MetricsFile file(folder / "m", 3);
    EXPECT_EQ(file.lines(), 3u);
    EXPECT_EQ(file.lastStep()->step, 2u);
    EXPECT_EQ(file.lastStep()->loss, 2);
    EXPECT_EQ(file.lastStep()->tokens, 16u);
    EXPECT_EQ(file.lastStep()->seconds, 2.5);
    EXPECT_EQ(file.lastEvaluation(), 1.25);
    file.append({3, 1, 0.1, 1, 24, 3.5});
    EXPECT_FALSE(file.lastEvaluation());
  }
  EXPECT_EQ(getFile(folder / "m"), whole);
}

TEST(Metrics, NullReadsBackAsNotANumber) {
  TemporaryFolder folder;
  putFile(folder / "m",
          "{\"step\":1,\"loss\":null,\"lr\":0.1,\"grad_norm\":1.0,"
          "\"tokens\":8,\"seconds\":1.0}\n{\"step\":1,\"valid_loss\":null}\n");
  const MetricsFile file(folder / "m", 2);
  EXPECT_TRUE(std::isnan(file.lastStep()->loss));
  EXPECT_TRUE(std::isnan(file.lastEvaluation().value()));
}

TEST(Metrics, DamagedLinesAreNamed) {
  TemporaryFolder folder;
  putFile(folder / "m", "{\"step\":1,\"valid_loss\":1}\n{\"step\":2}\n");
  EXPECT_EQ(messageOf([&] { MetricsFile file(folder / "m", 2); }),
            (folder / "m").string() +
                ": line 2.loss: given nothing, expected a value");
  EXPECT_EQ(messageOf([&] { MetricsFile file(folder / "m", 3); }),
            (folder / "m").string() +
                ": line 2.loss: given nothing, expected a value");
}
