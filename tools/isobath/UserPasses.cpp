//===- UserPasses.cpp - Passes that a user adds to the compiler's ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UserPasses.h"
#include "isobath/Driver/Dialects.h"
#include "isobath/runtime/error.h"
#include "isobath/runtime/files.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace isobath;

/// Stage and pipeline, or nothing if `text` is no such pair.
static std::optional<std::pair<llvm::StringRef, llvm::StringRef>>
parsePasses(llvm::StringRef text) {
  auto [stage, pipeline] = text.split('=');
  if ((stage != "model" && stage != "step") || pipeline.empty())
    return std::nullopt;
  return std::make_pair(stage, pipeline);
}

void UserPasses::addOptions(CLI::App &command) {
  CLI::Option *pipelines =
      command
          .add_option("--passes", passes,
                      "More passes: model=PIPELINE runs them on the model, "
                      "before its derivative is taken; step=PIPELINE on the "
                      "entries, before their routes are batched")
          ->check([](const std::string &text) {
            return parsePasses(text)
                       ? std::string()
                       : "given " + text +
                             ", expected model=PIPELINE or step=PIPELINE";
          })
          ->allow_extra_args(false)
          ->type_name("STAGE=PIPELINE");
  command
      .add_option("--load-pass-plugin", plugins,
                  "A shared library with passes that --passes may name")
      ->needs(pipelines)
      ->allow_extra_args(false)
      ->type_name("FILE");
}

/// Makes all passes known by name, once in a process.
static void registerAll(const std::vector<std::string> &plugins) {
  static bool isDone = false;
  if (isDone)
    return;
  registerPasses();
  for (const std::string &path : plugins) {
    llvm::Expected<mlir::PassPlugin> plugin = mlir::PassPlugin::load(path);
    if (!plugin)
      throw runtime::Error("--load-pass-plugin: " +
                           llvm::toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
  }
  isDone = true;
}

std::vector<std::string> UserPasses::after(llvm::StringRef stage) const {
  std::vector<std::string> pipelines;
  for (const std::string &text : passes)
    if (auto [where, pipeline] = *parsePasses(text); where == stage)
      pipelines.push_back(pipeline.str());
  if (!pipelines.empty())
    registerAll(plugins);
  return pipelines;
}

std::vector<std::string> UserPasses::readPlugins() const {
  std::vector<std::string> contents;
  for (const std::string &path : plugins)
    contents.push_back(runtime::readFile(path));
  return contents;
}

void isobath::addPasses(mlir::OpPassManager &manager,
                        llvm::StringRef pipeline) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (mlir::succeeded(mlir::parsePassPipeline(pipeline, manager, stream)))
    return;
  // The parser shows the place below its message.
  llvm::StringRef reason = llvm::StringRef(message).split('\n').first;
  throw runtime::Error("--passes: given " + pipeline.str() + ", in which " +
                       reason.rsplit("error: ").second.str());
}
