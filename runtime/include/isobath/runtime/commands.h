//===- commands.h - The verbs of the command line -------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs that the `isobath` tool and stand-alone training binaries share:
// train, eval, grad, routes, init, info. They differ only in where the program
// comes from. Verbs that need the compiler are the tool's.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_COMMANDS_H
#define ISOBATH_RUNTIME_COMMANDS_H

#include "isobath/runtime/unit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace isobath::runtime {

/// What a verb needs of a program.
struct ProgramRequest {
  std::vector<std::string> entries = {};
  bool everyEntry = false;                 // all that the program can have
  std::optional<std::uint64_t> batch = {}; // sequences B of the entries
  std::vector<std::string> overrides = {}; // KEY=VALUE of --set, in order
  std::optional<std::uint64_t> seed = {};  // of train.seed
};

/// Where a command gets its program: the compiler inside `isobath`, or the unit
/// that is linked into a training binary.
class ProgramSource {
public:
  virtual ~ProgramSource();
  /// Adds what says which program: the MODEL argument, --device, …
  virtual void addOptions(CLI::App &command) = 0;
  /// The program of the options that were parsed. It has the entries of the
  /// request, and its manifest holds the overrides and the seed. Throws Error
  /// when that cannot be had.
  virtual std::shared_ptr<Unit> load(const ProgramRequest &request) = 0;
};

/// The unit of a training binary. It has no options of its own.
class LinkedProgramSource : public ProgramSource {
public:
  /// `unit` lives as long as the program.
  explicit LinkedProgramSource(const IsobathUnit *unit) : unit(unit) {}
  void addOptions(CLI::App &command) override;
  /// Overrides are limited to what the runtime reads from the manifest.
  std::shared_ptr<Unit> load(const ProgramRequest &request) override;

private:
  const IsobathUnit *unit;
};

/// Adds the verbs. `source` outlives the application.
void addModelCommands(CLI::App &application, ProgramSource &source);

/// Adds the verb `bench`, to which others may add, and returns it.
CLI::App &addBenchCommand(CLI::App &application, ProgramSource &source);

/// Adds the verb `prepare`.
void addPrepareCommand(CLI::App &application);

/// Parses the arguments and runs the verb in them. Returns the exit status: 0
/// done, 1 the input or the run failed, 2 wrong usage; each failure prints one
/// line `error: …` on standard error. A signal that ends the process gives 130
/// or 143.
int runApplication(CLI::App &application, int argc, const char *const *argv);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_COMMANDS_H
