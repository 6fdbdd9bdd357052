//===- PrepareCommand.cpp - The verb prepare ------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options in, a summary of the shards out; the work is prepare.h's.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "isobath/runtime/error.h"
#include "isobath/runtime/prepare.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace isobath::runtime {

namespace {
struct PrepareCommand {
  std::vector<std::string> texts, validTexts;
  std::string output;
  PrepareOptions options;
  bool json = false;
};
} // namespace

static nlohmann::ordered_json toJson(const std::vector<PreparedShard> &shards) {
  auto list = nlohmann::ordered_json::array();
  for (const PreparedShard &shard : shards)
    list.push_back({{"path", shard.path.string()}, {"ids", shard.ids}});
  return list;
}

static void printShards(const std::vector<PreparedShard> &shards) {
  for (const PreparedShard &shard : shards)
    std::cout << printable(shard.path) << ": " << shard.ids << " ids\n";
}

static void runPrepare(const PrepareCommand &command) {
  PrepareOptions options = command.options;
  options.texts.assign(command.texts.begin(), command.texts.end());
  options.validTexts.assign(command.validTexts.begin(),
                            command.validTexts.end());
  options.output = command.output;
  const PrepareSummary summary = prepare(options);
  if (command.json) {
    printJson({{"train", toJson(summary.train)},
               {"valid", toJson(summary.valid)},
               {"vocabulary", summary.vocabulary}});
    return;
  }
  printShards(summary.train);
  printShards(summary.valid);
  std::cout << "vocabulary " << summary.vocabulary << '\n';
}

void addPrepareCommand(CLI::App &application) {
  auto options = std::make_shared<PrepareCommand>();
  CLI::App *command = application.add_subcommand(
      "prepare", "Turn text files into a folder of token shards");
  command->add_option("TEXT", options->texts, "Text files, joined in order")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", options->output,
                   "Folder for train_*.bin, valid_*.bin and tokenizer.json")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--valid", options->validTexts,
                   "Text files for validation, instead of the end of TEXT")
      ->type_name("TEXT");
  command
      ->add_option("--tokenizer", options->options.tokenizer,
                   "How text becomes ids: bytes")
      ->capture_default_str()
      ->type_name("NAME");
  command
      ->add_option("--valid-fraction", options->options.validFraction,
                   "Share of the ids, at the end of TEXT, that validates")
      ->capture_default_str()
      ->type_name("X");
  command
      ->add_option("--ids-per-shard", options->options.idsPerShard,
                   "The most ids in one file")
      ->capture_default_str()
      ->type_name("N");
  addJsonFlag(*command, options->json);
  command->callback([options] { runPrepare(*options); });
}

} // namespace isobath::runtime
