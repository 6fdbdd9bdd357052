//===- LinkedProgram.cpp - The program of a training binary ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing can be compiled here, so a request is met or refused.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/commands.h"

#include "isobath/runtime/cpu_library.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/option_checks.h"

namespace isobath::runtime {

ProgramSource::~ProgramSource() = default;

void LinkedProgramSource::addOptions(CLI::App &command) {
  command
      .add_option_function<int>(
          "--threads", setThreads,
          "Threads, at most as many as there are processors unless given")
      ->check(wholeNumber(1, 4096))
      ->type_name("N");
}

std::shared_ptr<Unit> LinkedProgramSource::load(const ProgramRequest &request) {
  auto program = std::make_shared<Unit>(unit);
  for (const std::string &name : request.entries) {
    const std::uint64_t batch = program->entry(name).signature().batch;
    if (request.batch && batch != 0 && batch != *request.batch)
      fail("--batch: given ", *request.batch, ", expected ", batch,
           ", for which this program was compiled");
  }
  TrainSettings settings =
      applyOverrides(program->manifest().train, request.overrides);
  if (request.seed)
    settings.seed = *request.seed;
  program->setTrainSettings(settings);
  return program;
}

} // namespace isobath::runtime
