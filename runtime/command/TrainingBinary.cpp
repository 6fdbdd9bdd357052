//===- TrainingBinary.cpp - The main program of a training binary ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library of its own, so that only programs that want this main() get it. The
// compiler links it with the object of a model, which exports the unit.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/abi.h"
#include "isobath/runtime/commands.h"

#include <CLI/CLI.hpp>

extern "C" const IsobathUnit isobath_unit; // ISOBATH_UNIT_SYMBOL

int main(int argc, char **argv) {
  CLI::App application("Trains and examines the model that is compiled into "
                       "this program");
  isobath::runtime::LinkedProgramSource source(&isobath_unit);
  isobath::runtime::addModelCommands(application, source);
  return isobath::runtime::runApplication(application, argc, argv);
}
